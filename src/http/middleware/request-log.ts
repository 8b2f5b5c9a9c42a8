/**
 * Logs each request under an id: a log line, `Server-Timing`, metrics, and events on the diagnostics channel
 * `lintel:request`. They have method, route pattern, status, bytes and durations, never the path or the query, because
 * these contain ids and search values.
 */

import { randomUUID } from 'node:crypto';
import { tracingChannel } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { LogFields } from '../../log.ts';
import { type Spent, STAGES, startStopwatch } from '../../observe/statements.ts';
import type { AppParts, HttpContext, HttpEnv } from '../context.ts';
import { headerOf } from './request.ts';

/** Event for subscribers of `lintel:request`; route and status are set once they are known. */
export interface RequestEvent {
  readonly request: string;
  readonly method: string;
  /** https://www.w3.org/TR/trace-context/ */
  readonly traceparent: string | undefined;
  route?: string;
  status?: number;
}

const CHANNEL = tracingChannel<RequestEvent>('lintel:request');

/** True if anybody subscribes to events of requests. */
export function isTraced(): boolean {
  return CHANNEL.hasSubscribers;
}

/** Milliseconds after which cache hits are logged. */
const LATER = 10;

const NOTHING_SPENT: Spent = { stages: { parse: 0, plan: 0, sql: 0, write: 0 }, statements: 0 };

/** Log fields that all requests answered with the same bytes have in common. */
export interface AnsweredAlike extends LogFields {
  readonly method: string;
  /** A pattern, not the actual path. */
  readonly route: string;
  readonly status: number;
  readonly bytes: number;
}

/** Logs cache hits a little later and all together, which costs a quarter. */
export function logHits({ log, metrics }: Pick<AppParts, 'log' | 'metrics'>) {
  let waiting: { readonly alike: AnsweredAlike; readonly request: string; readonly milliseconds: number }[] = [];
  const flush = (): void => {
    const collected = waiting;
    waiting = [];
    for (const { alike, request, milliseconds } of collected) {
      metrics?.request(alike.method, alike.route, alike.status, milliseconds, NOTHING_SPENT);
      log.info('request', { ms: rounded(milliseconds), request }, alike);
    }
  };
  return (alike: AnsweredAlike, request: string, milliseconds: number): void => {
    if (waiting.length === 0) setTimeout(flush, LATER);
    waiting.push({ alike, request, milliseconds });
  };
}

/** Logs each request and counts it in the metrics. */
export function logRequests({ log, metrics }: Pick<AppParts, 'log' | 'metrics'>) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const begun = performance.now();
    const request = c.get('requestId');
    const stopwatch = startStopwatch(request);
    c.set('stages', stopwatch);
    const method = METHODS.has(c.req.method) ? c.req.method : 'other';
    const traceparent = traceparentOf(headerOf(c, 'traceparent'));
    if (CHANNEL.hasSubscribers) await traced({ request, method, traceparent }, c, next);
    else await next();
    const { status, headers } = c.res;
    const bytes = numberOf(headers.get('content-length'));
    const milliseconds = performance.now() - begun;
    const spent = stopwatch.spent();
    const route = routeOf(c);
    metrics?.request(method, route, status, milliseconds, spent);
    const write = QUIET.has(route) ? log.debug : log.info;
    const ms = rounded(milliseconds);
    const trace = traceparent?.slice(3, 35);
    write('request', { method, route, status, bytes, ms, ...durations(spent), request, trace });
    headers.set('Server-Timing', serverTiming(milliseconds, spent));
  });
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Routes that monitoring polls every few seconds. */
const QUIET: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics']);

/** Returns the name of a request for the log: a pattern, never the actual path. */
export function routeOf(c: HttpContext): string {
  return c.get('route') ?? routePath(c);
}

function traced(event: RequestEvent, c: HttpContext, next: () => Promise<void>): Promise<void> {
  return CHANNEL.tracePromise(async () => {
    await next();
    event.route = routeOf(c);
    event.status = c.res.status;
  }, event);
}

function traceparentOf(header: string | undefined): string | undefined {
  return header !== undefined && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(header)
    ? header
    : undefined;
}

/** https://www.w3.org/TR/server-timing/ */
function serverTiming(total: number, { stages, statements }: Spent): string {
  let text = `total;dur=${rounded(total)}`;
  if (statements === 0 && stages.parse === 0) return text;
  for (const stage of STAGES) if (stages[stage] > 0) text += `, ${stage};dur=${rounded(stages[stage])}`;
  return text;
}

function durations({ stages, statements }: Spent): Readonly<Record<string, number>> {
  if (stages.parse === 0) return {};
  const { parse, plan, sql, write } = stages;
  return { parse: rounded(parse), plan: rounded(plan), sql: rounded(sql), write: rounded(write), statements };
}

/** Rounds milliseconds to a hundredth. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

function numberOf(text: string | null): number | undefined {
  return text === null ? undefined : Number(text);
}

/** Forms of ids that cannot carry a patient's name or number into the log. */
const WELL_FORMED = /^(?:[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|[0-9a-f]{16,64}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/i;
const ECHOED = /^[\x21-\x7e]{1,200}$/;

/**
 * Takes X-Request-Id as the id if it is a UUID, ULID, hex or similar and so contains no words; else makes one. An id
 * that is not taken is returned as X-Correlation-Id. https://hl7.org/fhir/R4/http.html#custom
 */
export const requestId = createMiddleware<HttpEnv>(async (c, next) => {
  const sent = headerOf(c, 'x-request-id');
  const taken = sent !== undefined && WELL_FORMED.test(sent);
  const id = taken ? sent : randomUUID();
  c.set('requestId', id);
  await next();
  // Not with `c.header`, which rebuilds the finished response.
  const { headers } = c.res;
  headers.set('X-Request-Id', id);
  if (sent !== undefined && !taken && ECHOED.test(sent)) headers.set('X-Correlation-Id', sent);
});
