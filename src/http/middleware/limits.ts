/**
 * Limits what the server takes on: refuses long addresses, foreign Host headers and slow requests before any work is
 * done, and how many answers are made at a time, as each holds its rows in memory while it waits for the database.
 */
import { createMiddleware } from 'hono/factory';
import { type BoundedCache, boundedCache } from '../../cache/bounded.ts';
import { isLoopback } from '../../config/config.ts';
import { FhirError } from '../../outcome.ts';
import { type BulkheadLoad, DatabaseError, endsAt } from '../../sql/database.ts';
import type { AppParts, HttpEnv } from '../context.ts';
import { refuse } from './refuse.ts';

/** Characters of the whole URL. Longer searches go into the body of `POST [type]/_search`. */
export const URL_LENGTH = 8000;

/** 414 for a URL beyond URL_LENGTH. */
export const limitUrl = createMiddleware<HttpEnv>(async (c, next) => {
  if (c.req.url.length <= URL_LENGTH) return next();
  return refuse(
    c,
    414,
    'too-long',
    `The URL has more than ${URL_LENGTH} characters; send the parameters as the body of POST [type]/_search`,
  );
});

/**
 * While access is open, only requests addressed to loopback (or to BASE_URL) are answered: otherwise any web page could
 * point its own name at 127.0.0.1 and read everything through the visitor's browser (DNS rebinding).
 */
export function guardHost(parts: Pick<AppParts, 'config'>) {
  const isOwn = ownHost(parts);
  const asked: BoundedCache<{ readonly own: boolean }> = boundedCache(100);
  return createMiddleware<HttpEnv>(async (c, next) => {
    const { url } = c.req;
    const origin = url.slice(0, url.indexOf('/', url.indexOf('//') + 2));
    if (asked.get(origin, () => ({ own: isOwn(new URL(url).hostname) })).own) return next();
    return refuse(c, 421, 'wrong-host', 'Host: expected the name of this server (localhost or that of BASE_URL)');
  });
}

/** Whether requests to a host name are answered. */
export function ownHost({ config }: Pick<AppParts, 'config'>): (hostname: string) => boolean {
  const own = config.baseUrl === undefined ? undefined : new URL(config.baseUrl).hostname;
  return hostname => config.access !== 'open' || hostname === own || isLoopback(hostname);
}

/** Gives the request a signal that aborts when the client has gone or the time is over. */
export function limitTime({ config }: Pick<AppParts, 'config'>) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const abort = new AbortController();
    endsAt(abort.signal, performance.now() + config.timeout.request);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      abort.abort();
    }, config.timeout.request);
    const outgoing = c.env?.outgoing;
    if (outgoing === undefined) c.req.raw.signal.addEventListener('abort', () => abort.abort(), { once: true });
    else outgoing.once('close', () => outgoing.writableFinished || abort.abort());
    c.set('timedOut', () => late);
    c.set('signal', abort.signal);
    await next();
    clearTimeout(timer);
  });
}

/** First come, first served. */
export interface Places {
  /**
   * Resolves to the function that gives the place back. Rejects with DatabaseError where too many wait, or the signal
   * aborts.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  load(): BulkheadLoad;
  /** All places are taken, and for long nobody has given one back. */
  isStalled?(): boolean;
}

export interface Admission {
  /** For all that is read from the database, requests of a batch among them. */
  readonly answers: Places;
  /** For batches, which keep all their answers until the last is there. */
  readonly batches: Places;
}

/** Seconds after which there may be a place. */
const RETRY_AFTER = 1;

/** Without places nobody waits. Throws FhirError `transient` (503) where too many wait already. */
export async function admitted<T>(
  places: Places | undefined,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (places === undefined) return work();
  const leave = await places.enter(signal).catch(full);
  try {
    return await work();
  } finally {
    leave();
  }
}

function full(error: unknown): never {
  if (!(error instanceof DatabaseError) || error.reason !== 'unavailable') throw error;
  throw new FhirError('overload', 'Too much is asked at a time; try again later', {
    retryAfter: error.retryAfter ?? RETRY_AFTER,
  });
}
