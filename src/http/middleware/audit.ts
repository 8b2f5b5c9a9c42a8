/**
 * Writes an audit record before an answer is sent that contains patients' data, or could. In: an answered request. Out:
 * the answer; 503 if the record cannot be written. docs/audit.md
 */

import { createMiddleware } from 'hono/factory';
import type { Audit } from '../../audit/audit.ts';
import { type AuditRecord, type Interaction, NOBODY, type Who } from '../../audit/record.ts';
import { type Access, OPEN_ACCESS } from '../../auth/access.ts';
import { REST_CLIENT } from '../../auth/glass.ts';
import type { Grant } from '../../auth/token.ts';
import { SEALED } from '../../facade.ts';
import { issueOf, operationOutcome } from '../../outcome.ts';
import { type AppParts, type HttpContext, type HttpEnv, peerOf } from '../context.ts';
import { RestError, respondWithError } from '../rest/errors.ts';
import { respondWithOutcome } from './answer.ts';
import { furtherUnits } from './rate.ts';
import { decodedSegment } from './request.ts';
import { routeOf } from './request-log.ts';

const MESSAGE = 'The audit is required, and its store cannot be written now';
/** Seconds. */
const RETRY_AFTER = 30;

/** Audits all answers, except those of `isPublic` paths, which contain nothing of any patient. */
export function auditAnswers(
  { config, facade }: Pick<AppParts, 'config' | 'facade'>,
  audit: Pick<Audit, 'write'>,
  isPublic: (path: string) => boolean = () => false,
) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    await next();
    if (c.req.method === 'OPTIONS' || isPublic(c.req.path)) return;
    try {
      const record = recordOf(c, config, facade);
      c.get('meter')?.charge(furtherUnits(record));
      await audit.write(record);
    } catch {
      // The writer has logged the reason.
      await c.res.body?.cancel();
      await c.get('undo')?.();
      c.res = undefined;
      c.res = await respondUnwritten(c);
    }
  });
}

function respondUnwritten(c: HttpContext): Response | Promise<Response> {
  const headers = { 'Retry-After': String(RETRY_AFTER) };
  if (c.get('rest') === true) return respondWithError(c, new RestError('unavailable', MESSAGE, headers));
  return respondWithOutcome(c, 503, [issueOf('audit-away', MESSAGE)], headers);
}

type Place = Pick<AppParts['config'], 'fhirPath' | 'baseUrl' | 'access'>;

function recordOf(c: HttpContext, config: Place, facade: Shows): AuditRecord {
  // A request of a batch has the connection of the batch, and a path relative to the base.
  const outer = c.get('batch') ?? c;
  const { status } = c.res;
  const { pathname, search, hostname } = new URL(c.req.url);
  const path = outer === c ? pathname : config.fhirPath + pathname;
  const { interaction, resource } = askedFor(c.req.method, path, config.fhirPath);
  const exportUrl = c.get('exportUrl');
  const sent = status < 400;
  const glass = c.get('glass');
  return {
    at: Date.now(),
    request: c.get('requestId'),
    who: whoOf(outer, config),
    address: peerOf(outer),
    server: serverOf(hostname, config),
    interaction,
    route: `${c.req.method} ${routeOf(c)}`,
    status,
    query: [
      `${c.req.method} ${path}${withShown(search, c.get('access'), facade)}`,
      withShown(bodyOf(c, interaction), c.get('access'), facade),
      exportUrl ? `of GET ${exportUrl}` : '',
    ]
      .filter(text => text !== '')
      .join('\n'),
    ...(resource === undefined ? {} : { resource }),
    patients: sent ? [...(c.get('patients') ?? [])] : [],
    ...(exportUrl !== undefined && sent && { bulk: true }),
    ...(glass !== undefined && { glass }),
    ...(c.get('cacheHit') === true && { kept: true }),
  };
}

type Shows = Pick<AppParts['facade'], 'shown'>;

/**
 * Links of a search that came in a body hide its parameters; the audit records them, because nobody else reads it.
 * `text`: a query with its question mark, or a form.
 */
function withShown(text: string, access: Access = OPEN_ACCESS, facade: Shows): string {
  if (!text.includes(SEALED)) return text;
  const mark = text.startsWith('?') ? '?' : '';
  const parameters = [...new URLSearchParams(text)];
  const shown = facade.shown(parameters, access);
  return shown === parameters ? text : mark + new URLSearchParams(shown.map(pair => [...pair]));
}

/** Identifies the caller by access token or session. No other function does. */
function whoOf(c: HttpContext, { access }: Pick<Place, 'access'>): Who {
  const grant = c.get('grant');
  if (grant !== undefined) return whoIn(grant);
  const account = c.get('account');
  if (account !== undefined)
    return { client: REST_CLIENT, subject: account.name, ...(account.fhirUser && { user: account.fhirUser }) };
  const tried = c.get('tried');
  return { client: access === 'open' ? 'open' : NOBODY, ...(tried !== undefined && { subject: tried }) };
}

function whoIn({ client, subject, issuer, fhirUser, purpose }: Grant): Who {
  return {
    client,
    issuer,
    ...(subject !== client && { subject }),
    ...(fhirUser !== undefined && { user: fhirUser }),
    ...(purpose !== undefined && { purpose }),
  };
}

/** Returns the server's host name; behind a proxy, that of BASE_URL. */
function serverOf(asked: string, { baseUrl }: Pick<Place, 'baseUrl'>): string {
  return baseUrl === undefined ? asked : new URL(baseUrl).hostname;
}

/** Returns the body for the record; none for a batch, whose requests are recorded one by one. */
function bodyOf(c: HttpContext, interaction: Interaction): string {
  const body = c.get('body');
  return body === undefined || interaction === 'batch' ? '' : Buffer.from(body).toString('utf8');
}

const TYPE = /^[A-Z][A-Za-z]{1,63}$/;
const ID = /^[A-Za-z0-9.-]{1,64}$/;

/** Classifies a request, and finds the resource that a read names. https://hl7.org/fhir/R4/http.html */
export function askedFor(
  method: string,
  path: string,
  fhirPath: string,
): { readonly interaction: Interaction; readonly resource?: string } {
  // Routes match the base however it is percent-encoded.
  const [base, all] = [segmentsOf(fhirPath), segmentsOf(path)];
  if (base.some((segment, i) => segment !== all[i])) return { interaction: 'operation' };
  const segments = all.slice(base.length);
  const [type, id, inner, version] = segments;
  if (segments.some(segment => segment.startsWith('$'))) return { interaction: 'operation' };
  const isVersion = inner === '_history' && version !== undefined;
  if (segments.includes('_history') && !isVersion) return { interaction: 'history-instance' };
  if (type === undefined) return { interaction: method === 'POST' ? 'batch' : 'search-system' };
  if (type === '_search') return { interaction: 'search-system' };
  if (id === undefined || id === '_search' || (inner !== undefined && !isVersion))
    return { interaction: 'search-type' };
  const named = TYPE.test(type) && ID.test(id);
  return { interaction: isVersion ? 'vread' : 'read', ...(named && { resource: `${type}/${id}` }) };
}

function segmentsOf(path: string): readonly string[] {
  return path
    .split('/')
    .filter(segment => segment !== '')
    .map(decodedSegment);
}

interface SentHit {
  readonly url: string;
  readonly route: string;
  readonly patients: readonly string[];
  /** Absent without a token. */
  readonly grant?: Grant | undefined;
  readonly access: Access;
  /** Address of the peer. */
  readonly address: string;
  /** Host name of this server, as the client addressed it. */
  readonly hostname: string;
}

/** A record without the parts that differ per request. */
export type RecordOfHits = Omit<AuditRecord, 'at' | 'request'>;

/**
 * Returns the record of a cached answer that is sent, without the application, to requests that are plain and equal.
 */
export function recordOfHits(
  { url, route, patients, grant, access, address, hostname }: SentHit,
  config: Place,
  facade: Shows,
): RecordOfHits {
  const mark = url.indexOf('?');
  const { interaction, resource } = askedFor('GET', mark < 0 ? url : url.slice(0, mark), config.fhirPath);
  return {
    who: grant === undefined ? { client: config.access === 'open' ? 'open' : NOBODY } : whoIn(grant),
    address,
    server: serverOf(hostname, config),
    interaction,
    route: `GET ${route}`,
    status: 200,
    query: mark < 0 ? `GET ${url}` : `GET ${url.slice(0, mark)}${withShown(url.slice(mark), access, facade)}`,
    ...(resource === undefined ? {} : { resource }),
    patients,
    kept: true,
  };
}

/** The 503 for such an answer, if its record cannot be written. */
export const UNWRITTEN = {
  headers: { 'Content-Type': 'application/fhir+json; charset=utf-8', 'Retry-After': String(RETRY_AFTER) },
  body: JSON.stringify(operationOutcome([issueOf('audit-away', MESSAGE)])),
} as const;
