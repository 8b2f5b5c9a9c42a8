/**
 * Defines a SELECT, complete and independent of dialects. src/plan makes it, and each engine renders it; it knows no
 * FHIR.
 */

import type { ColumnType } from './column-type.ts';
import type { Expression, Moment, Order, Relation, SqlValue } from './expression.ts';

export interface SqlPlan {
  readonly from: Relation;
  /** One per position of the row; the dialect decides in which form each is fetched. */
  readonly columns: readonly Expression[];
  readonly orderBy: readonly Order[];
  /** Limit of rows; every plan that returns rows of a legacy table has one. */
  readonly limit: number;
  /** Set if each use supplies its own limit: the number of the placeholder. */
  readonly limitPlaceholder?: number | undefined;
  /**
   * `count`: one row with the number of rows, or with the number of true flags among `columns` if there are any.
   * `groups`: one row per combination of `columns` (text compared as in `equals`), ended by the number of its rows,
   * largest first. `tally`: one row with the number of such combinations and the number of rows. `sums`: one row with
   * the number of rows, then for each of `columns`, which are flags, the number of rows where it is true.
   */
  readonly shape: 'rows' | 'count' | 'groups' | 'tally' | 'sums';
  /** True if the engine may read many rows of which few match; otherwise rows are found by their keys. */
  readonly searches?: true;
  /**
   * For `rows`: columns arrive as the database stores them, not in the forms of Row; checks compare resources with
   * these. SQLite returns numbers, text and bytes whatever the column declares (whole numbers beyond 2^53 as text), SQL
   * Server its own text of each value, bytes, and numbers of floats.
   */
  readonly stored?: true;
  /** For `groups`: the least number of rows of a combination. Default 1. */
  readonly least?: number;
}

/** A rendered statement; `text` depends only on the shape of the plan, and all values are bound. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

export interface Parameter {
  readonly name: string;
  readonly value: SqlValue;
  readonly type: ColumnType;
  /** Set if each use supplies the value: which it is, its type, and the type of its other operand, if any. */
  readonly placeholder?: { readonly at: number | Moment; readonly type: ColumnType; readonly against?: ColumnType };
}

/** The values that one use of a plan supplies. */
export type PlaceholderValues = readonly SqlValue[];

/**
 * A row as it arrives: text columns as stored, integers and floats as number (64 bits: text), decimals and dates as
 * text (`12.50`, `2024-03-10 02:30:00.000`, `2024-03-10`), bit and flags as 0 or 1, uniqueidentifier as upper-case
 * text, binary as Uint8Array.
 */
export type Row = readonly SqlValue[];
