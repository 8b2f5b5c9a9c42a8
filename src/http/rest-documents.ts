/**
 * Documents over HTTP. In: a document and what the client accepts. Out: XML, or a page for people, compressed where the
 * client takes it. RFC 9110 section 12
 */
import { parseAccept } from 'hono/utils/accept';
import { type Document, documentXml } from '../ccda/document.ts';
import { documentPage, PAGE_STYLE_HASH } from '../ccda/page.ts';
import { encodeBody } from './compress.ts';
import type { HttpContext } from './context.ts';
import { RestError } from './rest-errors.ts';

export type DocumentFormat = 'application/xml' | 'text/xml' | 'text/html';

/** The first wins where a client likes several equally. */
const FORMATS: readonly DocumentFormat[] = ['application/xml', 'text/xml', 'text/html'];
/** Other names of the same. */
const ALIASES: Readonly<Record<string, DocumentFormat>> = {
  'application/hl7-v3+xml': 'application/xml',
  'application/cda+xml': 'application/xml',
  'application/xhtml+xml': 'text/html',
};

/** Throws RestError where the client accepts neither XML nor HTML. */
export function documentFormat(accept: string | undefined): DocumentFormat {
  const ranges = parseAccept(accept ?? '').map(({ type, q }) => ({ range: type.toLowerCase(), q }));
  if (ranges.length === 0) return 'application/xml';
  const named = ranges
    .map(({ range, q }) => ({ format: FORMATS.find(format => format === range) ?? ALIASES[range], q }))
    .filter(({ format, q }) => format !== undefined && q > 0)
    .toSorted((a, b) => b.q - a.q)[0]?.format;
  if (named !== undefined) return named;
  const refused = new Set(ranges.filter(({ q }) => q === 0).map(({ range }) => range));
  const wide = ranges.some(({ range, q }) => q > 0 && (range === '*/*' || range === '*' || range === 'application/*'));
  if (wide && !refused.has('application/xml')) return 'application/xml';
  if (ranges.some(({ range, q }) => q > 0 && range === 'text/*') && !refused.has('text/xml')) return 'text/xml';
  throw new RestError('not-acceptable', `Accept: this is answered as ${FORMATS.join(', ')}`);
}

export async function respondWithDocument(
  c: HttpContext,
  document: Document,
  format: DocumentFormat,
): Promise<Response> {
  const pieces = format === 'text/html' ? documentPage(document) : documentXml(document);
  const whole = Buffer.concat([...pieces].map(piece => Buffer.from(piece, 'utf8')));
  const { body, encoding } = await encodeBody(whole, format, c.req.header('accept-encoding'));
  c.header('Vary', 'Accept-Encoding', { append: true });
  return c.body(body, 200, {
    'Content-Type': `${format}; charset=utf-8`,
    'Content-Length': String(body.byteLength),
    ...(format === 'text/html'
      ? {
          'Content-Security-Policy': `default-src 'none'; style-src '${PAGE_STYLE_HASH}'; base-uri 'none'; form-action 'none'`,
        }
      : {}),
    ...encoding,
  });
}
