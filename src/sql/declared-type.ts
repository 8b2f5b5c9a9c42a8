/**
 * Declared types by engine: the same words mean different things (TIMESTAMP is a moment to MySQL and what came of it in
 * SQLite, and a row version to SQL Server). In: an engine and a type as its database declares it. Out: a ColumnType that
 * knows its spelling, or undefined where no codec can read the column.
 */
import type { ColumnType } from './column-type.ts';
import type { Database } from './database.ts';
import { parseMssqlType } from './mssql/types.ts';
import { parseSqliteType } from './sqlite/types.ts';

export type Engine = Database['engine'];

const PARSERS: Readonly<Record<Engine, (declared: string) => ColumnType | undefined>> = {
  mssql: parseMssqlType,
  sqlite: parseSqliteType,
};

/** The type that a column of this engine has by its declaration. */
export function declaredType(engine: Engine, declared: string): ColumnType | undefined {
  const type = PARSERS[engine](declared);
  return type && { ...type, declared };
}

/** A type of texts as each engine spells it, for messages. */
export const TEXT_TYPE: Readonly<Record<Engine, string>> = { mssql: 'nvarchar(40)', sqlite: 'TEXT' };
