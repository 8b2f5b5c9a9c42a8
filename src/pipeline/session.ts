/** Defines what the stages of one request share when they query the database, and how large its answer may become. */
import { type Awaitable, andEnd } from '../common/awaitable.ts';
import type { Registry } from '../mapping/model.ts';
import { type Stages, UNTIMED } from '../observe/statements.ts';
import { FhirError } from '../outcome.ts';
import type { Environment } from '../plan/environment.ts';
import { cancelled, type Database, type QueryOptions } from '../sql/database.ts';
import type { PlaceholderValues, Row, SqlPlan } from '../sql/plan.ts';
import type { ByteLimit } from '../sql/row-limits.ts';
import type { Shapes } from './shapes.ts';

/** The database as one request sees it: every statement is counted, and ends with the request. */
export interface Session {
  readonly registry: Registry;
  readonly env: Environment;
  readonly shapes: Shapes;
  readonly stages: Stages;
  /** How large the answer may become; undefined: no limit, for commands. */
  readonly room: Room | undefined;
  /**
   * Runs a plan. `mapping`: the one that the rows belong to or are needed for. `placeholders`: for a plan that is
   * reused. `bytes` limits its rows.
   */
  query(plan: SqlPlan, mapping: string, placeholders?: PlaceholderValues, bytes?: ByteLimit): Awaitable<readonly Row[]>;
  /** Like Database.stream; `mapping` and `bytes` as in `query`. */
  stream(
    plan: SqlPlan,
    size: number,
    mapping: string,
    placeholders?: PlaceholderValues,
    bytes?: ByteLimit,
  ): AsyncIterable<readonly Row[]>;
}

/** How large the answer of one request may become. */
export interface Room {
  /** Bytes of the largest resource. */
  readonly most: number;
  /** Bytes of a page, unless one resource alone has more. */
  readonly page: number;
  /** Bytes up to which an answer is small. More needs a turn. */
  readonly small: number;
  /** True if the request has a turn. */
  readonly isLarge: boolean;
  /** Waits for a turn to make a large answer; does nothing if the request has one. */
  enlarge(): Promise<void>;
  /** Passes the turn on. */
  leave(): void;
}

/** A statement for child rows had more bytes than the resources around them may have. */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';
}

/** Returns the error for a resource that is larger than the largest that is sent. */
export function tooLarge(type: string): FhirError {
  const cure = 'raise ANSWER_SIZE, or ask for fewer elements with _elements';
  return new FhirError('too-large', `A ${type} is larger than this server sends; ${cure}`);
}

/** Makes the Room of each request. */
export type Rooms = (signal: AbortSignal | undefined) => Room;

/** A page has at most this share of the bytes of the largest resource. */
const PAGE_SHARE = 4;
/** A small answer has at most this share. */
const SMALL_SHARE = 32;
/** Limit of large answers that are made at a time: each takes several times its bytes of memory. */
const LARGE_AT_ONCE = 4;

/** A class, because every read makes one: V8 makes a hidden class for each object literal with a getter. */
class RequestRoom implements Room {
  readonly most: number;
  readonly page: number;
  readonly small: number;
  isLarge = false;
  readonly #turn: () => Promise<void>;
  readonly #pass: () => void;

  constructor(
    { most, page, small }: Pick<Room, 'most' | 'page' | 'small'>,
    turn: () => Promise<void>,
    pass: () => void,
  ) {
    this.most = most;
    this.page = page;
    this.small = small;
    this.#turn = turn;
    this.#pass = pass;
  }

  async enlarge(): Promise<void> {
    if (this.isLarge) return;
    await this.#turn();
    this.isLarge = true;
  }

  leave(): void {
    if (this.isLarge) this.#pass();
    this.isLarge = false;
  }
}

/** Creates the rooms of a server. `most`: bytes of the largest resource. */
export function createRooms(most: number): Rooms {
  const waiting = new Set<() => void>();
  let taken = 0;
  const pass = (): void => {
    const [next] = waiting;
    if (next) next();
    else taken--;
  };
  const turn = (signal: AbortSignal | undefined): Promise<void> => {
    if (taken < LARGE_AT_ONCE) {
      taken++;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        waiting.delete(admit);
        reject(cancelled());
      };
      const admit = (): void => {
        waiting.delete(admit);
        signal?.removeEventListener('abort', aborted);
        resolve();
      };
      if (signal?.aborted) return reject(cancelled());
      waiting.add(admit);
      signal?.addEventListener('abort', aborted, { once: true });
    });
  };
  const bounds = { most, page: Math.ceil(most / PAGE_SHARE), small: Math.ceil(most / SMALL_SHARE) };
  return signal => new RequestRoom(bounds, () => turn(signal), pass);
}

export interface SessionOptions extends Pick<QueryOptions, 'signal' | 'bulkhead'> {
  readonly onQuery?: ((plan: SqlPlan, placeholders?: PlaceholderValues, now?: number) => void) | undefined;
  readonly stages?: Stages | undefined;
  readonly room?: Room | undefined;
}

/** Limit of concurrent statements of a request, so that one with a hundred statements leaves connections to others. */
const STATEMENTS_AT_ONCE = 4;

export function openSession(
  database: Database,
  env: Environment,
  shapes: Shapes,
  { stages = UNTIMED, onQuery, signal, bulkhead, room }: SessionOptions,
): Session {
  const inTurn = limitConcurrency(STATEMENTS_AT_ONCE);
  const { now } = env;
  return {
    registry: env.registry,
    env,
    shapes,
    stages,
    room,
    query(plan, mapping, placeholders, bytes) {
      onQuery?.(plan, placeholders, now);
      const how = { signal, bulkhead, mapping, placeholders, now, bytes };
      return inTurn(() => stages.statement(mapping, () => database.query(plan, how)));
    },
    stream(plan, size, mapping, placeholders, bytes) {
      onQuery?.(plan, placeholders, now);
      return database.stream(plan, size, { signal, bulkhead, mapping, placeholders, now, bytes });
    },
  };
}

/** Returns a function that runs at most `most` tasks at a time; others wait (FIFO). */
export function limitConcurrency(most: number): <T>(work: () => Awaitable<T>) => Awaitable<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const leave = (): void => {
    const next = waiting.shift();
    // Passes the free slot straight to the next waiter, so that a later caller cannot take it.
    if (next) next();
    else running--;
  };
  return work => {
    if (running === most) return new Promise<void>(resolve => waiting.push(resolve)).then(() => andEnd(work, leave));
    running++;
    return andEnd(work, leave);
  };
}
