/**
 * A SELECT, complete and independent of dialects. src/plan makes it, and each engine renders it; it knows no FHIR.
 */

import type { ColumnType } from './column-type.ts';
import type { Expression, Moment, Order, Relation, SqlValue } from './expression.ts';

export interface SqlPlan {
  readonly from: Relation;
  /** One per position of the row; the dialect decides in which form each is fetched. */
  readonly columns: readonly Expression[];
  readonly orderBy: readonly Order[];
  /** Rows at most; every plan that returns rows of a legacy table has one. */
  readonly limit: number;
  /** Each use brings its own limit along: which of the values it is. */
  readonly limitPlaceholder?: number | undefined;
  /**
   * `count`: one row with the number of rows, or of true flags among `columns` if there are any. `groups`: one row per
   * combination of `columns` (text is equal as in `equals`), ended by the number of rows that have it, largest first.
   * `tally`: one row with the number of such combinations and the number of rows, however many there are. `sums`: one
   * row with the number of rows, then for each of `columns`, which are flags, the number of rows where it is true.
   */
  readonly shape: 'rows' | 'count' | 'groups' | 'tally' | 'sums';
  /** Many rows may be read of which few or none are wanted; else they are found by their keys. */
  readonly searches?: true;
  /**
   * Of `rows`: columns arrive as the database holds them, past every form of Row: what a check compares resources with.
   * SQLite gives numbers, text and bytes whatever the column declares (whole numbers beyond 2^53 as text), SQL Server
   * its own text of each value, bytes, and numbers of floats.
   */
  readonly stored?: true;
  /** Of `groups`: only combinations that at least so many rows have. Default 1. */
  readonly least?: number;
}

/** A rendered statement; `text` depends only on the shape of the plan, all values are bound. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

export interface Parameter {
  readonly name: string;
  readonly value: SqlValue;
  readonly type: ColumnType;
  /**
   * Of a value that each use brings along: which it is, its type, and that of what it is compared with, if anything.
   */
  readonly placeholder?: { readonly at: number | Moment; readonly type: ColumnType; readonly against?: ColumnType };
}

/** The values that one use of a plan brings along. */
export type PlaceholderValues = readonly SqlValue[];

/**
 * A row as it arrives: text of text columns as stored, integers and floats as number (64 bits: text), decimals and
 * dates as text (`12.50`, `2024-03-10 02:30:00.000`, `2024-03-10`), bit and flags as 0 or 1, uniqueidentifier as
 * upper-case text, binary as Uint8Array.
 */
export type Row = readonly SqlValue[];
