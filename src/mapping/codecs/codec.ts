/**
 * Defines codecs, which turn a column's raw value into a FHIR primitive and back: `decode` emits, `match` is the
 * inverse, `present` tests which rows have a value, `order` sorts, and `label` names it in lineage and messages. The
 * law of a codec: for every raw value r and criterion c, `match(x, c)` holds for r exactly if decode(r) exists and
 * satisfies c; `present(x)` holds exactly if decode(r) exists.
 */
import { asItStands } from '../../sql/column-type.ts';
import type { ColumnExpression, Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import type { Clock, Criterion } from '../criterion.ts';
import type { StepOptions } from './text-step.ts';

export type Primitive = string | number | boolean | DecimalText;

/** A decimal whose digits are emitted unchanged (`12.50`), not through a binary float. */
export interface DecimalText {
  readonly decimal: string;
}

export interface Codec {
  /** Name as written in a mapping, for lineage and messages: `ymd8`, `code map sex.code`. */
  readonly label: string;
  /** FHIR primitive types that this codec can emit. */
  readonly yields: readonly string[];
  /** Number of columns. */
  readonly columns: 1 | 2 | 3;
  /**
   * Returns the value of the raw column values; undefined if there is none. Rows arrive in the form of src/sql/plan.ts.
   * If there are few distinct inputs (`small`), a writer caches the text of results.
   */
  decode(a: SqlValue, b?: SqlValue, c?: SqlValue): Primitive | undefined;
  readonly small?: boolean;
  /** All decoded text consists of characters that JSON writes unescaped. */
  readonly plain?: true;
  /** Expressions to select, search and sort by instead of the columns; `decode` gets their values. */
  readonly reads?: (columns: readonly ColumnExpression[]) => readonly Expression[];
  present(columns: readonly Expression[], clock: Clock): Predicate;
  /** Undefined: no inverse for such a criterion, so parameters that need it are not offered. */
  match(columns: readonly Expression[], criterion: Criterion, clock: Clock): Predicate | undefined;
  /** `match` respects the comparator before the number. Otherwise a Quantity's own `comparator` counts. */
  readonly intervals?: true;
  /** `indexed`: match compares the bare column. `computed`: it computes on it. */
  readonly inverse: 'indexed' | 'computed' | 'none';
  /** Returns raw values of the first column for a day, `2024-03-14`, if columns store it in another form. */
  readonly rawsOf?: (day: string) => readonly (string | number)[];
  /** Returns the same for the values of `reads`. */
  readonly readsOf?: (day: string) => readonly number[];
  /** How values sort; undefined if they do not. */
  readonly order?: OrderFace;
  /**
   * Options in the mapping beyond the label, for readings of a value that do not call the codec (src/law/readings.ts).
   */
  readonly options?: CodecOptions;
}

/** The options that readings need. */
export interface CodecOptions {
  /** `boolean`: the raw values that mean true and false. */
  readonly true?: readonly string[];
  readonly false?: readonly string[];
  /** `date-and-time`: form of the time. */
  readonly time?: string;
  /** Time of day for values without one. */
  readonly at?: string;
  /** The year that the years of packed dates count from. */
  readonly since?: number;
  /** `days`: the day that they count from, in days since 1970-01-01. */
  readonly from?: number;
  /** Times follow a point. */
  readonly point?: true;
  /** The zone whose clocks show a moment, if it is not that of the pack. */
  readonly clock?: string;
  /** Zones of clocks by the value of the second column. */
  readonly zones?: Readonly<Record<string, string>>;
  /** The part of a day that is written. */
  readonly precision?: 'month' | 'year';
  /** Dates are a year and its day. */
  readonly ordinal?: true;
  /** Text steps before the codec, and the label of the codec itself. */
  readonly steps?: readonly StepOptions[];
  readonly codecLabel?: string;
}

/**
 * Sorts values: SQL expressions in the order of the values, and the conversion of a row's values to a cursor. Keys of
 * all date codecs compare as text (timeKey in src/time/zone.ts), those of numbers as numbers.
 */
export interface OrderFace {
  /**
   * Equal keys must mean equal values. Otherwise pages would continue within them in another order than that of rows.
   */
  by(columns: readonly Expression[]): readonly Expression[];
  /** Returns the key of a row's values of `by`, for merging with rows of other mappings; undefined: not comparable. */
  toKey(raws: readonly SqlValue[]): number | string | undefined;
  /**
   * Returns values of `by`, or of a prefix of it if the rest is NULL, of the first rows whose key is at or after `key`.
   * They have that key exactly if `toKey(fromKey(key)) === key`; then "after the key" is `>`, else it is `>=`.
   * Undefined: the columns hold no such value.
   */
  fromKey(key: number | string): readonly SqlValue[] | undefined;
}

/**
 * Returns the column of a codec that has exactly one. Throws a RangeError if there is none: the loader counts columns
 * before a codec is used.
 */
export function only(columns: readonly Expression[]): Expression {
  return column(columns, 0);
}

/**
 * Returns the one column as stored, to order by. `present` excludes invalid values of a mixed column, as all rows
 * without a value.
 */
export function standing(columns: readonly Expression[]): Expression {
  const of = only(columns);
  return of.kind === 'column' ? { ...of, type: asItStands(of.type) } : of;
}

/** Returns the column at a position. Throws a RangeError if it is missing. */
export function column(columns: readonly Expression[], at: number): Expression {
  const found = columns[at];
  if (!found) throw new RangeError(`a codec requires a column at position ${at + 1}`);
  return found;
}
