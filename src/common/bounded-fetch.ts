/**
 * Fetches what others answer: metadata and keys of the hospital's issuer, keys of apps, the collector of the audit. In:
 * as `fetch`. Out: its answer, of bounded length.
 */

/** Maximum bytes of an answer. */
const LONGEST = 512 * 1024;

/** Calls `fetch`; the body fails beyond 512 kB. */
export async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.body === null) return response;
  let bytes = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > LONGEST) controller.error(new TypeError('too long an answer'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counting), { status, statusText, headers });
}
