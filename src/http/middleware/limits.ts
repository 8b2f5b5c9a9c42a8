/**
 * Limits what the server takes on: refuses long addresses, foreign Host headers and slow requests before any work is
 * done, and makes only so many answers at a time as machine and database can bear (AIMD), with a short queue. Each
 * answer holds its rows in memory while it waits for the database.
 */

import { createMiddleware } from 'hono/factory';
import { type BoundedCache, boundedCache } from '../../cache/bounded.ts';
import { isLoopback } from '../../common/loopback.ts';
import { type Queue, waitIn } from '../../common/waiting.ts';
import { FhirError } from '../../outcome.ts';
import { type BulkheadLoad, cancelled, DatabaseError, endsAt } from '../../sql/database.ts';
import { retryIn } from '../../sql/retry-after.ts';
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

/** Without places nobody waits. Throws FhirError `overload` (503) where too many wait already. */
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
  /** Places at most, and at least. */
  readonly most: number;
  readonly least: number;
  /** That wait for a place, at most. */
  readonly queue: number;
  /** Milliseconds that one waits at most. */
  readonly wait: number;
}

export interface OpenPlaces extends Places {
  /** More wait already than could be served before they have waited too long. */
  isFull(): boolean;
  isStalled(): boolean;
}

/** Milliseconds: beyond, an answer took long; and of a moment, which has some answers at least. */
const TARGET = 500;
const MOMENT = 100;
const SOME = 5;
/** Milliseconds without any answer, with all places taken. */
const STALLED = 10_000;

/**
 * Slots for answers. The limit falls after an interval in which most answers were slow, and rises if requests waited
 * and most were quick. A request that could not be answered in time is refused before any work is done for it. `clock`:
 * milliseconds that never go back.
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
  /** Answers in a millisecond; undefined before the first moment is over. */
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
        waitIn(waiting, {
          ...{ of: undefined, milliseconds: wait, signal, late: refuse },
          admitted: () => resolve(take()),
          aborted: () => reject(cancelled()),
        });
      });
    },
  };
}
