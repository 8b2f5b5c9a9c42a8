/**
 * Makes the addresses of chart pages. In: a request, a patient's number. Out: an absolute address.
 */
import { type AppParts, type HttpContext, serverBase } from '../context.ts';

/** Below the REST interface, whose cookie is sent there and nowhere else. */
export const CHART_PATH = '/chart';

/** Of one chart; without a number, of the page that looks up patients. */
export function chartAddress(c: HttpContext, parts: AppParts, number?: string | number): string {
  return `${serverBase(c, parts)}${parts.config.apiPath}${CHART_PATH}${number === undefined ? '' : `/${number}`}`;
}
