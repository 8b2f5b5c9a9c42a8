/** Defines SQLite as an engine for the list in ../engines.ts. */
import type { DatabaseAddress, Engine } from '../engine.ts';
import { SQLITE } from './dialect.ts';
import { parseSqliteType, printSqliteType } from './types.ts';
import { sqliteWordTable } from './word-table.ts';

export interface SqliteAddress extends DatabaseAddress {
  readonly engine: 'sqlite';
  readonly file: string;
}

const ADDRESS = /^sqlite:(?:\/\/)?(.+)$/;
const LOOK = 'look at DATABASE_URL=sqlite:<file> (or --database).';

export const SQLITE_ENGINE: Engine<SqliteAddress> = {
  name: 'sqlite',
  title: 'SQLite',
  dialect: SQLITE,
  addressForm: 'sqlite:<file>',
  isAddress: text => ADDRESS.test(text),
  readAddress: text => ({ address: sqliteAddress(ADDRESS.exec(text)?.[1] ?? '') }),
  describe: ({ file }) => file,
  open: async ({ file }, options) => (await import('./database.ts')).openSqlite(file, options),
  parseType: parseSqliteType,
  printType: printSqliteType,
  textType: 'TEXT',
  holdsAnything: true,
  digitsOfByte: 1,
  foldsWords: false,
  // Texts are compared without trailing blanks.
  indexKey: (sql, column) =>
    column?.type?.kind === 'text' ? `${sql} COLLATE ${column.form === 'trimmed' ? 'BINARY' : 'RTRIM'}` : sql,
  // Excludes scans of constant rows, of sub-selects, and of tables that a function returns.
  isScan: line => /^SCAN (?!CONSTANT ROW|\(|.* VIRTUAL TABLE)/.test(line.trim()),
  wordTable: sqliteWordTable,
  cures: {
    SQLITE_CANTOPEN: `Expected a file that is there and can be read: ${LOOK}`,
    SQLITE_IOERR: `Expected a SQLite file, not a folder; a disk may fail: ${LOOK}`,
    SQLITE_NOTADB: `Expected a SQLite file, and this is not one: ${LOOK}`,
  },
};

export function sqliteAddress(file: string): SqliteAddress {
  return { engine: 'sqlite', file };
}
