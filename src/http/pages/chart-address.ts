/** Makes the addresses of chart pages. In: a request, and a patient's number. Out: an absolute address. */
import { type AppParts, type HttpContext, serverBase } from '../context.ts';

/** Within the REST interface, because its cookie is sent only there. */
export const CHART_PATH = '/chart';

/** Returns the address of one chart; without a number, that of the page that looks up patients. */
export function chartAddress(c: HttpContext, parts: AppParts, number?: string | number): string {
  return `${serverBase(c, parts)}${parts.config.apiPath}${CHART_PATH}${number === undefined ? '' : `/${number}`}`;
}
