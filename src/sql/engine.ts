/**
 * Defines the interface of database engines. Each engine's folder exports one Engine, and only engines.ts lists them.
 * docs/extending.md says how to add one.
 */

import type { ColumnInfo, TableInfo } from './catalog.ts';
import type { ColumnType } from './column-type.ts';
import type { Database } from './database.ts';
import type { Dialect } from './dialect.ts';

/**
 * The address of a database, as its engine parses it. It may contain a password, so only the engine reads it. Threads
 * get a copy.
 */
export interface DatabaseAddress {
  readonly engine: string;
}

/** An address, or every problem with it. Problems never repeat a value. */
export type ReadAddress<A> = { readonly address: A } | { readonly problems: readonly string[] };

export interface OpenOptions {
  /** Kilobytes of cache for an engine inside the process. */
  readonly cache?: number;
  /** Where an engine may store what it found about the rows, for later starts. Default: nowhere. */
  readonly proofs?: ProofOptions;
}

export interface ProofOptions {
  /** Created if it is missing. */
  readonly folder: string;
  /** Reports a damaged or read-only file to a person. */
  readonly announce: (what: string) => void;
  /** The version of the software that reads the rows: another version may recognize other forms. */
  readonly software: string;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly now?: () => number;
}

export interface Engine<A extends DatabaseAddress = DatabaseAddress> {
  /** The name in locks of schemas and in `--engine`. */
  readonly name: string;
  /** The name for people: `SQL Server`. */
  readonly title: string;
  readonly dialect: Dialect;

  /** The form of addresses, for messages and help: `sqlite:<file>`. */
  readonly addressForm: string;
  /** True if the text is an address of this engine, valid or not. */
  isAddress(text: string): boolean;
  /** `password`: used if the text contains none. */
  readAddress(text: string, password: string | undefined): ReadAddress<A>;
  /** Returns the database without user and password: `ehr on db.example.org`. */
  describe(address: A): string;
  /** Loads the driver and opens the database. Throws DatabaseError. */
  open(address: A, options: OpenOptions): Promise<Database>;

  /** Returns the type for a column's declaration; undefined if no codec can read it. */
  parseType(declared: string): ColumnType | undefined;
  /** Returns the type of a parameter, for people. */
  printType(type: ColumnType): string;
  /** A declared type for texts, for messages. */
  readonly textType: string;
  /**
   * True if columns may hold values of any kind and form, whatever they declare; rows are read in the form that they
   * have. Other engines keep each value in the form of its type, and refuse statements that compare it with a value
   * beyond the type's range.
   */
  readonly holdsAnything: boolean;
  /** How many characters of a binary column one byte takes in the dialect's `substring`. */
  readonly digitsOfByte: 1 | 2;
  /** True if the words in a word table (`wordTable`) are compared without case and accents. */
  readonly foldsWords: boolean;
  /** Returns a column in CREATE INDEX in a way that the index serves comparisons. `sql`: its name. */
  indexKey(sql: string, column: ColumnInfo | undefined): string;
  /** True if a line of a plan (`Database.explain`) describes a scan of a whole table or index. */
  isScan(line: string): boolean;
  /** Returns the statements that create and maintain a table of words. Undefined: `lintel words` is not offered. */
  readonly wordTable: ((words: WordTable) => string) | undefined;
  /** Advice by the number or code of an error that a configuration causes. */
  readonly cures: Readonly<Record<string, string>>;
}

/**
 * A table of the words of some columns (docs/decisions/0316-an-index-of-words.md). Each engine's folder writes its
 * statements; Lintel prints them for the database's administrator and never runs them.
 */
export interface WordTable {
  /** The table whose words it has, from the catalog. */
  readonly of: TableInfo;
  /** Undefined if the engine has no schemas. */
  readonly schema: string | undefined;
  readonly key: readonly ColumnInfo[];
  /** The columns of texts. */
  readonly columns: readonly ColumnInfo[];
}

/** Returns the name of a table of words. */
export function wordTableName({ of }: Pick<WordTable, 'of'>): string {
  return `${of.name}_WORDS`;
}
