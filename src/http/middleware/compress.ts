/**
 * Compresses response bodies with br or gzip if the client accepts it and it saves enough. In: the final bytes, their
 * media type and Accept-Encoding. Out: the bytes to send and the header. The fastest levels shrink a page of resources
 * to a tenth or less.
 * RFC 9110 section 12.5.3
 */
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { parseAccept } from 'hono/utils/accept';
import { type BoundedCache, boundedCache } from '../../common/caches.ts';

/** Minimum bytes for which compression pays. */
const LEAST = 1024;

export type Coding = 'br' | 'gzip';

/** Compressors by coding, those preferred first. */
const CODINGS: Readonly<Record<Coding, (body: Buffer) => Promise<Buffer>>> = {
  br: body =>
    promisify(brotliCompress)(body, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: 1,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
      },
    }),
  gzip: body => promisify(gzip)(body, { level: constants.Z_BEST_SPEED }),
};

/** Other types, such as images and PDF, are compressed already. */
const WORTH_IT = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml)\b)/i;

/** Cached by header value: browsers and clients send only a handful. */
const understood: BoundedCache<{ readonly coding: Coding | undefined }> = boundedCache(200);

/** Returns the coding to send; undefined: none. */
export function codingFor(
  body: { readonly byteLength: number },
  contentType: string,
  acceptEncoding: string | undefined,
): Coding | undefined {
  return isWorthCoding(body, contentType) ? codingOf(acceptEncoding) : undefined;
}

/** True if a body is large enough and not compressed already. */
export function isWorthCoding({ byteLength }: { readonly byteLength: number }, contentType: string): boolean {
  return byteLength >= LEAST && WORTH_IT.test(contentType);
}

/** Returns the coding that a client prefers, for a body that is worth compressing. */
export function codingOf(acceptEncoding: string | undefined): Coding | undefined {
  if (acceptEncoding === undefined) return undefined;
  return understood.get(acceptEncoding, () => ({ coding: preferredCoding(acceptEncoding) })).coding;
}

/** Returns the client's best coding, unless it prefers none at all. */
function preferredCoding(acceptEncoding: string): Coding | undefined {
  const accepted = parseAccept(acceptEncoding).map(({ type, q }) => ({ name: type.toLowerCase(), q }));
  const qualityOf = (name: string): number =>
    (accepted.find(one => one.name === name) ?? accepted.find(one => one.name === '*'))?.q ?? 0;
  const [best] = (['br', 'gzip'] as const).toSorted((a, b) => qualityOf(b) - qualityOf(a));
  const plain = accepted.find(({ name }) => name === 'identity')?.q ?? 0;
  return best && qualityOf(best) > 0 && qualityOf(best) >= plain ? best : undefined;
}

export function compress(body: Buffer, coding: Coding): Promise<Buffer> {
  return CODINGS[coding](body);
}

export interface EncodedBody {
  readonly body: Buffer<ArrayBuffer>;
  readonly encoding: { readonly 'Content-Encoding'?: Coding };
}

/** Encodes a body that is sent once. */
export async function encodeBody(
  body: Buffer<ArrayBuffer>,
  contentType: string,
  acceptEncoding: string | undefined,
): Promise<EncodedBody> {
  const coding = codingFor(body, contentType, acceptEncoding);
  if (coding === undefined) return { body, encoding: {} };
  return { body: (await compress(body, coding)) as Buffer<ArrayBuffer>, encoding: { 'Content-Encoding': coding } };
}

/** Returns a stream that compresses pieces, at the same levels. */
export function codingStream(coding: Coding): Transform {
  if (coding === 'gzip') return createGzip({ level: constants.Z_BEST_SPEED });
  const quality = { [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT, [constants.BROTLI_PARAM_QUALITY]: 1 };
  return createBrotliCompress({ params: quality });
}

/** True if Accept-Encoding allows gzip. */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  const codings = parseAccept(acceptEncoding ?? '');
  const own = codings.find(({ type }) => type.toLowerCase() === 'gzip') ?? codings.find(({ type }) => type === '*');
  return own !== undefined && own.q > 0;
}
