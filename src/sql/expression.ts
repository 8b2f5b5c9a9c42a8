/**
 * Defines scalar expressions and predicates of a query, independent of dialects. Predicates are two-valued: `not`
 * pushes negation to the leaves, and each leaf has a complement that is true for NULL. So `not(p)` selects exactly the
 * rows that `p` does not.
 */
import type { ColumnType } from './column-type.ts';
import type { Identifier, TableName } from './identifier.ts';

export type SqlValue = string | number | Uint8Array | null;

/** A value that each use of a plan computes for its own instant. */
export interface Moment {
  /** Equal for moments that have equal values at every instant. */
  readonly name: string;
  /** Computes the value. `now`: milliseconds since the epoch. */
  at(now: number): SqlValue;
}

export interface ColumnExpression {
  readonly kind: 'column';
  readonly alias: Identifier;
  readonly column: Identifier;
  readonly type: ColumnType;
  /** True if the catalog forbids NULL, and no outer join adds it. */
  readonly notNull?: true;
}

/**
 * Functions that each dialect implements; numbers among the arguments are positions and lengths, never request data.
 */
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
  | 'iso' // (text): a date or moment of ISO 8601 → the same as a time stamp of HL7 v2 (src/time/dtm.ts)
  | 'dtm' // (text, what is needed): a time stamp of HL7 v2 → what it is compared by (src/time/dtm.ts)
  | 'dtm-key' // (text, what is needed, zone): likewise → its sort key
  | 'clock-key'; // (local time, zone of its clocks, zone): its sort key in the second zone (src/time/instant-key.ts)

export type Expression =
  | ColumnExpression
  | {
      readonly kind: 'value';
      readonly value: SqlValue;
      readonly type: ColumnType;
      /** True for a value of a mapping or codec, never of a request: it may be part of a statement's text. */
      readonly constant?: true;
      /**
       * Set if the plan is reused with other values here: the number of the value, or how to compute it; `value` is
       * that of the first use.
       */
      readonly placeholder?: number | Moment;
    }
  | {
      readonly kind: 'function';
      readonly name: FunctionName;
      readonly args: readonly (Expression | number)[];
      readonly type: ColumnType;
    }
  /** 1 if the predicate holds, else 0. */
  | { readonly kind: 'flag'; readonly when: Predicate; readonly type: ColumnType }
  /** The expression of the first predicate that holds, else `otherwise`, else NULL. */
  | {
      readonly kind: 'choice';
      readonly of: readonly Choice[];
      readonly otherwise?: Expression;
      readonly type: ColumnType;
    }
  /** A value of at most one row elsewhere: NULL if there is none; of several rows, the first in `order`. */
  | {
      readonly kind: 'scalar';
      readonly select: Expression;
      readonly from: Relation;
      readonly order?: readonly Order[];
      readonly type: ColumnType;
    }
  /**
   * The first in `order` of the pieces of a separated text that satisfy `where`, by `alias`.`piece`; NULL if none does.
   */
  | {
      readonly kind: 'first-piece';
      readonly select: Expression;
      readonly of: Expression;
      readonly by: string;
      readonly alias: Identifier;
      /** Joined with the piece, like the joins of a relation. */
      readonly joins?: readonly Join[];
      readonly where: Predicate;
      readonly order: readonly Order[];
      readonly type: ColumnType;
    }
  /** Escape hatch: text from a mapping with `{alias.COLUMN}` already resolved. Never contains request data. */
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
  /** Ordered comparison of numbers, dates, binaries and packed text. */
  | {
      readonly kind: 'compare';
      readonly left: Expression;
      readonly op: Operator;
      readonly right: Expression;
      readonly not: boolean;
      /**
       * In the column's own collation, which its index is sorted by: for paging in an order that is `native` too, and
       * for bounds beside a condition that limits the column to digits.
       */
      readonly native?: true;
    }
  /** Equality: exact, case-sensitive, ignoring trailing blanks. */
  | { readonly kind: 'equals'; readonly left: Expression; readonly right: Expression; readonly not: boolean }
  | { readonly kind: 'in'; readonly left: Expression; readonly values: readonly Expression[]; readonly not: boolean }
  | { readonly kind: 'null'; readonly of: Expression; readonly not: boolean }
  /** True for a text that is neither NULL nor blank, or for at least one byte. */
  | { readonly kind: 'filled'; readonly of: Expression; readonly not: boolean }
  /**
   * A substring test for any of some texts, which are bound, with wildcards escaped. `end`: of the text without
   * trailing blanks. `words`: each text is words with a blank before each, and each of them must begin a word of `of`,
   * which is the function of that name. `seek`: `of` is a column of words that an index begins with; it must begin with
   * one of the texts, which are folded words.
   */
  | {
      readonly kind: 'contains';
      readonly of: Expression;
      readonly where: 'start' | 'end' | 'anywhere' | 'whole' | 'words' | 'seek';
      readonly texts: readonly string[];
      readonly not: boolean;
    }
  /**
   * A pattern of a mapping or a codec, never of a request, in GLOB's syntax (`*`, `?`, `[0-9]`, `[^…]`),
   * case-sensitive.
   */
  | { readonly kind: 'glob'; readonly of: Expression; readonly pattern: string; readonly not: boolean }
  /** True for digits yyyymmdd that are a calendar day, or with 00 a month or a year. */
  | { readonly kind: 'packed-date'; readonly of: Expression; readonly not: boolean }
  /**
   * `byRow`: holds for nearly every row, so it must be tested on each row read, and never be the start of the plan.
   * `searches`: as in a plan.
   */
  | {
      readonly kind: 'exists';
      readonly from: Relation;
      readonly byRow?: true;
      readonly searches?: true;
      readonly not: boolean;
    }
  /**
   * The expression equals a value selected from some row of these relations. None of them refers to an outer row, so
   * that an engine can read them once, and first.
   */
  | { readonly kind: 'in-selects'; readonly left: Expression; readonly of: readonly SubSelect[]; readonly not: boolean }
  /** Some piece of a separated text satisfies `where`, which refers to the piece by `alias`.`piece`. */
  | {
      readonly kind: 'some-piece';
      readonly of: Expression;
      readonly by: string;
      readonly alias: Identifier;
      /** Joined with the piece, like the joins of a relation. */
      readonly joins?: readonly Join[];
      readonly where: Predicate;
      readonly not: boolean;
    }
  | { readonly kind: 'raw'; readonly parts: readonly (string | Expression)[]; readonly not: boolean };

/** A value of each row of a relation, of the same kind of type as the others in the list. */
export interface SubSelect {
  readonly select: Expression;
  readonly from: Relation;
}

export interface Order {
  readonly by: Expression;
  readonly descending: boolean;
  /**
   * True for text in the column's own collation, so that its index gives the order. Otherwise text is in binary order,
   * which is the same on every engine and in JavaScript. Paging compares the same way, equality included.
   */
  readonly native?: true;
}

export interface Join {
  readonly kind: 'left' | 'inner';
  readonly table: TableName;
  readonly alias: Identifier;
  readonly on: Predicate;
  /** Joins only the first row in this order. */
  readonly pick?: readonly Order[];
}

/** A table with its joins and the condition on them, as a select or an EXISTS reads it. */
export interface Relation {
  readonly table: TableName;
  readonly alias: Identifier;
  readonly joins: readonly Join[];
  readonly where: Predicate;
}
