/**
 * Says whether tables have changed since a moment, by watermarks: the greatest `changed` of each table, read once per
 * interval. In: how to read a watermark, and tables. Out: `unchanged`, `changed` or `unknown`.
 *
 * A watermark is compared with the one before it, never with a clock, so a database whose clock differs does no harm.
 * It does not show deleted rows, a transaction that commits late with an older time, or the hour that is repeated when
 * clocks are set back. Because of these, answers.ts keeps no answer longer than a set time.
 */
import { tableKey } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { walk } from '../sql/walk.ts';

export interface Watermarks {
  /** True if the table has a watermark; nothing is known of other tables. */
  watches(table: string): boolean;
  /**
   * Returns the present as a moment: later than every watermark seen so far, earlier than every one seen from now on.
   */
  moment(): number;
  /** Returns the watermarks of the watched ones among these tables. */
  of(tables: Iterable<string>): Marks;
  /** Returns the number of statements sent so far. */
  statements(): number;
}

/** The watermarks of some tables together. */
export interface Marks {
  /**
   * Says whether a table has changed since the moment. Uses only watermarks read at or after the instant `asOf`;
   * `unknown` if one is older.
   */
  since(moment: number, asOf: number): 'unchanged' | 'changed' | 'unknown';
  /**
   * Reads watermarks that are older than `asOf`, which is not in the future. Never rejects: a table that cannot be read
   * counts as changed.
   */
  ask(asOf: number): Promise<void>;
}

interface Watched {
  readonly read: () => Promise<string>;
  /** Instant at which the latest watermark was requested. */
  asked: number;
  /** Moment at which its value was first seen. */
  seen: number;
  mark: string | undefined;
  underWay: Promise<void> | undefined;
}

const NEVER = Number.NEGATIVE_INFINITY;
const UNSEEN = Number.POSITIVE_INFINITY;

/** Makes the watermarks. `read`: reads that of each watched table; `clock`: milliseconds of a monotonic clock. */
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
      // The query that the answer then needs reports the database's error.
      mark = undefined;
    }
    // A value counts from the moment it was seen: data that was read before may be older.
    if (mark === undefined) state.seen = UNSEEN;
    else if (mark !== state.mark) state.seen = ++moments;
    state.mark = mark;
    state.asked = began;
    state.underWay = undefined;
  };

  const askSince = async (state: Watched, asOf: number): Promise<void> => {
    // If the running statement began too early, waits for it before sending the next: one at a time per table.
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

/** Stands for the tables that an expression in raw SQL reads; no table has this name. */
export const HIDDEN_TABLE = '(sql)';

/** Calls `take` for each occurrence of a table in the plan, possibly several times for one table. */
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
