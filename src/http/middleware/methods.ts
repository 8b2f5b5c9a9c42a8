/**
 * Answers OPTIONS with the methods of an address, and other methods with 405.
 * RFC 9110 section 15.5.6
 */

import { issueOf } from '../../outcome.ts';
import type { HttpContext } from '../context.ts';
import { respondWithOutcome } from './answer.ts';

/** `what`: subject of the message, in front of the methods. */
export function wrongMethod(allow: string, what = 'This server only reads:') {
  return async (c: HttpContext): Promise<Response> => {
    if (c.req.method === 'OPTIONS') return c.body(null, 204, { Allow: allow });
    const issue = issueOf('wrong-method', `${what} ${allow}`);
    return respondWithOutcome(c, 405, [issue], { Allow: allow });
  };
}
