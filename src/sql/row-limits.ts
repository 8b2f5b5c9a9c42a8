/**
 * Limits the rows of a statement: their number, for engines where an open statement holds locks, and their bytes. In: a
 * plan, or rows as they arrive. Out: a plan with a smaller limit; or which rows are taken.
 */
import type { PlaceholderValues, Row, SqlPlan } from './plan.ts';

const shortened = new WeakMap<SqlPlan, SqlPlan>();

/**
 * Returns the plan of one list of rows: the plan itself, or one with a smaller limit; always the same object for one
 * plan and size, so that its prepared statement is reused. `placeholders`: the values of the plan's placeholders.
 */
export function listOf(plan: SqlPlan, size: number, placeholders: PlaceholderValues | undefined): SqlPlan {
  const limit = plan.limitPlaceholder === undefined ? plan.limit : Number(placeholders?.[plan.limitPlaceholder]);
  if (limit <= size) return plan;
  const known = shortened.get(plan);
  if (known?.limit === size) return known;
  const list = { ...plan, limit: size, limitPlaceholder: undefined };
  shortened.set(plan, list);
  return list;
}

/**
 * Limits the bytes of the rows of a statement, and says whether rows were left out.
 */
export class ByteLimit {
  /** Bytes of all rows. */
  readonly most: number;
  /** The first rows, which are taken whatever their size. */
  readonly least: number;
  #bytes = 0;
  #rows = 0;
  #reached = false;

  constructor(most: number, least: number) {
    this.most = most;
    this.least = least;
  }

  /** Bytes of the rows that were taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True if a row was left out, so that there are more. */
  get reached(): boolean {
    return this.#reached;
  }

  /** For the engine, before each attempt. */
  begin(): void {
    this.#bytes = 0;
    this.#rows = 0;
    this.#reached = false;
  }

  /** For the engine: counts a row. False if it and all further rows must be left out. */
  takes(row: Row): boolean {
    if (this.#reached) return false;
    const sum = this.#bytes + bytesOf(row);
    this.#reached = this.#rows >= this.least && sum > this.most;
    if (this.#reached) return false;
    this.#rows++;
    this.#bytes = sum;
    return true;
  }
}

/** Returns the approximate bytes of a row: a character of a text counts as one. */
export function bytesOf(row: Row): number {
  let sum = 0;
  for (const value of row) {
    if (typeof value === 'string') sum += value.length;
    else if (value instanceof Uint8Array) sum += value.byteLength;
  }
  return sum;
}
