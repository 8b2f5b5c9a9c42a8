/**
 * The interface of codecs, which turn a column's raw value into a FHIR primitive and back: `decode` emits, `match` is
 * the inverse, `present` says which rows have a value, `order` sorts, `label` is what lineage and messages call it. The
 * law of a codec: for every raw value r and criterion c, `match(x, c)` holds for r exactly if decode(r) exists and
 * satisfies c; `present(x)` holds exactly if decode(r) exists.
 */
import { asItStands } from '../../sql/column-type.ts';
import type { ColumnExpression, Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import type { Clock, Criterion } from '../criterion.ts';
import type { StepOptions } from './text-step.ts';

export type Primitive = string | number | boolean | DecimalText;

/** A decimal whose digits are emitted as they are (`12.50`), not through a binary float. */
export interface DecimalText {
  readonly decimal: string;
}

export interface Codec {
  /** As written in a mapping, for lineage and messages: `ymd8`, `code map sex.code`. */
  readonly label: string;
  /** FHIR primitive types this codec can emit. */
  readonly yields: readonly string[];
  /** How many columns it takes. */
  readonly columns: 1 | 2 | 3;
  /**
   * The value of the raw column values, or undefined where there is none. Rows arrive in the form of src/sql/plan.ts.
   * Few distinct inputs (`small`) let a writer keep the text of earlier results.
   */
  decode(a: SqlValue, b?: SqlValue, c?: SqlValue): Primitive | undefined;
  readonly small?: boolean;
  /** All decoded text is of characters that JSON writes as they are. */
  readonly plain?: true;
  /** What is selected, searched and sorted by instead of the columns as they are; `decode` is given that. */
  readonly reads?: (columns: readonly ColumnExpression[]) => readonly Expression[];
  present(columns: readonly Expression[], clock: Clock): Predicate;
  /** Undefined: this codec has no inverse for such a criterion, so no parameter that needs it is offered. */
  match(columns: readonly Expression[], criterion: Criterion, clock: Clock): Predicate | undefined;
  /** `match` takes the comparator before the number into account; else a Quantity's own `comparator` counts. */
  readonly intervals?: true;
  /** `indexed`: match compares the bare column; `computed`: it computes on it. */
  readonly inverse: 'indexed' | 'computed' | 'none';
  /** Raw values of the first column that are a day alone, `2024-03-14`, where columns do not have it written so. */
  readonly rawsOf?: (day: string) => readonly (string | number)[];
  /** Likewise of what `reads` gives. */
  readonly readsOf?: (day: string) => readonly number[];
  /** How values sort; undefined if they do not. */
  readonly order?: OrderFace;
  /**
   * What the mapping says of it beyond the label, for readings of a value that do not call it (src/law/readings.ts).
   */
  readonly options?: CodecOptions;
}

/** As far as a reading needs them. */
export interface CodecOptions {
  /** `boolean`: the raw values that mean true and false. */
  readonly true?: readonly string[];
  readonly false?: readonly string[];
  /** `date-and-time`: how the time is written. */
  readonly time?: string;
  /** The time of day where none is written. */
  readonly at?: string;
  /** Of packed dates: the year that their years count from. */
  readonly since?: number;
  /** `days`: the day that they count from, as a number of days since 1970-01-01. */
  readonly from?: number;
  /** Times stand behind a point. */
  readonly point?: true;
  /** Dates are a year and the day of it. */
  readonly ordinal?: true;
  /** Text steps before the codec, and the label of the codec itself. */
  readonly steps?: readonly StepOptions[];
  readonly behind?: string;
}

/**
 * Sorting: SQL expressions whose order is the order of the values, and the way of a row's values into a cursor. Keys of
 * all date codecs compare as text (timeKey in stored-time.ts), those of numbers as numbers.
 */
export interface OrderFace {
  /** Of equal keys every value is equal, or pages would continue within them in another order than that of rows. */
  by(columns: readonly Expression[]): readonly Expression[];
  /** The key of a row's values of `by`, which another mapping's rows are merged by; undefined: not comparable. */
  toKey(raws: readonly SqlValue[]): number | string | undefined;
  /**
   * Values of `by`, or of a prefix of it where the rest is NULL, of the first rows whose key is at or after `key`. They
   * have that key exactly if `toKey(fromKey(key)) === key`: then "after the key" is `>`, else it is `>=`. Undefined:
   * the columns hold no such value.
   */
  fromKey(key: number | string): readonly SqlValue[] | undefined;
}

/**
 * The one column of a codec that has exactly one. Throws a RangeError if there is none: the loader counts columns
 * before a codec is used.
 */
export function only(columns: readonly Expression[]): Expression {
  return column(columns, 0);
}

/**
 * The one column as its rows stand, to order by: what is no value of a mixed column is left out by `present`, as all
 * rows without a value are.
 */
export function standing(columns: readonly Expression[]): Expression {
  const of = only(columns);
  return of.kind === 'column' ? { ...of, type: asItStands(of.type) } : of;
}

/** The column at a position. Throws a RangeError if it is missing. */
export function column(columns: readonly Expression[], at: number): Expression {
  const found = columns[at];
  if (!found) throw new RangeError(`a codec requires a column at position ${at + 1}`);
  return found;
}
