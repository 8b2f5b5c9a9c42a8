/**
 * Answers each request of a batch Bundle as if it had come alone, in order. In: the Bundle's members and a function
 * that answers one request. Out: a Bundle of type batch-response as JSON text.
 * https://hl7.org/fhir/R4/http.html#transaction
 */
import type { RequestErrorKind } from '../../errors/request-errors.ts';
import { FhirError, type Issue, issueOf, operationOutcome } from '../../outcome.ts';
import { isMembers, type Members } from './resource-body.ts';

/** Maximum requests of one batch. */
export const ENTRIES_AT_MOST = 100;
/** Maximum characters of all answers; beyond that, the remaining requests are refused. */
export const ANSWERS_AT_MOST = 32 * 1024 * 1024;
/** Requests that are answered at the same time. */
const AT_ONCE = 4;

/** One request of a batch. */
export interface BatchRequest {
  readonly method: 'GET' | 'HEAD' | 'POST';
  /** Relative to the base, without a leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Throws FhirError if the Bundle is not a batch. */
export async function answerBatch(
  bundle: Members,
  base: string,
  answer: (request: BatchRequest) => Promise<Response>,
): Promise<string> {
  const entries = entriesOf(bundle);
  const answers: string[] = [];
  const named = new Set<string>();
  let size = 0;
  for (let start = 0; start < entries.length; start += AT_ONCE) {
    const full = size > ANSWERS_AT_MOST;
    const chunk = entries.slice(start, start + AT_ONCE).map(async entry => {
      if (full) return { text: entryText('413 Payload Too Large', TOO_LARGE) };
      const request = requestOf(entry, base);
      return 'severity' in request ? { text: refusalText(request) } : entryOf(await answer(request), request, base);
    });
    for (const { fullUrl, text } of await Promise.all(chunk)) {
      // A resource that several requests read has its address once: bdl-7 of R4 forbids equal ones.
      const isNew = fullUrl !== undefined && !named.has(fullUrl);
      if (isNew) named.add(fullUrl);
      answers.push(isNew ? `{"fullUrl":${JSON.stringify(fullUrl)},${text.slice(1)}` : text);
      size += text.length;
    }
  }
  const entry = answers.length === 0 ? '' : `,"entry":[${answers.join()}]`;
  return `{"resourceType":"Bundle","type":"batch-response"${entry}}`;
}

function entriesOf({ type, entry = [] }: Members): readonly unknown[] {
  if (type === 'transaction')
    throw new FhirError(
      'unsupported-bundle',
      'Bundle.type: expected batch; this server only reads, one request at a time',
    );
  if (type !== 'batch') throw new FhirError('malformed-body', 'Bundle.type: expected batch');
  if (!Array.isArray(entry)) throw new FhirError('malformed-body', 'Bundle.entry: expected a list');
  if (entry.length > ENTRIES_AT_MOST)
    throw new FhirError('too-costly', `Bundle.entry: more than ${ENTRIES_AT_MOST} requests in one batch`);
  return entry;
}

/** Reads the request of an entry, or returns why it is refused. */
function requestOf(entry: unknown, base: string): BatchRequest | Refusal {
  const request = isMembers(entry) ? entry['request'] : undefined;
  if (!isMembers(request))
    return refusal('400 Bad Request', 'malformed-body', 'Bundle.entry.request: expected a request');
  const { method, url, ifNoneMatch, ifModifiedSince } = request;
  if (typeof url !== 'string')
    return refusal('400 Bad Request', 'malformed-body', 'Bundle.entry.request.url: expected');
  const path = pathOf(url, base);
  if (path === undefined || path === '')
    return refusal('400 Bad Request', 'malformed-body', 'Bundle.entry.request.url: expected a path behind the base');
  if (typeof ifNoneMatch === 'string' && !HEADER_VALUE.test(ifNoneMatch))
    return refusal('400 Bad Request', 'malformed-body', 'Bundle.entry.request.ifNoneMatch: expected entity tags');
  const headers = {
    Accept: 'application/fhir+json',
    ...(typeof ifNoneMatch === 'string' ? { 'If-None-Match': ifNoneMatch } : {}),
    ...(typeof ifModifiedSince === 'string' ? { 'If-Modified-Since': httpDate(ifModifiedSince) } : {}),
  };
  if (method === 'GET' || method === 'HEAD') return { method, path, headers };
  const { resource } = entry as Members;
  if (method === 'POST' && /(^|\/)_search(\?|$)/.test(path)) {
    if (resource === undefined) return { method, path, headers };
    // A Bundle cannot hold a form, and R4 has no search by a resource.
    const expected = 'Bundle.entry.resource: expected none; the parameters of a search belong in its URL';
    return refusal('400 Bad Request', 'malformed-body', expected);
  }
  if (method === 'POST' && /(^|\/)(\$|%24)[a-z-]+(\?|$)/.test(path)) {
    const contentType = { 'Content-Type': 'application/fhir+json' };
    const body = resource === undefined ? '' : JSON.stringify(resource);
    return { method, path, headers: { ...headers, ...contentType }, body };
  }
  return refusal(
    '405 Method Not Allowed',
    'wrong-method',
    'This server only reads: GET, HEAD, and POST of searches and operations',
  );
}

/**
 * Returns the path relative to the base, without the fragment, which is the client's. Undefined for another server's
 * address.
 */
function pathOf(url: string, base: string): string | undefined {
  const [asked = ''] = url.split('#', 1);
  if (asked.startsWith(`${base}/`)) return asked.slice(base.length + 1);
  if (/^[a-z][a-z0-9+.-]*:/i.test(asked) || asked.startsWith('//')) return undefined;
  return asked.replace(/^\//, '');
}

/** Characters of a header value. RFC 9110 section 5.5 */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function httpDate(instant: string): string {
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? '' : date.toUTCString();
}

type Refusal = Issue & { readonly status: string };

function refusal(status: string, kind: RequestErrorKind, diagnostics: string): Refusal {
  return { ...issueOf(kind, diagnostics), status };
}

const TOO_LARGE = outcomeText(issueOf('too-costly', 'The answers exceed the size limit of a batch; split the batch'));

function refusalText({ status, ...issue }: Refusal): string {
  return entryText(status, outcomeText(issue));
}

function outcomeText(issue: Issue): string {
  return `,"outcome":${JSON.stringify(operationOutcome([issue]))}`;
}

/** An entry of the answer. */
interface Entry {
  /** Address of the resource, if one was read by its id. */
  readonly fullUrl?: string;
  /** The entry as JSON, without `fullUrl`. */
  readonly text: string;
}

async function entryOf(response: Response, { method, path }: BatchRequest, base: string): Promise<Entry> {
  const text = method === 'HEAD' ? '' : await response.text();
  const headers = [
    ['etag', response.headers.get('etag')],
    ['lastModified', instantOf(response.headers.get('last-modified'))],
  ] as const;
  const members = headers.map(([name, value]) => (value ? `,${JSON.stringify(name)}:${JSON.stringify(value)}` : ''));
  const status = `${response.status} ${REASONS[response.status] ?? ''}`.trim();
  // References in a resource that was read are relative to its own address.
  const [, read] = method === 'GET' ? (READ.exec(path) ?? []) : [];
  if (response.ok && text !== '') {
    const answered = `{"resource":${text},"response":{"status":"${status}"${members.join('')}}}`;
    return read === undefined ? { text: answered } : { fullUrl: `${base}/${read}`, text: answered };
  }
  return { text: entryText(status, `${members.join('')}${text === '' ? '' : `,"outcome":${text}`}`) };
}

/** Path of a read by id. */
const READ = /^([A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64})(?:\/_history\/[\w-]+)?(?:\?|$)/;

function entryText(status: string, rest: string): string {
  return `{"response":{"status":"${status}"${rest}}}`;
}

function instantOf(date: string | null): string | undefined {
  return date === null ? undefined : new Date(date).toISOString();
}

/** Reason phrases of the statuses. RFC 9110 section 15 */
const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  304: 'Not Modified',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  410: 'Gone',
  415: 'Unsupported Media Type',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
