/**
 * Sends documents. In: a document and what the client accepts. Out: XML or a page, compressed if the client accepts
 * it; a large one as a stream, at the speed of the client.
 * RFC 9110 section 12
 */
import { pipeline, Readable } from 'node:stream';
import { parseAccept } from 'hono/utils/accept';
import { type Document, documentXml } from '../../ccda/document.ts';
import { documentPage, PAGE_POLICY, type PageLinks } from '../../ccda/page.ts';
import { XML_POLICY } from '../../ccda/stylesheet.ts';
import { inBuffers } from '../../ccda/texts.ts';
import type { AppParts, HttpContext } from '../context.ts';
import { codingOf, codingStream, encodeBody } from '../middleware/compress.ts';
import { wantsPage } from '../middleware/negotiate.ts';
import { streamed } from '../middleware/streamed.ts';
import { RestError } from './errors.ts';

export type DocumentFormat = 'application/xml' | 'text/xml' | 'text/html';

/** Formats by preference, for clients that accept several equally. */
const FORMATS: readonly DocumentFormat[] = ['application/xml', 'text/xml', 'text/html'];
/** Other media types of these formats. */
const ALIASES: ReadonlyMap<string, DocumentFormat> = new Map([
  ['application/hl7-v3+xml', 'application/xml'],
  ['application/cda+xml', 'application/xml'],
  ['application/xhtml+xml', 'text/html'],
]);

/** Values of `_format`, as in the FHIR interface. */
const NAMES: ReadonlyMap<string, DocumentFormat> = new Map([
  ['xml', 'application/xml'],
  ['html', 'text/html'],
]);

/**
 * Chooses the format. `format`: the parameter `_format`, which overrides Accept. Throws RestError if the client accepts
 * neither XML nor HTML.
 */
export function documentFormat(accept: string | undefined, format?: string): DocumentFormat {
  if (format !== undefined) {
    const asked = NAMES.get(format) ?? FORMATS.find(one => one === format);
    if (asked === undefined) throw new RestError('not-acceptable', '_format: expected xml or html');
    return asked;
  }
  const ranges = parseAccept(accept ?? '').map(({ type, q }) => ({ range: type.toLowerCase(), q }));
  if (ranges.length === 0) return 'application/xml';
  const named = ranges
    .map(({ range, q }) => ({ format: FORMATS.find(one => one === range) ?? ALIASES.get(range), q }))
    .filter(one => one.format !== undefined && one.q > 0 && (one.format !== 'text/html' || wantsPage(accept)))
    .toSorted((a, b) => b.q - a.q)[0]?.format;
  if (named !== undefined) return named;
  const refused = new Set(ranges.filter(({ q }) => q === 0).map(({ range }) => range));
  const wide = ranges.some(({ range, q }) => q > 0 && (range === '*/*' || range === '*' || range === 'application/*'));
  if (wide && !refused.has('application/xml')) return 'application/xml';
  if (ranges.some(({ range, q }) => q > 0 && range === 'text/*') && !refused.has('text/xml')) return 'text/xml';
  throw new RestError('not-acceptable', `Accept: this is answered as ${FORMATS.join(', ')}`);
}

/** Documents of up to so many bytes are sent at once, with their length; longer ones in pieces. */
const AT_ONCE = 1024 * 1024;
/** Bytes of a piece. */
const PIECE = 64 * 1024;

/**
 * Sends a document. All its data has been read before, so only a fault of this server can interrupt it; the client then
 * notices the missing last chunk.
 */
export async function respondWithDocument(
  c: HttpContext,
  document: Document,
  { format, links }: { readonly format: DocumentFormat; readonly links: PageLinks },
  { log }: Pick<AppParts, 'log'>,
): Promise<Response> {
  const pieces = inBuffers(format === 'text/html' ? documentPage(document, links) : documentXml(document), PIECE);
  const begun: Buffer<ArrayBuffer>[] = [];
  let bytes = 0;
  let ended = false;
  while (bytes < AT_ONCE && !ended) {
    const { value, done } = pieces.next();
    if (done === true) ended = true;
    else bytes += value.byteLength;
    if (value !== undefined) begun.push(value);
  }
  const headers = headersOf(format);
  const accepted = c.req.header('accept-encoding');
  c.header('Vary', 'Accept-Encoding', { append: true });
  if (ended) {
    const { body, encoding } = await encodeBody(Buffer.concat(begun), format, accepted);
    return c.body(body, 200, { ...headers, 'Content-Length': String(body.byteLength), ...encoding });
  }
  const coding = codingOf(accepted);
  const encoding = coding === undefined ? {} : { 'Content-Encoding': coding };
  if (c.req.method === 'HEAD') return c.body(null, 200, { ...headers, ...encoding });
  const plain = Readable.from(following(begun, pieces), { objectMode: false });
  // `pipeline` passes an error on to the last stream, whose reader logs it.
  const sent = coding === undefined ? plain : pipeline(plain, codingStream(coding), () => {});
  return c.body(streamed(c, sent, log), 200, { ...headers, ...encoding });
}

/** Yields the pieces taken so far, releasing each as it is sent, then the others. */
function* following(begun: Buffer[], pieces: Iterable<Buffer>): Generator<Buffer> {
  for (let piece = begun.shift(); piece !== undefined; piece = begun.shift()) yield piece;
  yield* pieces;
}

function headersOf(format: DocumentFormat): Readonly<Record<string, string>> {
  const type = { 'Content-Type': `${format}; charset=utf-8` };
  return { ...type, 'Content-Security-Policy': format === 'text/html' ? PAGE_POLICY : XML_POLICY };
}
