/**
 * Collects what the start page `/` shows to a person (HTML) or a program (JSON). In: the mappings, their capabilities,
 * and the state of the process. Out: base URLs, types with sample links, state of mappings, database, cache and
 * exports, requests to try.
 */
import { Hono } from 'hono';
import { progressText } from '../../export/manifest.ts';
import type { BulkheadLoad } from '../../sql/database.ts';
import {
  type AppParts,
  fhirBase,
  type HttpContext,
  type HttpEnv,
  type Problem,
  type Refused,
  requestContext,
  serverBase,
} from '../context.ts';
import { accepts } from '../middleware/negotiate.ts';
import { SMART_CONFIGURATION } from '../public.ts';
import { answersInTime } from '../server/probes.ts';
import { chartAddress } from './chart-address.ts';
import { homePage } from './home-page.ts';
import { PAGE_POLICY } from './page-frame.ts';
import { type OfferedType, offeredTypes, type Sample, sampleRequests } from './samples.ts';

export interface Home extends Partial<Operation> {
  /** Version of this server. */
  readonly software: string | undefined;
  readonly pack: AppParts['served']['pack'];
  readonly mappings: number;
  readonly fhir: string;
  /** Absent if the pack has no documents. */
  readonly rest?: string;
  /** Where apps learn how to get a token; absent if access is open. */
  readonly discovery?: string;
  readonly types: readonly OfferedType[];
  readonly samples: readonly Sample[];
}

/** State of the server. Only present if access is open, because the page itself needs no token. */
export interface Operation {
  readonly warnings: readonly string[];
  /** Absent while the files of the pack are the ones that are served. */
  readonly refused?: Refused;
  /** Absent while the schema has what the mappings need. */
  readonly lacking?: Refused;
  readonly database: DatabaseLine;
  readonly cache?: { readonly entries: number; readonly bytes: number; readonly hits: number; readonly misses: number };
  /** The latest warnings and errors of the log, newest first. */
  readonly problems: readonly Problem[];
  /** The caller's exports, newest first. */
  readonly jobs: readonly JobLine[];
}

export interface DatabaseLine {
  readonly engine: string;
  /** Duration of one cheap statement; absent if the database does not answer. */
  readonly milliseconds?: number;
  readonly bulkheads: readonly (Pick<BulkheadLoad, 'taken' | 'size' | 'waiting'> & { readonly bulkhead: string })[];
}

export interface JobLine {
  readonly id: string;
  readonly status: string;
  /** ISO instant. */
  readonly begun: string;
  readonly progress: string;
}

/** Maximum number of exports and of problems that are shown. */
const SHOWN = 10;

export function homeRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.get('/', async c => {
    const home = await describeHome(c, parts);
    const accept = c.req.header('accept');
    if (accept === undefined || accept.trim() === '*/*' || !accepts('text/html', accept)) return c.json(home);
    c.header('Content-Security-Policy', PAGE_POLICY);
    const action = `${serverBase(c, parts)}${parts.config.apiPath}/users/login`;
    return c.html(homePage(home, home.rest === undefined ? undefined : { action, next: chartAddress(c, parts) }));
  });
  return routes;
}

/** Collects the content of the page, without any patient's data. */
async function describeHome(c: HttpContext, parts: AppParts): Promise<Home> {
  const fhir = fhirBase(c, parts);
  const { pack, mappings, software } = parts.served;
  const isOpen = parts.config.access === 'open';
  return {
    software,
    pack,
    mappings,
    fhir,
    ...(parts.rest === undefined ? {} : { rest: `${serverBase(c, parts)}${parts.config.apiPath}` }),
    ...(isOpen ? await describeOperation(c, parts) : { discovery: fhir + beginning(parts) }),
    types: offeredTypes(parts.facade.capabilities({ base: fhir })),
    samples: sampleRequests(fhir, parts.facade),
  };
}

/** Returns the path at which a client learns how to get a token. */
function beginning({ config, authorization }: AppParts): string {
  const hasSmart = config.access === 'smart' || authorization?.configuration !== undefined;
  return hasSmart ? SMART_CONFIGURATION : '/metadata';
}

async function describeOperation(c: HttpContext, parts: AppParts): Promise<Operation> {
  const refused = parts.served.refused?.();
  const lacking = parts.served.lacking?.();
  const counters = parts.answers?.cache.counters();
  return {
    warnings: parts.served.warnings,
    ...(refused === undefined ? {} : { refused }),
    ...(lacking === undefined ? {} : { lacking }),
    database: await databaseLine(parts),
    ...(counters && {
      cache: { entries: counters.entries, bytes: counters.bytes, hits: counters.hits, misses: counters.misses },
    }),
    problems: parts.problems?.().slice(0, SHOWN) ?? [],
    jobs: jobLines(c, parts),
  };
}

async function databaseLine({ ping, load }: AppParts): Promise<DatabaseLine> {
  const begun = performance.now();
  const answered = await answersInTime(ping);
  const milliseconds = Math.round((performance.now() - begun) * 10) / 10;
  const { engine = '', bulkheads = {} } = load?.() ?? {};
  return {
    engine,
    ...(answered ? { milliseconds } : {}),
    bulkheads: Object.entries(bulkheads).map(([bulkhead, { taken, size, waiting }]) => ({
      bulkhead,
      taken,
      size,
      waiting,
    })),
  };
}

function jobLines(c: HttpContext, parts: AppParts): readonly JobLine[] {
  const { caller } = requestContext(c, parts).access;
  const views = parts.exports?.jobs.list(caller) ?? [];
  return views
    .map(view => ({
      id: view.job.id,
      status: view.job.status,
      begun: new Date(view.job.transactionTime).toISOString(),
      progress: progressText(view),
    }))
    .toSorted((a, b) => (a.begun < b.begun ? 1 : -1))
    .slice(0, SHOWN);
}
