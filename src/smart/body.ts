/**
 * Reads the body of a request before the provider does. In: a request. Out: its form, and a request with the same
 * form, or a longer one, for the provider.
 */
import { IncomingMessage } from 'node:http';

/** Bytes. */
const LONGEST = 64 * 1024;

/** The body as text; undefined where it is too long, or the client has gone. */
export async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).byteLength;
      if (length > LONGEST) return undefined;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function isForm({ headers }: IncomingMessage): boolean {
  return /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '');
}

/** The same request with another body, which nobody has read yet. */
export function withBody(request: IncomingMessage, body: string): IncomingMessage {
  const bytes = Buffer.from(body, 'utf8');
  const copy = new IncomingMessage(request.socket);
  const { 'transfer-encoding': _chunked, ...headers } = request.headers;
  Object.assign(copy, {
    ...{ method: request.method, url: request.url, httpVersion: request.httpVersion, complete: true },
    headers: { ...headers, 'content-length': String(bytes.byteLength) },
  });
  copy.push(bytes);
  copy.push(null);
  return copy;
}
