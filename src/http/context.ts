/**
 * What the parts of src/http share: the parts an app is made of, and what a request carries from one middleware to the
 * next.
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

/** What is mapped, for the routes and the page at `/`. */
export interface Served {
  readonly pack: { readonly name: string; readonly title: string; readonly version: string };
  readonly mappings: number;
  /** What `lintel check` warns of. */
  readonly warnings: readonly string[];
  /** Mappings that the database does not bear and that are left out; the warnings say why. */
  readonly unserved?: readonly string[];
  /** Version of this server. */
  readonly software?: string;
  /** Why the files as they are now are not what is served; asked for each time. */
  readonly refused?: () => Refused | undefined;
  /** What the schema no longer has of what they need; asked for each time. */
  readonly lacking?: () => Refused | undefined;
}

/** Why mappings on disk could not take the place of those that are served, or those that are served no longer work. */
export interface Refused {
  /** ISO instant. */
  readonly at: string;
  readonly problems: readonly string[];
}

/** A line of the log, which holds no value of a patient. */
export interface Problem {
  /** ISO instant. */
  readonly at: string;
  readonly message: string;
}

/** What bulk export works with. */
export interface ExportParts {
  readonly jobs: Jobs;
  readonly facade: Pick<Facade, 'registry' | 'parse' | 'offers' | 'sight'>;
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
  /** Which engine it is and how busy the way to it; asks nothing. */
  readonly load?: () => Pick<DatabaseLoad, 'bulkheads' | 'unexplained'> & { readonly engine: string };
  /** Warnings and errors that were logged last, the newest first. */
  readonly problems?: () => readonly Problem[];
  /** Rejects while the database does not answer. */
  readonly ping: () => Promise<void>;
  /** Explains a search; without it there is no page of SQL and lineage. */
  readonly explain?: Explain;
  /** Makes the document of a patient; without it there is no such operation. */
  readonly summary?: MakeSummary;
  /** Undefined where the pack says nothing of documents. */
  readonly rest?: RestParts | undefined;
  /** Without it every answer is made anew. */
  readonly answers?: KeptAnswers;
  /** Without it nobody waits for others. */
  readonly admission?: Admission;
  /** How often each client may ask; without it nobody counts. */
  readonly rate?: Meters | undefined;
  /** Of the process; default: one of this application. */
  readonly intake?: Intake;
  /** Types whose answers are made anew for each request. */
  readonly unkept?: ReadonlySet<string>;
  /** Writes down who saw whom; without it nobody does. */
  readonly audit?: (Pick<Audit, 'write'> & Partial<Pick<Audit, 'isFailing'>>) | undefined;
  /** Whether a browser app is registered at an origin; undefined where no apps are. */
  readonly isAppOrigin?: ((origin: string) => boolean) | undefined;
  /** How a caller gets a token; undefined only where access is open. */
  readonly authorization?: Authorization | undefined;
  /** Who may come in, by token; undefined only where access is open. */
  readonly entry?: Entry | undefined;
  /** Who may see what is hidden by giving a reason; undefined: nobody. */
  readonly glass?: BreakGlass | undefined;
}

export interface HttpEnv {
  /** Of the connection; absent in requests of a batch. */
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  Variables: {
    requestId: string;
    /** Where the time of this request goes. */
    stages: Stages;
    /** What the log calls this request: method and pattern, never the path itself. */
    route?: string;
    /** Aborts when the client has gone or the request has taken too long. */
    signal: AbortSignal;
    timedOut: () => boolean;
    /** What the request was answered with, if others may be too. */
    answer?: Answer;
    /** Where the answer stands, for a page of it. */
    place?: () => PagePlace;
    /** The request is one of the REST interface, errors are told in its form. */
    rest?: boolean;
    /** Where a browser goes on after a login; an address of this server. */
    next?: string;
    /** Counts the requests of the client. */
    meter?: Meter;
    /** Who is logged in at the REST interface. */
    account?: Account;
    /** Of a refused login: the account that was tried, if there is one. */
    tried?: string | undefined;
    /** What the caller of the FHIR interface may see; undefined where access is open. */
    access?: Access;
    /** What the caller's access token says. */
    grant?: Grant;
    /** The reason for which the caller asks to see what is hidden: of a request that was refused too. */
    glass?: string;
    /** What searchsets tell of it. */
    warning?: Issue;
    /** There was a token, and it was not good. */
    tokenRefused?: boolean;
    /** Logical ids of the patients whose data is in the answer. */
    patients?: Set<string>;
    /** The answer was kept from an earlier request. */
    kept?: boolean;
    /** The answer is a file, which may hold any patient's data; and the request that it was made for. */
    bulk?: string;
    /** A body that was read, as it came; never one that holds a password. */
    body?: ArrayBuffer;
    /** Takes back what the request began, where its answer cannot go out. */
    undo?: () => Promise<unknown>;
    /** The batch that the request is one of. */
    batch?: HttpContext;
  };
}

export type HttpContext = Context<HttpEnv>;

/** The connection ended before the whole request had come: whatever was thrown, nobody waits for an answer. */
export function leftHalfway(c: HttpContext): boolean {
  const incoming = c.env?.incoming;
  return incoming?.destroyed === true && !incoming.complete;
}

/** The peer's address; behind a proxy the proxy's. */
export function peerOf(c: HttpContext): string {
  return c.env?.incoming?.socket.remoteAddress ?? 'unknown';
}

/** Absolute base of the whole server as this client sees it, without a slash at the end. */
export function serverBase(c: HttpContext, parts: AppParts): string {
  return parts.config.baseUrl ?? new URL(c.req.url).origin;
}

/** Absolute base of the FHIR interface. */
export function fhirBase(c: HttpContext, parts: AppParts): string {
  return serverBase(c, parts) + parts.config.fhirPath;
}

/** What this caller may see. Without a decision it is nothing, whatever ACCESS says. */
function accessOf(c: HttpContext, { config }: AppParts): Access {
  const decided = c.get('access');
  if (decided !== undefined) return decided;
  if (config.access === 'open') return OPEN_ACCESS;
  throw new FhirError('no-token', 'Expected an access token');
}

/**
 * The request's context for the facade. https://hl7.org/fhir/R4/search.html#lenient
 * `handling`: where the request has no `Prefer: handling`; default: that of the configuration.
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

/** Notes the patients whose data goes into the answer, where an audit writes them down. */
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
