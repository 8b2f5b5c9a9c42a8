/**
 * Limits the server's load: refuses long URLs, foreign Host headers and slow requests before any work is done, and
 * limits the answers made at a time to what machine and database can bear (AIMD), with a short queue. Each answer holds
 * its rows in memory while it waits for the database.
 */

import { createMiddleware } from 'hono/factory';
import { type BoundedCache, boundedCache } from '../../common/caches.ts';
import { isLoopback } from '../../common/loopback.ts';
import { enqueue, type Queue } from '../../common/waiting.ts';
import { FhirError } from '../../outcome.ts';
import { type BulkheadLoad, cancelled, DatabaseError, endsAt } from '../../sql/database.ts';
import { retryIn } from '../../sql/retry-after.ts';
import type { AppParts, HttpEnv } from '../context.ts';
import { refuse } from './refuse.ts';

/** Maximum characters of the whole URL. Longer searches go into the body of `POST [type]/_search`. */
export const URL_LENGTH = 8000;

/** Answers 414 for a URL longer than URL_LENGTH. */
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
 * Answers only requests addressed to loopback (or to BASE_URL) while access is open: otherwise any web page could point
 * its own name at 127.0.0.1 and read everything through the visitor's browser (DNS rebinding).
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

/** Returns a test for the host names to which requests are answered. */
export function ownHost({ config }: Pick<AppParts, 'config'>): (hostname: string) => boolean {
  const own = config.baseUrl === undefined ? undefined : new URL(config.baseUrl).hostname;
  return hostname => config.access !== 'open' || hostname === own || isLoopback(hostname);
}

/** Gives the request a signal that aborts when the client disconnects or the time is over. */
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

/** Slots, given in order of arrival. */
export interface Places {
  /**
   * Resolves to the function that releases the slot. Rejects with DatabaseError if too many wait or the signal aborts.
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  load(): BulkheadLoad;
  /** True if all slots have been taken for long without any release. */
  isStalled?(): boolean;
}

export interface Admission {
  /** For all reads of the database, including the requests of a batch. */
  readonly answers: Places;
  /** For batches, which keep all their answers until the last is ready. */
  readonly batches: Places;
}

/** Seconds after which a slot may be free. */
const RETRY_AFTER = 1;

/**
 * Runs `work` in a slot, or at once if `places` is undefined. Throws FhirError `overload` (503) if too many wait
 * already.
 */
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
  throw new FhirError('overload', 'Too many requests; try again later', {
    retryAfter: error.retryAfter ?? RETRY_AFTER,
  });
}

export interface PlacesOptions {
  /** Maximum and minimum number of slots. */
  readonly most: number;
  readonly least: number;
  /** Maximum number of waiting requests. */
  readonly queue: number;
  /** Maximum milliseconds that a request waits. */
  readonly wait: number;
}

export interface OpenPlaces extends Places {
  /** True if more requests wait than could be served within their maximum wait. */
  isFull(): boolean;
  isStalled(): boolean;
}

/**
 * TARGET: milliseconds after which an answer counts as slow. An interval lasts at least MOMENT milliseconds, and SOME
 * answers.
 */
const TARGET = 500;
const MOMENT = 100;
const SOME = 5;
/** Milliseconds without any answer while all slots are taken. */
const STALLED = 10_000;

/**
 * Creates slots for answers. The limit falls after an interval in which most answers were slow, and rises if requests
 * waited and most were quick. A request that could not be answered in time is refused before any work is done. `clock`:
 * milliseconds of a monotonic clock.
 */
export function createPlaces(
  { most, least, queue, wait }: PlacesOptions,
  clock: () => number = () => performance.now(),
): OpenPlaces {
  const waiting: Queue<undefined> = new Map();
  let size = most;
  let taken = 0;
  let refused = 0;
  let lastLeft = clock();
  /** Answers per millisecond; undefined before the end of the first interval. */
  let pace: number | undefined;
  let moment = { begun: clock(), ended: 0, slow: 0 };

  const learn = (took: number, now: number): void => {
    moment.ended++;
    if (took > TARGET) moment.slow++;
    if (now - moment.begun < MOMENT || moment.ended < SOME) return;
    pace = moment.ended / (now - moment.begun);
    if (moment.slow * 2 > moment.ended) size = Math.max(least, Math.floor(size * 0.8));
    else if (waiting.size > 0) size = Math.min(most, size + Math.ceil(size / 8));
    moment = { begun: now, ended: 0, slow: 0 };
  };

  const take = (): (() => void) => {
    if (taken === 0) moment = { begun: clock(), ended: 0, slow: 0 };
    taken++;
    const begun = clock();
    let left = false;
    return () => {
      if (left) return;
      left = true;
      taken--;
      lastLeft = clock();
      learn(lastLeft - begun, lastLeft);
      for (const admit of waiting.keys()) {
        if (taken >= size) return;
        admit();
      }
    };
  };

  const isFull = (): boolean =>
    waiting.size >= queue || (pace !== undefined && waiting.size > Math.max(least, pace * wait));

  return {
    load: () => ({ size, taken, waiting: waiting.size, refused }),
    isFull,
    isStalled: () => taken >= size && clock() - lastLeft > STALLED,
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(cancelled());
        if (taken < size) {
          if (taken === 0) lastLeft = clock();
          return resolve(take());
        }
        const refuse = (): void => {
          refused++;
          reject(new DatabaseError('unavailable', 'too much is asked at a time', { retryAfter: retryIn(RETRY_AFTER) }));
        };
        if (isFull()) return refuse();
        enqueue(waiting, {
          ...{ of: undefined, milliseconds: wait, signal, late: refuse },
          admitted: () => resolve(take()),
          aborted: () => reject(cancelled()),
        });
      });
    },
  };
}
