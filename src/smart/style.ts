/**
 * Makes the style that apps may adopt from the server. Out: JSON, and its path, which changes with its content.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html#styling
 */
import { hash } from 'node:crypto';

export const STYLE = {
  color_background: '#f6f5f1',
  color_error: '#a3341f',
  color_highlight: '#0b6e63',
  color_modal_backdrop: '',
  color_success: '#0b6e63',
  color_text: '#1d2b2a',
  dim_border_radius: '6px',
  dim_font_size: '16px',
  dim_spacing_size: '16px',
  font_family_body: 'system-ui, sans-serif',
  font_family_heading: 'system-ui, sans-serif',
} as const;

/** Without the version. */
export const STYLE_JSON = '/style.json';

/** Relative to the address of the authorization server. */
export const STYLE_PATH = `${STYLE_JSON}?v=${hash('sha256', JSON.stringify(STYLE), 'hex').slice(0, 8)}`;
