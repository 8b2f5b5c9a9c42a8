/**
 * Types and functions that the parts of src/http share: the parts of an app, and the values that a request carries from
 * one middleware to the next.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { Audit } from '../audit/audit.ts';
import { type Access, OPEN_ACCESS } from '../auth/access.ts';
import type { Account } from '../auth/accounts.ts';
import type { BreakGlass } from '../auth/glass.ts';
import type { Meter, Meters } from '../auth/meter.ts';
import { parseScope } from '../auth/scopes.ts';
import type { Grant } from '../auth/token.ts';
import type { MakeSummary } from '../ccda/summary.ts';
import type { Config } from '../config/config.ts';
import type { Jobs } from '../export/jobs.ts';
import type { Facade, RequestContext } from '../facade.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Stages } from '../observe/statements.ts';
import { FhirError, type Issue } from '../outcome.ts';
import type { RestParts } from '../rest/start.ts';
import type { DatabaseLoad } from '../sql/database.ts';
import type { Authorization } from './fhir/authorization.ts';
import type { Answer } from './middleware/answer.ts';
import type { KeptAnswers } from './middleware/answer-cache.ts';
import type { Entry } from './middleware/bearer.ts';
import type { Admission } from './middleware/limits.ts';
import { headerOf } from './middleware/request.ts';
import type { Explain } from './pages/explain-page.ts';
import type { PagePlace } from './pages/resource-page.ts';
import type { Mapped } from './pages/samples.ts';
import type { Intake } from './server/intake.ts';

/** Summary of the pack, for the routes and the page at `/`. */
export interface Served {
  readonly pack: { readonly name: string; readonly title: string; readonly version: string };
  readonly mappings: number;
  /** Warnings of `lintel check`. */
  readonly warnings: readonly string[];
  /** Mappings that are left out because they do not work on this database; the warnings say why. */
  readonly unserved?: readonly string[];
  /** Version of this server. */
  readonly software?: string;
  /** Why the files as they are now are not served; called each time. */
  readonly refused?: () => Refused | undefined;
  /** What the schema no longer has of what the mappings need; called each time. */
  readonly lacking?: () => Refused | undefined;
}

/** Why mappings on disk could not replace those that are served, or why those that are served no longer work. */
export interface Refused {
  /** ISO instant. */
  readonly at: string;
  readonly problems: readonly string[];
}

/** A line of the log, without patients' data. */
export interface Problem {
  /** ISO instant. */
  readonly at: string;
  readonly message: string;
}

/** The parts that bulk export needs. */
export interface ExportParts {
  readonly jobs: Jobs;
  readonly facade: Pick<Facade, 'registry' | 'parse' | 'offers' | 'visibility'>;
}

export interface AppParts {
  /** Without it there is no bulk export. */
  readonly exports?: ExportParts;
  readonly facade: Pick<
    Facade,
    | 'read'
    | 'search'
    | 'searchAll'
    | 'searchCompartment'
    | 'operate'
    | 'recordOperations'
    | 'capabilities'
    | 'offers'
    | 'shown'
  > &
    Mapped;
  readonly served: Served;
  readonly config: Pick<
    Config,
    | 'host'
    | 'port'
    | 'baseUrl'
    | 'fhirPath'
    | 'apiPath'
    | 'access'
    | 'handling'
    | 'timeout'
    | 'corsOrigins'
    | 'hsts'
    | 'session'
  >;
  readonly log: Log;
  /** Without it nothing is counted. */
  readonly metrics?: Pick<Metrics, 'request' | 'text' | 'contentType'>;
  /** The engine, and the load of its connections; runs no query. */
  readonly load?: () => Pick<DatabaseLoad, 'bulkheads' | 'unexplained'> & { readonly engine: string };
  /** The latest warnings and errors of the log, newest first. */
  readonly problems?: () => readonly Problem[];
  /** Rejects if the database does not answer. */
  readonly ping: () => Promise<void>;
  /** Explains a search; without it there is no page of SQL and lineage. */
  readonly explain?: Explain;
  /** Makes the document of a patient; without it the operation does not exist. */
  readonly summary?: MakeSummary;
  /** Undefined if the pack does not describe documents. */
  readonly rest?: RestParts | undefined;
  /** Without it no answer is cached. */
  readonly answers?: KeptAnswers;
  /** Without it no request is queued. */
  readonly admission?: Admission;
  /** Rate limit of each client; without it there is none. */
  readonly rate?: Meters | undefined;
  /** Shared by the whole process; default: one for this application. */
  readonly intake?: Intake;
  /** Types whose answers are never cached. */
  readonly unkept?: ReadonlySet<string>;
  /** Records who saw whom; without it there is no audit. */
  readonly audit?: (Pick<Audit, 'write'> & Partial<Pick<Audit, 'isFailing'>>) | undefined;
  /** True if a browser app is registered at an origin; undefined if there are no apps. */
  readonly isAppOrigin?: ((origin: string) => boolean) | undefined;
  /** How a caller gets a token; undefined only if access is open. */
  readonly authorization?: Authorization | undefined;
  /** Decides by token who may come in; undefined only if access is open. */
  readonly entry?: Entry | undefined;
  /** Decides who may see hidden data by giving a reason; undefined: nobody. */
  readonly glass?: BreakGlass | undefined;
}

export interface HttpEnv {
  /** Node's objects of the connection; absent in requests of a batch. */
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  Variables: {
    requestId: string;
    /** Time spent in each stage of this request. */
    stages: Stages;
    /** Name of this request in the log: method and pattern, never the actual path. */
    route?: string;
    /** Aborts when the client has disconnected or the request has timed out. */
    signal: AbortSignal;
    timedOut: () => boolean;
    /** The answer, if other requests may get the same. */
    answer?: Answer;
    /** Addresses for a page that shows the answer. */
    place?: () => PagePlace;
    /** True for a request of the REST interface, whose errors have a form of their own. */
    rest?: boolean;
    /** Where a browser continues after a login; an address of this server. */
    next?: string;
    /** Counts the requests of the client. */
    meter?: Meter;
    /** Who is logged in at the REST interface. */
    account?: Account;
    /** Set for a refused login: the account that was tried, if it exists. */
    tried?: string | undefined;
    /** What the caller of the FHIR interface may see; undefined if access is open. */
    access?: Access;
    /** What the caller's access token says. */
    grant?: Grant;
    /** The caller's reason to see hidden data, also of a request that was refused. */
    glass?: string;
    /** The warning that searchsets carry if the glass was broken. */
    warning?: Issue;
    /** True if a token was sent and is not valid. */
    tokenRefused?: boolean;
    /** Logical ids of the patients whose data is in the answer. */
    patients?: Set<string>;
    /** True if the answer came from the cache. */
    cacheHit?: boolean;
    /**
     * Set if the answer is an export file, which may hold any patient's data: the URL of the request that began the
     * export.
     */
    exportUrl?: string;
    /** The body as it was received, if it was read; never one that holds a password. */
    body?: ArrayBuffer;
    /** Takes back what the request began, if its answer cannot be sent. */
    undo?: () => Promise<unknown>;
    /** The batch that this request belongs to. */
    batch?: HttpContext;
  };
}

export type HttpContext = Context<HttpEnv>;

/**
 * True if the connection ended before the whole request had arrived: whatever was thrown, nobody waits for an answer.
 */
export function leftHalfway(c: HttpContext): boolean {
  const incoming = c.env?.incoming;
  return incoming?.destroyed === true && !incoming.complete;
}

/** Returns the peer's address; behind a proxy it is the proxy's. */
export function peerOf(c: HttpContext): string {
  return c.env?.incoming?.socket.remoteAddress ?? 'unknown';
}

/** Returns the absolute base of the whole server as this client sees it, without a slash at the end. */
export function serverBase(c: HttpContext, parts: AppParts): string {
  return parts.config.baseUrl ?? new URL(c.req.url).origin;
}

/** Returns the absolute base of the FHIR interface. */
export function fhirBase(c: HttpContext, parts: AppParts): string {
  return serverBase(c, parts) + parts.config.fhirPath;
}

/** Returns what this caller may see. Throws FhirError `no-token` if nothing was decided and access is not open. */
function accessOf(c: HttpContext, { config }: AppParts): Access {
  const decided = c.get('access');
  if (decided !== undefined) return decided;
  if (config.access === 'open') return OPEN_ACCESS;
  throw new FhirError('no-token', 'Expected an access token');
}

/**
 * Returns the request's context for the facade. https://hl7.org/fhir/R4/search.html#lenient
 * `handling`: used if the request has no `Prefer: handling`; default: that of the configuration.
 */
export function requestContext(
  c: HttpContext,
  parts: AppParts,
  handling: RequestContext['handling'] = parts.config.handling,
): RequestContext {
  const preferred = /(?:^|[,;\s])handling\s*=\s*"?(strict|lenient)"?(?=$|[,;\s])/i.exec(headerOf(c, 'prefer') ?? '');
  return {
    access: accessOf(c, parts),
    base: fhirBase(c, parts),
    handling: preferred === null ? handling : preferred[1]?.toLowerCase() === 'strict' ? 'strict' : 'lenient',
    signal: c.get('signal'),
    stages: c.get('stages'),
    ...(c.req.method === 'POST' && { sealed: true }),
    ...naming(c),
    ...seeing(c, parts),
    ...warned(c),
  };
}

function warned(c: HttpContext): Pick<RequestContext, 'warning'> {
  const warning = c.get('warning');
  return warning === undefined ? {} : { warning };
}

function naming(c: HttpContext): Pick<RequestContext, 'named'> {
  const grant = c.get('grant');
  return grant === undefined ? {} : { named: () => grant.scopes.flatMap(text => parseScope(text)?.type ?? []) };
}

/** Returns a callback that notes the patients whose data goes into the answer, if there is an audit. */
export function seeing(c: HttpContext, { audit }: AppParts): Pick<RequestContext, 'see'> {
  if (audit === undefined) return {};
  const known = c.get('patients') ?? new Set<string>();
  c.set('patients', known);
  return {
    see(patients) {
      for (const patient of patients) known.add(patient);
    },
  };
}
