/**
 * Chooses the representation. In: `_format` and Accept. Out: json, xml or html, or FhirError `not-acceptable`.
 * `_format` overrides Accept.
 * https://hl7.org/fhir/R4/http.html#mime-type, RFC 9110 section 12.5.1
 */
import { type Accept, parseAccept } from 'hono/utils/accept';
import { type BoundedCache, boundedCache } from '../../common/caches.ts';
import { FhirError } from '../../outcome.ts';
import { parameterOf } from './request.ts';

/** `html`: a page for people. */
export type Format = 'json' | 'xml' | 'html';

/**
 * The media types of each format; responses are labeled with the first. Those that end in `+fhir` predate STU3; R4
 * asks servers to accept them.
 */
const MEDIA_TYPES: Readonly<Record<Format, readonly string[]>> = {
  json: ['application/fhir+json', 'application/json', 'text/json', 'application/json+fhir'],
  xml: ['application/fhir+xml', 'application/xml', 'text/xml', 'application/xml+fhir'],
  html: ['text/html'],
};

export const CONTENT_TYPE: Readonly<Record<Format, string>> = {
  json: `${MEDIA_TYPES.json[0]}; charset=utf-8`,
  xml: `${MEDIA_TYPES.xml[0]}; charset=utf-8`,
  html: `${MEDIA_TYPES.html[0]}; charset=utf-8`,
};

/**
 * Chooses the format. Throws FhirError `not-acceptable` if the client accepts neither FHIR R4 as JSON or XML, nor HTML.
 */
export function negotiate(format: string | undefined, accept: string | undefined): Format {
  if (format !== undefined && format !== '') return byFormat(format);
  if (accept === undefined) return 'json';
  return understood.get(accept, () => ({ format: byAccept(accept) })).format;
}

/** Cached by header value: clients send only a handful. */
const understood: BoundedCache<{ readonly format: Format }> = boundedCache(200);

function byAccept(accept: string): Format {
  const ranges = parseAccept(accept);
  if (ranges.length === 0) return 'json';
  const json = preference(MEDIA_TYPES.json, ranges);
  const xml = preference(MEDIA_TYPES.xml, ranges);
  const html = preference(MEDIA_TYPES.html, ranges);
  const isAll = json.q === 0 && xml.q === 0;
  if (html.specificity === 2 && html.q > json.q && html.q > xml.q && (isAll || isBrowser(ranges))) return 'html';
  if (isAll) {
    throw new FhirError(
      'not-acceptable',
      'Accept: this server answers in application/fhir+json or application/fhir+xml',
    );
  }
  if (json.q !== xml.q) return json.q > xml.q ? 'json' : 'xml';
  return xml.specificity > json.specificity ? 'xml' : 'json';
}

/**
 * True for a browser that opens an address: it names XHTML beside HTML. Libraries that name HTML without meaning it,
 * such as Java's HttpURLConnection, do not.
 */
function isBrowser(ranges: readonly Accept[]): boolean {
  return ranges.some(({ type, q }) => q > 0 && type.toLowerCase() === 'application/xhtml+xml');
}

/**
 * True if a person waits for the answer: a browser names HTML, or HTML is all that is accepted. Libraries name it
 * beside a wildcard without meaning it.
 */
export function wantsPage(accept: string | undefined): boolean {
  const ranges = parseAccept(accept ?? '').filter(({ q }) => q > 0);
  const names = (type: string): boolean => ranges.some(one => one.type.toLowerCase() === type);
  return names('text/html') && (isBrowser(ranges) || !(names('*/*') || names('*')));
}

/** True if the client named one of FHIR's own media types, in `_format` or Accept. */
export function asksForFhir(format: string | undefined, accept: string | undefined): boolean {
  if (format !== undefined && format !== '') return !isHtml(format);
  return parseAccept(accept ?? '').some(
    ({ type, q }) => q > 0 && /^application\/(fhir\+(json|xml)|(json|xml)\+fhir)$/i.test(type),
  );
}

/** True if Accept allows this media type; without the header everything is allowed. */
export function accepts(mediaType: string, accept: string | undefined): boolean {
  const ranges = parseAccept(accept ?? '');
  return ranges.length === 0 || preference([mediaType.toLowerCase()], ranges).q > 0;
}

export function isHtml(format: string): boolean {
  return /^(?:text\/)?html$/i.test(format.trim());
}

/** Returns the FHIR format of a media type. */
export function formatOf(mediaType: string): Exclude<Format, 'html'> | undefined {
  return (['json', 'xml'] as const).find(format => MEDIA_TYPES[format].includes(mediaType));
}

function byFormat(format: string): Format {
  if (isHtml(format)) return 'html';
  // A plus sign that was not percent-encoded arrives as a space.
  const [type = '', ...parameters] = format.trim().toLowerCase().split(';');
  const name = type.trim().replace(' ', '+');
  const version = parameterOf(parameters, 'fhirversion');
  const known = name === 'json' || name === 'xml' ? name : formatOf(name);
  if (known !== undefined && isR4(version)) return known;
  throw new FhirError(
    'not-acceptable',
    '_format: this server answers in json or xml of FHIR 4.0, and in html for people',
    {
      parameter: '_format',
    },
  );
}

/**
 * Returns the best quality of some media types; each takes that of the most specific range that matches it. If the
 * first (the label of answers) is named, wildcards do not select the others.
 */
function preference(
  [label = '', ...others]: readonly string[],
  ranges: readonly Accept[],
): { q: number; specificity: number } {
  const labelled = mostSpecific(label, ranges);
  let best = labelled;
  for (const mediaType of others) {
    const own = mostSpecific(mediaType, ranges);
    if (labelled.specificity === 2 && own.specificity < 2) continue;
    if (own.q > best.q || (own.q === best.q && own.specificity > best.specificity)) best = own;
  }
  return best;
}

function mostSpecific(mediaType: string, ranges: readonly Accept[]): { q: number; specificity: number } {
  const [main] = mediaType.split('/');
  let best = { q: 0, specificity: -1 };
  for (const { type, params, q } of ranges) {
    if (!isR4(params['fhirVersion'] ?? params['fhirversion'])) continue;
    const range = type.toLowerCase();
    const specificity = range === mediaType ? 2 : range === `${main}/*` ? 1 : range === '*/*' || range === '*' ? 0 : -1;
    if (specificity > best.specificity) best = { q, specificity };
  }
  return best;
}

function isR4(version: string | undefined): boolean {
  return version === undefined || /^4\.0(\.1)?$/.test(version);
}
