/**
 * The types of columns, independent of engines. A ColumnType decides how a literal of a mapping is read, how a
 * parameter is bound, and in which form a value is fetched. Each engine (engines.ts) reads its own type names.
 */

export type ColumnType = Kind & {
  /** As the database spells it, for messages. Types of values that exist only inside a statement have none. */
  readonly declared?: string;
};

/**
 * How the rows of a date, datetime or time column are written where the engine does not see to it: SQLite keeps
 * whatever it is given. Without a form a column holds the one text that its type has (src/sql/plan.ts).
 */
export type TimeForm =
  /** Every row is such a text, cut to this length: 10 is a day, 16 ends with the minute, 19 with the second. */
  | { readonly kind: 'layout'; readonly separator: ' ' | 'T'; readonly length: number }
  /**
   * Rows differ. Each use of the column in SQL is its canonical text, or NULL; instants are local times of this zone.
   * `utc`: rows do not differ, but are instants in UTC, which a codec may compare as they stand.
   */
  | { readonly kind: 'any'; readonly zone: string; readonly utc?: UtcLayout };

/**
 * Texts of instants in UTC, all as long as each other: `2024-03-10T07:30:00Z` has 20 characters. At most three digits
 * of a second.
 */
export interface UtcLayout {
  readonly separator: ' ' | 'T';
  readonly length: number;
  /** As `Apart`. */
  readonly mixed?: true;
}

/**
 * A column of dates or times in which rows may also hold what is none, as long as it comes before or behind all of them
 * where SQLite compares texts: zero dates, blanks, words, numbers. Each use of the column in SQL is its value or NULL.
 */
interface Apart {
  readonly mixed?: true;
}

/**
 * A column of numbers whose rows may hold any number: SQLite keeps whatever it is given, whatever the column declares.
 * It is fetched as the text of its digits. `mixed`: there may be what is no number too, so each use of the column in
 * SQL is its number or NULL.
 */
interface Loose {
  readonly any?: 'numbers' | 'mixed';
}

/** Whether rows of the column may hold other numbers than its type declares. */
export function holdsAnyNumber(type: ColumnType): boolean {
  return 'any' in type && type.any !== undefined;
}

/**
 * Whether rows of a column of numbers, dates or times may also hold what is none, before or behind all values that are
 * one.
 */
export function isMixed(type: ColumnType): boolean {
  return ('any' in type && type.any === 'mixed') || isMixedTime(type);
}

type Kind =
  | {
      readonly kind: 'text';
      readonly unicode: boolean;
      readonly fixed: boolean;
      readonly length: number | 'max';
      /** The old types TEXT and NTEXT, which SQL Server compares with nothing unless they are cast. */
      readonly lob?: true;
      /** In which its characters are kept, where that is not 1252: other collations cannot hold them all. */
      readonly codePage?: number;
      /** Rows hold numbers, too: each use of the column in SQL is the text of the value. */
      readonly loose?: true;
      /** No row ends in a blank, so that the column compares as texts are compared in its binary index. */
      readonly trimmed?: true;
      /**
       * By which an engine that has several compares the column with others; a letter, then letters, digits and `_`.
       */
      readonly collation?: string;
    }
  | ({ readonly kind: 'integer'; readonly bits: 8 | 16 | 32 | 64 } & Loose)
  | ({ readonly kind: 'bit' } & Loose)
  | ({ readonly kind: 'decimal'; readonly precision: number; readonly scale: number } & Loose)
  /** `single`: of 32 bits; rows and statements have the shortest decimal that is the stored number. */
  | ({ readonly kind: 'float'; readonly single?: true } & Loose)
  | ({ readonly kind: 'date'; readonly form?: TimeForm } & Apart)
  | ({
      readonly kind: 'datetime';
      readonly name: 'datetime' | 'smalldatetime' | 'datetime2';
      /** Digits of a second that the stored text carries. */
      readonly fraction: number;
      readonly form?: TimeForm;
    } & Apart)
  /**
   * A moment that is stored with its offset from UTC. Rows have it as clocks in UTC show it,
   * `2024-03-10 07:30:00.0000000`, so that equal moments are equal texts. `zone`: that of literals beside it. `utc`:
   * the column has no offsets, since all of it is in UTC.
   */
  | { readonly kind: 'instant'; readonly fraction: number; readonly zone?: string; readonly utc?: true }
  | ({ readonly kind: 'time'; readonly fraction: number; readonly form?: TimeForm } & Apart)
  /**
   * Upper-case text, unless the engine keeps whatever it is given. `small`: every row is lower-case text. `any`: each
   * use of the column in SQL is its upper-case text, or NULL for what is no UUID.
   */
  | { readonly kind: 'uuid'; readonly letters?: 'small' | 'any' }
  | { readonly kind: 'binary'; readonly length: number | 'max' };

/** The layout of instants in UTC that all rows of a column have; undefined for any other column. */
export function utcLayoutOf(type: ColumnType): UtcLayout | undefined {
  return 'form' in type && type.form?.kind === 'any' ? type.form.utc : undefined;
}

/** Likewise of a column of dates or times alone. */
export function isMixedTime(type: ColumnType): boolean {
  return 'mixed' in type && type.mixed === true;
}

/** The type of a column that is used as it stands. */
export function asItStands(type: ColumnType): ColumnType {
  if (!isMixed(type)) return type;
  if ('any' in type) return { ...type, any: 'numbers' };
  const { mixed: _, ...plain } = type as Extract<ColumnType, Apart>;
  return plain;
}

/** The text without blanks (U+0020) at the end, the only character that SQLite and SQL Server trim there. */
export function withoutBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === BLANK) end--;
  return end === text.length ? text : text.slice(0, end);
}

const BLANK = 0x20;

/** A column of texts whose rows hold numbers, too. */
export function isLoose(type: ColumnType): boolean {
  return type.kind === 'text' && type.loose === true;
}

/** A column of texts of which none ends in a blank. */
export function isTrimmed(type: ColumnType): boolean {
  return type.kind === 'text' && type.trimmed === true;
}

/** A column whose rows are UUIDs in lower case. */
export function isSmallUuid(type: ColumnType): boolean {
  return type.kind === 'uuid' && type.letters === 'small';
}

/** The name of a type in messages: the database's declaration, or else its kind. */
export function nameOfType(type: ColumnType): string {
  return type.declared || KINDS[type.kind];
}

const KINDS: Readonly<Record<ColumnType['kind'], string>> = {
  text: 'a text',
  integer: 'a whole number',
  bit: 'a truth value',
  decimal: 'a decimal',
  float: 'a floating-point number',
  date: 'a date',
  datetime: 'a date with a time',
  instant: 'a moment with its offset from UTC',
  time: 'a time of day',
  uuid: 'a UUID',
  binary: 'bytes',
};

/** Whether two declarations mean the same, however each is spelt. */
export function isSameType(a: ColumnType, b: ColumnType): boolean {
  return meaningOf(a) === meaningOf(b);
}

function meaningOf({ declared: _, ...type }: ColumnType): string {
  const entries = Object.entries(type).filter(([name]) => name !== 'collation');
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether equal values of two columns are fetched alike: moments have layouts of their own. */
export function isFetchedAlike(a: ColumnType, b: ColumnType): boolean {
  if (a.kind !== b.kind) return false;
  return 'form' in a || 'fraction' in a ? layoutOf(a) === layoutOf(b) : true;
}

function layoutOf(type: ColumnType): string {
  return JSON.stringify(['form' in type ? type.form : undefined, 'fraction' in type ? type.fraction : undefined]);
}

/** Whether two text columns have different collations: a comparison has to name one. */
export function isOtherCollation(a: ColumnType, b: ColumnType): boolean {
  if (a.kind !== 'text' || b.kind !== 'text') return false;
  return a.collation !== undefined && b.collation !== undefined && a.collation !== b.collation;
}

/** Types of values that exist only inside a statement. */
export const INTEGER: ColumnType = { kind: 'integer', bits: 32 };
export const UNICODE: ColumnType = { kind: 'text', unicode: true, fixed: false, length: 4000 };
export const NUMBER: ColumnType = { kind: 'decimal', precision: 38, scale: 10 };
/** A column that is fetched as bytes, whatever it holds. */
export const BYTES: ColumnType = { kind: 'binary', length: 'max' };

/** A column of a type that no codec takes, of which an `sql` makes something: its text, which compares with nothing. */
export const OPAQUE: ColumnType = { kind: 'text', unicode: true, fixed: false, length: 'max' };

/** The type with the spelling that it was read from. */
export function spelledAs(type: ColumnType | undefined, declared: string): ColumnType | undefined {
  return type && { ...type, declared };
}
