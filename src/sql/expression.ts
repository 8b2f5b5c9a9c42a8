/**
 * Scalar expressions and predicates of a query, independent of dialects. Predicates are two-valued: `not` pushes
 * negation to the leaves, and each leaf has a complement that is true for NULL. So `not(p)` selects exactly the rows
 * that `p` does not.
 */
import type { ColumnType } from './column-type.ts';
import type { Identifier, TableName } from './identifier.ts';

export type SqlValue = string | number | Uint8Array | null;

/** A value that each use of a plan works out for its own instant. */
export interface Moment {
  /** Equal for equal values, whatever the instant. */
  readonly name: string;
  /** `now`: milliseconds since the epoch. */
  at(now: number): SqlValue;
}

export interface ColumnExpression {
  readonly kind: 'column';
  readonly alias: Identifier;
  readonly column: Identifier;
  readonly type: ColumnType;
  /** The catalog forbids NULL, and no outer join brings it. */
  readonly notNull?: true;
}

/** Functions that each dialect spells; numbers among the arguments are positions and lengths, never request data. */
export type FunctionName =
  | 'rtrim' // trailing blanks (U+0020)
  | 'trim' // blanks, tabs and line ends on both sides
  | 'upper' // ASCII letters; the engines agree on no others
  | 'fold' // case and accents folded, for string search
  | 'words' // its words as string search compares them, a blank before each (src/sql/shared-functions.ts)
  | 'digits' // its characters 0 to 9, all others left out
  | 'replace' // (text, what, with)
  | 'unescaped' // escapes of HL7 v2 as what they stand for (src/sql/shared-functions.ts)
  | 'piece' // (text, separator, position from 1): that piece of a separated text, NULL where there is none
  | 'before' // (text, separator): up to the separator's first occurrence, NULL where there is none
  | 'after' // (text, separator): all that follows its first occurrence, NULL where there is none
  | 'first-word' // up to the first blank
  | 'last-word' // after the last blank
  | 'before-last-word' // all but the last word, NULL for a single word
  | 'after-first-word'
  | 'number' // text of the number grammar → decimal, NULL if it cannot be one
  | 'whole' // a number → itself where it is whole, else NULL
  | 'scaled' // (number, digits): the number times ten to the power of these where that is whole, else NULL
  | 'instant' // (number, 'seconds' | 'milliseconds' | 'days'): milliseconds since 1970, NULL for what is no number
  | 'time-of-day' // a date with its time → the time
  | 'text' // anything → text
  | 'uuid' // a UUID, or its sixteen bytes in the order of the text → lower-case text
  | 'concat'
  | 'id-length' // (text, how, text, how, …): characters that they take together in an id (src/sql/shared-functions.ts)
  | 'substring' // (text, start from 1, length)
  | 'ymd' // (year, month, day) → integer yyyymmdd
  | 'written' // (text, form, first of the years of two digits or 0) → digits (src/time/written-form.ts)
  | 'dtm' // (text, what is needed): a time stamp of HL7 v2 → what it is compared by (src/time/dtm.ts)
  | 'dtm-key'; // (text, what is needed, zone): likewise → its sort key

export type Expression =
  | ColumnExpression
  | {
      readonly kind: 'value';
      readonly value: SqlValue;
      readonly type: ColumnType;
      /** The mapping's or a codec's, never a request's: it may stand in the text of a statement. */
      readonly constant?: true;
      /**
       * The plan is used again with other values here: which of those that come along; `value` is that of the first
       * use.
       */
      readonly placeholder?: number | Moment;
    }
  | {
      readonly kind: 'function';
      readonly name: FunctionName;
      readonly args: readonly (Expression | number)[];
      readonly type: ColumnType;
    }
  /** 1 where the predicate holds, else 0. */
  | { readonly kind: 'flag'; readonly when: Predicate; readonly type: ColumnType }
  /** Of the first predicate that holds the expression beside it, else `otherwise`; without one NULL. */
  | {
      readonly kind: 'choice';
      readonly of: readonly Choice[];
      readonly otherwise?: Expression;
      readonly type: ColumnType;
    }
  /** A value of at most one row elsewhere, NULL where there is none; of several rows, of the first in `order`. */
  | {
      readonly kind: 'scalar';
      readonly select: Expression;
      readonly from: Relation;
      readonly order?: readonly Order[];
      readonly type: ColumnType;
    }
  /**
   * Of the pieces of a separated text that satisfy `where`, by `alias`.`piece`, the first in `order`; NULL where none
   * does.
   */
  | {
      readonly kind: 'first-piece';
      readonly select: Expression;
      readonly of: Expression;
      readonly by: string;
      readonly alias: Identifier;
      /** With the piece; as those of a relation. */
      readonly joins?: readonly Join[];
      readonly where: Predicate;
      readonly order: readonly Order[];
      readonly type: ColumnType;
    }
  /** The escape: text from a mapping with `{alias.COLUMN}` already resolved. Never contains request data. */
  | { readonly kind: 'raw'; readonly parts: readonly (string | Expression)[]; readonly type: ColumnType };

export interface Choice {
  readonly when: Predicate;
  readonly give: Expression;
}

export type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=';

export type Predicate =
  | { readonly kind: 'true' }
  | { readonly kind: 'false' }
  | { readonly kind: 'and'; readonly of: readonly Predicate[] }
  | { readonly kind: 'or'; readonly of: readonly Predicate[] }
  /** Ordered comparison of numbers, dates, binaries and of packed text. */
  | {
      readonly kind: 'compare';
      readonly left: Expression;
      readonly op: Operator;
      readonly right: Expression;
      readonly not: boolean;
      /**
       * In the column's own collation, which an index is sorted by: for paging in an order that is `native` too, and
       * for bounds beside a condition that keeps the column to digits.
       */
      readonly native?: true;
    }
  /** Equality: exact, case-sensitive, blind to trailing blanks. */
  | { readonly kind: 'equals'; readonly left: Expression; readonly right: Expression; readonly not: boolean }
  | { readonly kind: 'in'; readonly left: Expression; readonly values: readonly Expression[]; readonly not: boolean }
  | { readonly kind: 'null'; readonly of: Expression; readonly not: boolean }
  /** Text that is neither NULL nor blank, bytes that are not none. */
  | { readonly kind: 'filled'; readonly of: Expression; readonly not: boolean }
  /**
   * A substring test for one of some texts; they are bound, wildcards escaped. `end`: of the text without the blanks at
   * its end. `words`: each text is words with a blank before each, and all of them begin words of `of`, which is the
   * function of that name. `seek`: `of` is a column of words that an index begins with, and begins with one of the
   * texts, which are folded words.
   */
  | {
      readonly kind: 'contains';
      readonly of: Expression;
      readonly where: 'start' | 'end' | 'anywhere' | 'whole' | 'words' | 'seek';
      readonly texts: readonly string[];
      readonly not: boolean;
    }
  /**
   * A pattern of a mapping or a codec, never of a request, in GLOB's spelling (`*`, `?`, `[0-9]`, `[^…]`),
   * case-sensitive.
   */
  | { readonly kind: 'glob'; readonly of: Expression; readonly pattern: string; readonly not: boolean }
  /** Digits yyyymmdd that are a calendar day, or with 00 a month or a year. */
  | { readonly kind: 'packed-date'; readonly of: Expression; readonly not: boolean }
  /**
   * `byRow`: holds for nearly every row, so it is to be tested on each row read, never to be begun with. `searches`: as
   * of a plan.
   */
  | {
      readonly kind: 'exists';
      readonly from: Relation;
      readonly byRow?: true;
      readonly searches?: true;
      readonly not: boolean;
    }
  /**
   * The expression equals what is taken from some row of these relations. None of them refers to a row outside, so that
   * an engine can read them once, and first.
   */
  | { readonly kind: 'taken'; readonly left: Expression; readonly of: readonly Taken[]; readonly not: boolean }
  /** One piece of a separated text satisfies `where`, which refers to the piece by `alias`.`piece`. */
  | {
      readonly kind: 'some-piece';
      readonly of: Expression;
      readonly by: string;
      readonly alias: Identifier;
      /** With the piece; as those of a relation. */
      readonly joins?: readonly Join[];
      readonly where: Predicate;
      readonly not: boolean;
    }
  | { readonly kind: 'raw'; readonly parts: readonly (string | Expression)[]; readonly not: boolean };

/** A value of each row of a relation; of the same kind of type as those beside it. */
export interface Taken {
  readonly select: Expression;
  readonly from: Relation;
}

export interface Order {
  readonly by: Expression;
  readonly descending: boolean;
  /**
   * Text in the column's own collation, so that its index gives the order; without it text is in binary order, which is
   * the same on every engine and in JavaScript. Paging compares likewise, equality included.
   */
  readonly native?: true;
}

export interface Join {
  readonly kind: 'left' | 'inner';
  readonly table: TableName;
  readonly alias: Identifier;
  readonly on: Predicate;
  /** Only the first row in this order is joined. */
  readonly pick?: readonly Order[];
}

/** A table with its joins and the condition on them: what a select reads and an EXISTS looks into. */
export interface Relation {
  readonly table: TableName;
  readonly alias: Identifier;
  readonly joins: readonly Join[];
  readonly where: Predicate;
}
