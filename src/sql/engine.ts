/**
 * The interface of database engines. Each engine's folder exports one Engine, and only engines.ts lists them.
 * docs/extending.md says how to add one.
 */

import type { ColumnInfo, TableInfo } from './catalog.ts';
import type { ColumnType } from './column-type.ts';
import type { Database } from './database.ts';
import type { Dialect } from './dialect.ts';

/** Where a database is, as its engine reads it. May hold a password: for the engine only. Threads get a copy of it. */
export interface DatabaseAddress {
  readonly engine: string;
}

/** An address, or every problem with it. A problem repeats no value. */
export type ReadAddress<A> = { readonly address: A } | { readonly problems: readonly string[] };

export interface OpenOptions {
  /** Kilobytes of the database that an engine inside the process keeps in memory. */
  readonly cache?: number;
  /** Where an engine may keep what it found of the rows between starts. Default: nowhere. */
  readonly proofs?: ProofOptions;
}

export interface ProofOptions {
  /** Is made where it is missing. */
  readonly folder: string;
  /** Told to a person: a damaged file, or one that cannot be written. */
  readonly announce: (what: string) => void;
  /** Of the software that looks at the rows: another may take forms for others. */
  readonly software: string;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
}

export interface Engine<A extends DatabaseAddress = DatabaseAddress> {
  /** As locks of schemas and `--engine` name it. */
  readonly name: string;
  /** As people know it: `SQL Server`. */
  readonly title: string;
  readonly dialect: Dialect;

  /** How addresses look, for messages and help: `sqlite:<file>`. */
  readonly addressForm: string;
  /** Whether the text is an address of this engine, right or wrong. */
  isAddress(text: string): boolean;
  /** `password`: where it does not stand in the text. */
  readAddress(text: string, password: string | undefined): ReadAddress<A>;
  /** The database without user and password: `ehr on db.example.org`. */
  describe(address: A): string;
  /** Loads the driver and opens the database. Throws DatabaseError. */
  open(address: A, options: OpenOptions): Promise<Database>;

  /** The type that a column has by its declaration; undefined where no codec can read it. */
  parseType(declared: string): ColumnType | undefined;
  /** The type of a parameter, for people. */
  printType(type: ColumnType): string;
  /** A declared type of texts, for messages. */
  readonly textType: string;
  /**
   * Columns hold values of any kind and form, whatever they declare: rows are read by the form that they have. Other
   * engines keep each value in the form of its type, and refuse statements that compare it with one beyond the type's
   * range.
   */
  readonly holdsAnything: boolean;
  /** How the dialect counts a byte of a binary column in `substring`. */
  readonly digitsOfByte: 1 | 2;
  /** The listed words of a word table (`wordTable`) are compared without case and accents. */
  readonly foldsWords: boolean;
  /** A column in CREATE INDEX such that the index serves comparisons. `sql`: its name. */
  indexKey(sql: string, type: ColumnType | undefined): string;
  /** Whether a line of a plan (`Database.explain`) says that all rows of a table or of an index are looked at. */
  isScan(line: string): boolean;
  /** The statements that make and keep a table of words. Undefined: `lintel words` is not offered. */
  readonly wordTable: ((words: WordTable) => string) | undefined;
  /** What to look at, by the number or code of an error that a configuration causes. */
  readonly cures: Readonly<Record<string, string>>;
}

/**
 * A table of the words of some columns (docs/decisions/0316-an-index-of-words.md). Each engine's folder writes its
 * statements; Lintel prints them for the database's administrator and never runs them.
 */
export interface WordTable {
  /** As the catalog describes it. */
  readonly of: TableInfo;
  /** Of an engine that has schemas. */
  readonly schema: string | undefined;
  readonly key: readonly ColumnInfo[];
  /** Texts. */
  readonly columns: readonly ColumnInfo[];
}

/** The name of a table of words. */
export function wordTableName({ of }: Pick<WordTable, 'of'>): string {
  return `${of.name}_WORDS`;
}
