/**
 * Defines the types of columns, independent of engines. A ColumnType decides how a literal of a mapping is read, how a
 * parameter is bound, and in which form a value is fetched. Each engine (engines.ts) parses its own type names.
 */

export type ColumnType = Kind & {
  /** The database's spelling, for messages. Types of values that exist only inside a statement have none. */
  readonly declared?: string;
};

/**
 * How the rows of a date, datetime or time column are written if the engine does not enforce it: SQLite stores any
 * value in any column. Without a form a column has the one text form of its type (src/sql/plan.ts).
 */
export type TimeForm =
  /** All rows have this layout, cut to this length: 10 ends with the day, 16 with the minute, 19 with the second. */
  | { readonly kind: 'layout'; readonly separator: ' ' | 'T'; readonly length: number }
  /**
   * Rows have different layouts. SQL reads the column as its canonical text, or NULL; instants become local times of
   * this zone. `utc`: all rows have one layout, and are instants in UTC, which a codec may compare unchanged.
   */
  | { readonly kind: 'any'; readonly zone: string; readonly utc?: UtcLayout };

/**
 * Texts of instants in UTC, all of the same length: `2024-03-10T07:30:00Z` has 20 characters. At most three digits of a
 * second.
 */
export interface UtcLayout {
  readonly separator: ' ' | 'T';
  readonly length: number;
  /** As in `Apart`. */
  readonly mixed?: true;
}

/**
 * A column of dates or times with some rows that are neither: zero dates, blanks, words, numbers. `mixed` requires that
 * SQLite sorts these before or after all dates or times. SQL reads the column as its value or NULL.
 */
interface Apart {
  readonly mixed?: true;
}

/**
 * A column of numbers whose rows may hold any number, because SQLite stores any value in any column. It is fetched as
 * the text of its digits. `mixed`: some rows hold no number, so SQL reads the column as its number or NULL.
 */
interface Loose {
  readonly any?: 'numbers' | 'mixed';
}

/** True if rows of the column may hold other numbers than its type declares. */
export function holdsAnyNumber(type: ColumnType): boolean {
  return 'any' in type && type.any !== undefined;
}

/** True if a column of numbers, dates or times may have rows that hold none, sorted before or after all values. */
export function isMixed(type: ColumnType): boolean {
  return ('any' in type && type.any === 'mixed') || isMixedTime(type);
}

type Kind =
  | {
      readonly kind: 'text';
      readonly unicode: boolean;
      readonly fixed: boolean;
      readonly length: number | 'max';
      /** The old types TEXT and NTEXT, which SQL Server compares only after a cast. */
      readonly lob?: true;
      /** The code page of its characters, if it is not 1252: other collations cannot represent all of them. */
      readonly codePage?: number;
      /** Some rows hold numbers: SQL reads the column as the text of the value. */
      readonly loose?: true;
      /** No row ends in a blank, so that comparisons equal those of the binary index. */
      readonly trimmed?: true;
      /**
       * The collation that the column is compared by, on an engine with several: a letter, then letters, digits and
       * `_`.
       */
      readonly collation?: string;
    }
  | ({ readonly kind: 'integer'; readonly bits: 8 | 16 | 32 | 64 } & Loose)
  | ({ readonly kind: 'bit' } & Loose)
  | ({ readonly kind: 'decimal'; readonly precision: number; readonly scale: number } & Loose)
  /** `single`: 32 bits. Rows and statements then contain the shortest decimal for the stored number. */
  | ({ readonly kind: 'float'; readonly single?: true } & Loose)
  | ({ readonly kind: 'date'; readonly form?: TimeForm } & Apart)
  | ({
      readonly kind: 'datetime';
      readonly name: 'datetime' | 'smalldatetime' | 'datetime2';
      /** Digits of a second in the stored text. */
      readonly fraction: number;
      readonly form?: TimeForm;
    } & Apart)
  /**
   * An instant that is stored with its offset from UTC. Rows contain it in UTC, as `2024-03-10 07:30:00.0000000`, so
   * that equal instants are equal texts. `zone`: the zone of literals beside it. `utc`: the column has no offsets,
   * because all values are in UTC.
   */
  | { readonly kind: 'instant'; readonly fraction: number; readonly zone?: string; readonly utc?: true }
  | ({ readonly kind: 'time'; readonly fraction: number; readonly form?: TimeForm } & Apart)
  /**
   * Upper-case text, if the engine enforces it. `small`: all rows are lower-case text. `any`: SQL reads the column as
   * upper-case text, or NULL for a value that is no UUID.
   */
  | { readonly kind: 'uuid'; readonly letters?: 'small' | 'any' }
  | { readonly kind: 'binary'; readonly length: number | 'max' };

/** True if a value of the column can be of any length. */
export function isOfAnyLength(type: ColumnType): boolean {
  return (type.kind === 'text' || type.kind === 'binary') && type.length === 'max';
}

/** Returns the layout of instants in UTC that all rows of a column have; undefined for any other column. */
export function utcLayoutOf(type: ColumnType): UtcLayout | undefined {
  return 'form' in type && type.form?.kind === 'any' ? type.form.utc : undefined;
}

/** Likewise for dates and times only. */
export function isMixedTime(type: ColumnType): boolean {
  return 'mixed' in type && type.mixed === true;
}

/** Returns the type of a column that SQL compares unchanged. */
export function asItStands(type: ColumnType): ColumnType {
  if (!isMixed(type)) return type;
  if ('any' in type) return { ...type, any: 'numbers' };
  const { mixed: _, ...plain } = type as Extract<ColumnType, Apart>;
  return plain;
}

/** Removes blanks (U+0020) at the end, the only character that SQLite and SQL Server trim there. */
export function withoutBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === BLANK) end--;
  return end === text.length ? text : text.slice(0, end);
}

const BLANK = 0x20;

/** True for a column of texts with some rows that hold numbers. */
export function isLoose(type: ColumnType): boolean {
  return type.kind === 'text' && type.loose === true;
}

/** True for a column of texts of which none ends in a blank. */
export function isTrimmed(type: ColumnType): boolean {
  return type.kind === 'text' && type.trimmed === true;
}

/** True for a column whose rows are UUIDs in lower case. */
export function isSmallUuid(type: ColumnType): boolean {
  return type.kind === 'uuid' && type.letters === 'small';
}

/** Returns the name of a type for messages: the database's declaration, or else its kind. */
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

/** True if two types mean the same, in any spelling. */
export function isSameType(a: ColumnType, b: ColumnType): boolean {
  return meaningOf(a) === meaningOf(b);
}

function meaningOf({ declared: _, ...type }: ColumnType): string {
  const entries = Object.entries(type).filter(([name]) => name !== 'collation');
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** True if equal values of two columns are fetched as equal values; dates and times may have different layouts. */
export function isFetchedAlike(a: ColumnType, b: ColumnType): boolean {
  if (a.kind !== b.kind) return false;
  return 'form' in a || 'fraction' in a ? layoutOf(a) === layoutOf(b) : true;
}

function layoutOf(type: ColumnType): string {
  return JSON.stringify(['form' in type ? type.form : undefined, 'fraction' in type ? type.fraction : undefined]);
}

/** True if two text columns have different collations, so that a comparison must name one. */
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

/** The text of a column whose type no codec reads, for use inside an `sql`. It is compared with nothing. */
export const OPAQUE: ColumnType = { kind: 'text', unicode: true, fixed: false, length: 'max' };

/** Returns the type with the spelling that it was read from. */
export function spelledAs(type: ColumnType | undefined, declared: string): ColumnType | undefined {
  return type && { ...type, declared };
}
