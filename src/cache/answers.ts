/**
 * Caches finished answers; equal requests at the same time make one answer (single-flight). In: a key, and how to make
 * the answer. Out: the answer, and whether it was cached.
 *
 * An answer expires `maxAge` after its first statement was sent, so no change of the database is hidden longer. It
 * expires earlier if a table that it was read from has another watermark; watermarks are read once per `interval`. It
 * expires after `ttl` if one of its tables has no watermark or its rows depend on the time of day.
 */
import { performance } from 'node:perf_hooks';
import type { Access } from '../auth/access.ts';
import { type BoundedCache, boundedCache, memoized, type WeighedCache, weighedCache } from '../common/caches.ts';
import type { SqlPlan } from '../sql/plan.ts';
import type { Freshness } from './freshness.ts';
import { createSingleFlight, orCancelled, type SingleFlight } from './single-flight.ts';
import { eachTable, type Marks } from './watermarks.ts';

export interface AnswerLimits {
  /** Bytes of all answers. */
  readonly bytes: number;
  /** Milliseconds. */
  readonly maxAge: number;
  readonly ttl: number;
  readonly interval: number;
}

/** A cached value, which may hold more bytes later (`AnswerCache.grown`). */
export interface Weighed {
  readonly bytes: number;
}

/** Notes a table that the answer is read from. */
export type Touch = (table: string) => void;

export interface AnswerRequest<A extends Weighed> {
  /** Everything that the answer depends on, except the database. */
  readonly key: string;
  /** Requests of one kind usually read the same tables. */
  readonly kind: string;
  readonly freshness: Freshness;
  readonly signal: AbortSignal | undefined;
  /** The client's limits: maximum age in milliseconds, and whether the answer must not be cached. */
  readonly maxAge?: number;
  readonly noStore?: boolean;
  make(signal: AbortSignal, touch: Touch): Promise<A>;
}

/** Where an answer came from. RFC 9211 */
export type AnswerOrigin =
  /** From the cache; it expires within `ttl` milliseconds. */
  | { readonly kind: 'hit'; readonly ttl: number }
  /** Made, because the cache had none, it had expired, or the client wanted none. */
  | {
      readonly kind: 'made';
      readonly why: 'miss' | 'stale' | 'request';
      readonly stored: boolean;
      readonly collapsed: boolean;
    };

export interface Answered<A> {
  readonly answer: A;
  readonly origin: AnswerOrigin;
}

export interface AnswerCounters {
  readonly hits: number;
  /** Answers made because the cache had none, it had expired, or the client wanted none. */
  readonly misses: number;
  readonly stale: number;
  readonly refused: number;
  /** How many of these shared an answer that was being made for another request. */
  readonly collapsed: number;
  readonly stored: number;
  readonly tooLarge: number;
  readonly evicted: number;
  /** In the cache now. */
  readonly entries: number;
  readonly bytes: number;
}

export interface AnswerCache<A extends Weighed> {
  /**
   * Switches to these mappings and drops all other answers: nobody requests those of replaced mappings, and each holds
   * on to data about their tables, whose size is not counted.
   */
  serve(freshness: Freshness): void;
  answer(request: AnswerRequest<A>): Promise<Answered<A>>;
  /**
   * Returns a cached answer that is valid without asking the database, with the maximum milliseconds until it expires.
   */
  ready(key: string): { readonly answer: A; readonly ttl: number } | undefined;
  /** Counts a sent answer of `ready` as a hit. */
  sent(): void;
  /** Notes that an answer has more bytes than when it was made. */
  grown(key: string, answer: A): void;
  counters(): AnswerCounters;
}

interface Entry<A> {
  readonly answer: A;
  /** Watermarks of the tables that it was read from. */
  readonly marks: Marks;
  /** Time before the first statement: as an instant, and as a moment of the watermarks. */
  readonly born: number;
  readonly moment: number;
  /** Instant of expiry. */
  readonly ends: number;
  /** Approximate instant of its last use. */
  used: number;
}

interface Made<A> {
  readonly answer: A;
  readonly stored: boolean;
}

/** Milliseconds within which further uses of an entry are not recorded. */
const NOTED = 100;

/** Notes the tables of each plan that is sent. */
export function hearPlans(touch: Touch): (plan: SqlPlan) => void {
  return plan => {
    for (const table of tablesIn(plan)) touch(table);
  };
}

/** Cached by plan, because plans are reused for repeated requests. */
const tablesIn = memoized((plan: SqlPlan): ReadonlySet<string> => {
  const tables = new Set<string>();
  eachTable(plan, table => tables.add(table));
  return tables;
});

/** Maximum number of kinds whose tables are remembered. */
const KINDS = 1000;

/** Makes the cache. `clock`: milliseconds of a monotonic clock. */
export function createAnswerCache<A extends Weighed>(
  { bytes, maxAge, ttl, interval }: AnswerLimits,
  clock: () => number = () => performance.now(),
): AnswerCache<A> {
  const count = { hits: 0, misses: 0, stale: 0, refused: 0, collapsed: 0, stored: 0, tooLarge: 0, evicted: 0 };
  const kept: WeighedCache<Entry<A>> = weighedCache(bytes, () => count.evicted++);
  const underWay: SingleFlight<Made<A>> = createSingleFlight(clock);
  let served: Freshness | undefined;
  const tablesOfKinds: BoundedCache<{ tables: ReadonlySet<string> }> = boundedCache(KINDS);

  const hitOf = ({ answer, ends }: Entry<A>, now: number): Answered<A> => {
    count.hits++;
    return { answer, origin: { kind: 'hit', ttl: ends - now } };
  };

  const stateOf = ({ marks, moment, ends }: Entry<A>, now: number) =>
    now >= ends ? 'changed' : marks.since(moment, now - interval);

  /** True if the entry is certainly unchanged; reads watermarks if necessary. */
  const surely = async (entry: Entry<A>, now: number, signal: AbortSignal | undefined): Promise<boolean> => {
    const state = stateOf(entry, now);
    if (state !== 'unknown') return state === 'unchanged';
    await orCancelled(entry.marks.ask(now - interval), signal);
    return stateOf(entry, clock()) === 'unchanged';
  };

  const keep = (key: string, entry: Entry<A>): boolean => {
    const known = kept.peek(key);
    if (known && known.moment > entry.moment) return false;
    const stored = kept.keep(key, entry, entry.answer.bytes);
    if (stored) count.stored++;
    else count.tooLarge++;
    return stored;
  };

  const make = async (request: AnswerRequest<A>, signal: AbortSignal): Promise<Made<A>> => {
    const { key, freshness } = request;
    const { watermarks, timed } = freshness;
    const kind = tablesOfKinds.get(request.kind, () => ({ tables: new Set() }));
    // Watermarks have to be known before the answer is read. Otherwise a change during the reading would look like one
    // before it.
    await watermarks.of(kind.tables).ask(clock() - interval);
    const [born, moment] = [clock(), watermarks.moment()];
    const tables = new Set<string>();
    const answer = await request.make(signal, table => tables.add(table));
    kind.tables = tables;
    const watched = [...tables].every(table => watermarks.watches(table) && !timed.has(table));
    const ends = born + (watched ? maxAge : Math.min(ttl, maxAge));
    const entry = { answer, marks: watermarks.of(tables), born, moment, ends, used: born };
    return { answer, stored: served === freshness && keep(key, entry) };
  };

  return {
    serve(freshness) {
      served = freshness;
      kept.clear();
    },
    async answer(request) {
      const { key, signal, noStore = false, maxAge: oldest = Number.POSITIVE_INFINITY } = request;
      if (noStore) {
        count.refused++;
        const answer = await request.make(signal ?? new AbortController().signal, () => {});
        return { answer, origin: made('request', false, false) };
      }
      const now = clock();
      let why: 'miss' | 'stale' | 'request' = 'miss';
      const entry = kept.find(key);
      if (entry) {
        if (now - entry.born > oldest || oldest === 0) why = 'request';
        else if (await surely(entry, now, signal)) return hitOf(entry, now);
        else why = 'stale';
        if (why === 'stale' && kept.peek(key) === entry) kept.drop(key);
      } else if (oldest === 0) why = 'request';
      count[COUNTED[why]]++;
      const youngest = Math.min(interval, oldest);
      const flight = underWay.take(
        key,
        signal,
        begun => clock() - begun < youngest,
        flying => make(request, flying),
      );
      if (flight.joined) count.collapsed++;
      const { answer, stored } = await flight.promise;
      return { answer, origin: made(why, stored, flight.joined) };
    },
    ready(key) {
      const entry = kept.peek(key);
      if (!entry) return undefined;
      const now = clock();
      // Its use need not be recorded each time.
      if (now - entry.used > NOTED) {
        entry.used = now;
        kept.find(key);
      }
      return stateOf(entry, now) === 'unchanged' ? { answer: entry.answer, ttl: entry.ends - now } : undefined;
    },
    sent: () => void count.hits++,
    grown(key, answer) {
      const entry = kept.peek(key);
      if (entry?.answer === answer) kept.keep(key, entry, answer.bytes);
    },
    counters: () => ({ ...count, ...kept.size() }),
  };
}

const COUNTED = { miss: 'misses', stale: 'stale', request: 'refused' } as const;

function made(why: 'miss' | 'stale' | 'request', stored: boolean, collapsed: boolean): AnswerOrigin {
  return { kind: 'made', why, stored, collapsed };
}

export interface AnswerKey {
  /** Version of the mappings. */
  readonly version: string;
  readonly access: Access;
  /** Absolute base of the interface, which links and references contain. */
  readonly base: string;
  readonly handling: 'strict' | 'lenient';
  readonly accept: string | undefined;
  /** Path and query, as they were sent. */
  readonly target: string;
}

/**
 * Returns a text of everything that the answer depends on, except the database. No part can contain the line feeds that
 * separate them, because header values and URLs have none. The few combinations of the parts before the URL become a
 * number, because each lookup hashes the whole key.
 */
export function answerKey({ version, access, base, handling, accept = '', target }: AnswerKey): string {
  const stem = `${version}\n${accessKey(access)}\n${base}\n${handling}\n${accept}`;
  return `${numbers.get(stem, () => ({ number: ++last })).number}\n${target}`;
}

/** A stem that was evicted gets a new number, never one that another stem had: its answers are made again. */
const numbers: BoundedCache<{ readonly number: number }> = boundedCache(10_000);
let last = 0;

/**
 * Returns equal keys for equal access only: no answer ever goes to a caller who may see more or less. Access objects
 * live as long as a session.
 */
const accessKey = memoized((access: Access) => JSON.stringify(access));
