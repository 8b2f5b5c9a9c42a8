/**
 * A header of a request, from Node's own where there is a connection: the framework makes an object of them all first, which
 * takes longer than all else that is done with them.
 */
import type { HttpContext } from '../context.ts';

/** Values of a header that was sent several times are joined with commas. `name` in small letters. */
export function headerOf(c: HttpContext, name: string): string | undefined {
  const incoming = c.env?.incoming;
  if (incoming === undefined) return c.req.header(name);
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
