/**
 * Reads a header of a request from Node's own request, if there is one: the framework would first copy all headers
 * into an object, which takes longer than the rest of the work on them.
 */
import type { HttpContext } from '../context.ts';

/** Values of a header that was sent several times are joined with commas. `name` in small letters. */
export function headerOf(c: HttpContext, name: string): string | undefined {
  const incoming = c.env?.incoming;
  if (incoming === undefined) return c.req.header(name);
  const value = incoming.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}
