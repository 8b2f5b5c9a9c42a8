/**
 * Response bodies as gzip where the client takes it. In: the final bytes and Accept-Encoding. Out: the bytes to send and
 * the header that says so. The fastest level already makes a page of resources a tenth to a twentieth of its size, and
 * bytes at once cost a third of what a stream costs. RFC 9110 section 12.5.3
 */
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';

const compress = promisify(gzip);

/** Bytes below which gzip does not pay. */
const LEAST = 1024;

export interface EncodedBody {
  readonly body: Buffer<ArrayBuffer>;
  readonly encoding: { readonly 'Content-Encoding'?: string };
}

export async function encodeBody(body: Buffer<ArrayBuffer>, acceptEncoding: string | undefined): Promise<EncodedBody> {
  if (body.byteLength < LEAST || !takesGzip(acceptEncoding)) return { body, encoding: {} };
  const zipped = await compress(body, { level: constants.Z_BEST_SPEED });
  return { body: zipped as Buffer<ArrayBuffer>, encoding: { 'Content-Encoding': 'gzip' } };
}

/** True if Accept-Encoding allows gzip. */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  const codings = parseAccept(acceptEncoding ?? '');
  const own = codings.find(({ type }) => type.toLowerCase() === 'gzip') ?? codings.find(({ type }) => type === '*');
  return own !== undefined && own.q > 0;
}
