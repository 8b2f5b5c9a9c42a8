/**
 * Says whether tables have changed since a moment, by watermarks: the greatest `changed` of each table, asked once per
 * interval. In: how to ask, and tables. Out: `unchanged`, `changed` or `unknown`.
 *
 * A mark is compared with the mark before it, never with a clock, so a database whose clock differs does no harm. A
 * greatest value does not show deleted rows, a transaction that commits late with an older time, or an hour that the
 * clocks repeat. For these answers.ts keeps nothing longer than a set time.
 */
import { tableKey } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { walk } from '../sql/walk.ts';

export interface Watermarks {
  /** Tables that have no mark are not watched: of those nothing is known. */
  watches(table: string): boolean;
  /** The present as a moment: later than every mark seen so far, earlier than every mark seen from now on. */
  moment(): number;
  /** Of the watched ones among the tables. */
  of(tables: Iterable<string>): Marks;
  /** Statements sent so far. */
  statements(): number;
}

/** What is known of some tables together. */
export interface Marks {
  /**
   * Whether one has changed since the moment, as far as marks say that were asked for at the instant `asOf` or later;
   * `unknown` where they are older.
   */
  since(moment: number, asOf: number): 'unchanged' | 'changed' | 'unknown';
  /**
   * Asks for marks that are older than `asOf`, which is not in the future. Never rejects: a table that cannot be asked
   * counts as changed.
   */
  ask(asOf: number): Promise<void>;
}

interface Watched {
  readonly read: () => Promise<string>;
  /** Instant at which the latest mark was asked for. */
  asked: number;
  /** Moment at which its value was first seen. */
  seen: number;
  mark: string | undefined;
  underWay: Promise<void> | undefined;
}

const NEVER = Number.NEGATIVE_INFINITY;
const UNSEEN = Number.POSITIVE_INFINITY;

/** `read` gives the mark of each watched table; `clock`: milliseconds that never go back. */
export function createWatermarks(read: ReadonlyMap<string, () => Promise<string>>, clock: () => number): Watermarks {
  const states = new Map<string, Watched>(
    [...read].map(([table, readMark]) => [
      table,
      { read: readMark, asked: NEVER, seen: UNSEEN, mark: undefined, underWay: undefined },
    ]),
  );
  let moments = 0;
  let statements = 0;

  const askOne = async (state: Watched, began: number): Promise<void> => {
    statements++;
    let mark: string | undefined;
    try {
      mark = await state.read();
    } catch {
      // What is wrong with the database is told by the query that the answer then needs.
      mark = undefined;
    }
    // A value counts from when it was seen: what was read before may be older than it.
    if (mark === undefined) state.seen = UNSEEN;
    else if (mark !== state.mark) state.seen = ++moments;
    state.mark = mark;
    state.asked = began;
    state.underWay = undefined;
  };

  const askSince = async (state: Watched, asOf: number): Promise<void> => {
    // A mark that was asked for too early is no answer, but the next one waits for it: one at a time per table.
    while (state.asked < asOf) {
      state.underWay ??= askOne(state, clock());
      await state.underWay;
    }
  };

  return {
    watches: table => states.has(table),
    moment: () => ++moments,
    statements: () => statements,
    of(tables) {
      const watched = [...tables].flatMap(table => states.get(table) ?? []);
      return {
        since(moment, asOf) {
          let current = true;
          for (const state of watched) {
            if (state.seen > moment) return 'changed';
            if (state.asked < asOf) current = false;
          }
          return current ? 'unchanged' : 'unknown';
        },
        async ask(asOf) {
          await Promise.all(watched.map(state => askSince(state, asOf)));
        },
      };
    },
  };
}

/** Stands for whatever an expression in SQL's own words reads; no table has this name. */
export const HIDDEN_TABLE = '(sql)';

/** Calls `take` for each place where a table stands in the plan; it may be called for one table many times. */
export function eachTable({ from, columns, orderBy }: SqlPlan, take: (table: string) => void): void {
  walk(
    { relations: [from], expressions: [...columns, ...orderBy.map(({ by }) => by)] },
    {
      enter({ table, joins }) {
        take(tableKey(table));
        for (const join of joins) take(tableKey(join.table));
        return true;
      },
      raw(text) {
        if (/\bselect\b/i.test(text)) take(HIDDEN_TABLE);
      },
    },
  );
}
