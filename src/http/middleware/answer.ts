/**
 * Puts answers into their final form: made once, compressed once per coding, sent many times. In: FHIR JSON text and
 * the representation that was asked for. Out: an Answer, and its Response for one client, 304 if the client has it
 * already.
 * https://hl7.org/fhir/R4/http.html#read, RFC 9110 section 13
 */

import { hash } from 'node:crypto';
import { getOrInsert } from '../../common/caches.ts';
import type { Parameters, ResourceText } from '../../facade.ts';
import { FhirError, type Issue, operationOutcome } from '../../outcome.ts';
import { toXml } from '../../resource/xml.ts';
import type { HttpContext } from '../context.ts';
import { indentJson, indentXml } from '../fhir/pretty.ts';
import { PAGE_POLICY } from '../pages/page-frame.ts';
import { type PagePlace, resourcePage } from '../pages/resource-page.ts';
import { type Coding, codingFor, compress } from './compress.ts';
import { CONTENT_TYPE, type Format, negotiate } from './negotiate.ts';
import { headerOf, lastOf, parseParameters, queryOf } from './request.ts';

/** How the representation is written. */
export interface Representation {
  readonly format: Format;
  readonly pretty: boolean;
  /** For `html`: addresses that the page links to. */
  readonly place?: PagePlace;
}

/**
 * Chooses the representation by `_format`, `_pretty` and Accept. Throws FhirError `not-acceptable` or `wrong-value`.
 */
export function representationOf(c: HttpContext, parameters: Parameters): Representation {
  const pretty = lastOf(parameters, '_pretty');
  if (pretty !== undefined && pretty !== 'true' && pretty !== 'false') {
    throw new FhirError('wrong-value', '_pretty: expected true or false', { parameter: '_pretty' });
  }
  const format = negotiate(lastOf(parameters, '_format'), headerOf(c, 'accept'));
  const place = format === 'html' ? c.get('place')?.() : undefined;
  return { format, pretty: pretty === 'true', ...(place && { place }) };
}

/** Headers and validators of a body. */
export interface Description {
  /** Besides the content's type, length and coding. */
  readonly headers: Readonly<Record<string, string>>;
  readonly etag?: string | undefined;
  /** Seconds since the epoch. */
  readonly changed?: number | undefined;
}

export interface Answer extends Description {
  /**
   * A string until its bytes are needed: an answer that is sent once need not become a buffer, because V8 collects many
   * buffers at great cost.
   */
  readonly content: string | Buffer<ArrayBuffer>;
  /** The content as bytes, and a buffer from then on. */
  readonly body: Buffer<ArrayBuffer>;
  /** Bytes of the body. */
  readonly byteLength: number;
  readonly contentType: string;
  /** Bytes of the body and of its compressed forms so far. */
  readonly bytes: number;
  /** Logical ids of the patients whose data it holds; for the audit, which records them at each sending. */
  patients: readonly string[];
  /** Returns the body in a coding, made at the first call; `onGrown` is called when it is ready. */
  encoded(coding: Coding, onGrown?: () => void): Promise<Buffer<ArrayBuffer>>;
  /** Returns the same if it has been made, without waiting. */
  made(coding: Coding): Buffer<ArrayBuffer> | undefined;
}

/** Forms of fewer bytes are kept as a string too (src/http/server/cache-hits.ts). */
export const SMALL = 8192;

const NOTHING_MORE: Description = { headers: {} };
const NOBODY: readonly string[] = [];

type Written = Exclude<Format, 'html'>;
const WRITERS: Readonly<Record<Written, readonly [write: (json: string) => string, indent: (text: string) => string]>> =
  {
    json: [json => json, indentJson],
    xml: [toXml, indentXml],
  };

export function answerOf(json: string, { format, pretty, place }: Representation, description = NOTHING_MORE): Answer {
  if (format === 'html') return answerOfPage(json, place, description);
  const [write, indent] = WRITERS[format];
  const written = write(json);
  const text = pretty ? indent(written) : written;
  return answerWith(text, CONTENT_TYPE[format], description);
}

function answerOfPage(json: string, place: PagePlace = NOWHERE, { headers, ...rest }: Description): Answer {
  const own = { ...headers, 'Content-Security-Policy': PAGE_POLICY };
  return answerWith(resourcePage(json, place), CONTENT_TYPE.html, { ...rest, headers: own });
}

/** Place of an answer within another one; it has no links. */
const NOWHERE: PagePlace = { base: '', self: 'http://localhost/', explain: undefined };

/** Returns a version that depends on the content of a resource. */
export function versionOf({ json }: ResourceText): string {
  return hash('sha256', json, 'base64url').slice(0, 22);
}

/** Returns the answer to a read, with validators. */
export function answerOfResource(resource: ResourceText, representation: Representation): Answer {
  const etag = `W/"${versionOf(resource)}"`;
  const changed = resource.lastUpdated === undefined ? Number.NaN : Date.parse(resource.lastUpdated);
  if (Number.isNaN(changed)) return answerOf(resource.json, representation, { etag, headers: { ETag: etag } });
  const seconds = Math.floor(changed / 1000);
  const headers = { ETag: etag, 'Last-Modified': new Date(seconds * 1000).toUTCString() };
  return answerOf(resource.json, representation, { etag, changed: seconds, headers });
}

/** Returns an answer with text, or with bytes that are not FHIR JSON or XML. */
export function answerWith(
  content: string | Buffer<ArrayBuffer>,
  contentType: string,
  description = NOTHING_MORE,
): Answer {
  return new HeldAnswer(content, contentType, description);
}

/** A class, not an object literal with getters: V8 makes a hidden class for each of those. */
class HeldAnswer implements Answer {
  readonly headers: Description['headers'];
  readonly etag: string | undefined;
  readonly changed: number | undefined;
  readonly contentType: string;
  readonly byteLength: number;
  patients: readonly string[] = NOBODY;
  #content: Answer['content'];
  #forms: Map<Coding, Promise<Buffer<ArrayBuffer>>> | undefined;
  #finished: Map<Coding, Buffer<ArrayBuffer>> | undefined;

  constructor(content: Answer['content'], contentType: string, { headers, etag, changed }: Description) {
    this.headers = headers;
    this.etag = etag;
    this.changed = changed;
    this.contentType = contentType;
    this.byteLength = typeof content === 'string' ? Buffer.byteLength(content, 'utf8') : content.byteLength;
    this.#content = content;
  }

  get content(): Answer['content'] {
    return this.#content;
  }

  get body(): Buffer<ArrayBuffer> {
    if (typeof this.#content === 'string') this.#content = Buffer.from(this.#content, 'utf8');
    return this.#content;
  }

  get bytes(): number {
    const forms = this.#finished?.values() ?? [];
    return Iterator.from(forms).reduce(
      (sum, form) => sum + weightOf(form),
      weightOf(this) + this.patients.length * ID_BYTES,
    );
  }

  encoded(coding: Coding, onGrown: () => void = () => {}): Promise<Buffer<ArrayBuffer>> {
    this.#forms ??= new Map();
    return getOrInsert(this.#forms, coding, () => this.#encode(coding, onGrown));
  }

  async #encode(coding: Coding, onGrown: () => void): Promise<Buffer<ArrayBuffer>> {
    const form = (await compress(this.body, coding)) as Buffer<ArrayBuffer>;
    this.#finished ??= new Map();
    this.#finished.set(coding, form);
    onGrown();
    return form;
  }

  made(coding: Coding): Buffer<ArrayBuffer> | undefined {
    return this.#finished?.get(coding);
  }
}

/** Approximate bytes of the logical id of a patient. */
const ID_BYTES = 32;

function weightOf({ byteLength }: Pick<Buffer, 'byteLength'>): number {
  return byteLength < SMALL ? 2 * byteLength : byteLength;
}

/** How an answer is sent. */
export interface Sending {
  /** Default: 200. */
  readonly status?: 200 | 400;
  /** RFC 9211 */
  readonly cacheStatus?: string | undefined;
  /** Called when the answer has been compressed for the first time in a coding. */
  readonly onGrown?: () => void;
}

/** Sends the answer to one client, or 304 if the client has this version. */
export async function sendAnswer(
  c: HttpContext,
  answer: Answer,
  { status = 200, cacheStatus, onGrown }: Sending = {},
): Promise<Response> {
  const same = {
    ...(cacheStatus !== undefined && { 'Cache-Status': cacheStatus }),
    ...{ Vary: 'Accept-Encoding', ...answer.headers },
  };
  if (isUnchanged(c, answer)) return responseOf(null, 304, same);
  const { contentType } = answer;
  const coding = codingFor(answer, contentType, headerOf(c, 'accept-encoding'));
  const encoded = coding === undefined ? undefined : await answer.encoded(coding, onGrown);
  // A cached answer is sent again, as bytes.
  const plain = c.get('answer') === undefined ? answer.content : answer.body;
  return responseOf(encoded ?? plain, status, {
    'Content-Type': contentType,
    'Content-Length': String((encoded ?? answer).byteLength),
    ...(coding !== undefined && { 'Content-Encoding': coding }),
    ...same,
  });
}

/** Sends a resource, with 200 or another status. */
export async function respond(
  c: HttpContext,
  json: string,
  representation: Representation,
  status: 200 | 400 = 200,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return sendAnswer(c, answerOf(json, representation, { headers }), { status });
}

/**
 * Sends an OperationOutcome in the representation that was asked for, or in JSON if that cannot be determined: an error
 * must not fail because of its form.
 */
export function respondWithOutcome(
  c: HttpContext,
  status: number,
  issues: readonly Issue[],
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return respond(c, JSON.stringify(operationOutcome(issues)), outcomeRepresentation(c), status as 400, headers);
}

/** Chooses by the Accept header alone if the query cannot be read. */
function outcomeRepresentation(c: HttpContext): Representation {
  const asked = [() => parseParameters(queryOf(c.req.url), 'query string'), () => []];
  for (const parameters of asked) {
    try {
      return representationOf(c, parameters());
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
    }
  }
  return { format: 'json', pretty: false };
}

/** Makes a Response without `c.body`, which would build Headers of the platform. */
function responseOf(body: Answer['content'] | null, status: number, headers: Description['headers']): Response {
  return new Response(body, { status, headers: new AnswerHeaders(headers) });
}

/** True if the client has this version. If-None-Match is compared weakly and decides alone if it is sent. */
function isUnchanged(c: HttpContext, { etag, changed }: Answer): boolean {
  if (etag === undefined) return false;
  const match = headerOf(c, 'if-none-match');
  if (match !== undefined) return namesTag(match, etag);
  const since = instantOf(headerOf(c, 'if-modified-since') ?? '');
  return changed !== undefined && since !== undefined && changed * 1000 <= since;
}

/**
 * Returns milliseconds since the epoch; undefined unless the date is in the preferred form of HTTP. RFC 9110 section
 * 5.6.7
 */
function instantOf(httpDate: string): number | undefined {
  const instant = Date.parse(httpDate);
  return !Number.isNaN(instant) && new Date(instant).toUTCString() === httpDate.trim() ? instant : undefined;
}

/** True if an If-None-Match names an entity tag. Compares weakly. */
export function namesTag(match: string, etag: string): boolean {
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return match.trim() === '*' || match.split(',').some(tag => opaque(tag) === opaque(etag));
}

type Visit = (value: string, name: string, all: Headers) => void;

/**
 * Headers of an answer while the parts of src/http add theirs. In: names and values of this server. Out: an object that
 * the framework takes for the platform's Headers, without their checks and sorting: Node checks all headers again when
 * it sends them. Not for cookies, which must not be joined.
 */
export class AnswerHeaders extends Headers {
  /** Keyed by lower-case name, in order of insertion. */
  readonly #values = new Map<string, string>();

  constructor(values: Readonly<Record<string, string>>) {
    super();
    for (const name in values) this.set(name, values[name] ?? '');
  }

  override get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  override has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  override set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value);
  }

  override append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  override delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  override getSetCookie(): string[] {
    return [];
  }

  override forEach(visit: Visit): void {
    for (const [name, value] of this.#values) visit(value, name, this);
  }

  override entries(): ReturnType<Headers['entries']> {
    return this.#values.entries() as ReturnType<Headers['entries']>;
  }

  override keys(): ReturnType<Headers['keys']> {
    return this.#values.keys() as ReturnType<Headers['keys']>;
  }

  override values(): ReturnType<Headers['values']> {
    return this.#values.values() as ReturnType<Headers['values']>;
  }

  override [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.entries();
  }
}
