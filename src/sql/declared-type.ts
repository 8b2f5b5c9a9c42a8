/**
 * Declared types by engine: the same words mean different things (TIMESTAMP is a moment to MySQL and what came of it in
 * SQLite, and a row version to SQL Server). In: an engine and a type as its database declares it. Out: a ColumnType that
 * knows its spelling, or undefined where no codec can read the column. And the other way round, for parameters that a person reads.
 */
import type { ColumnType } from './column-type.ts';
import type { Database } from './database.ts';
import { parseMssqlType, printMssqlType } from './mssql/types.ts';
import { parseSqliteType, printSqliteType } from './sqlite/types.ts';

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

const PRINTERS: Readonly<Record<Engine, (type: ColumnType) => string>> = {
  mssql: printMssqlType,
  sqlite: printSqliteType,
};

/** The type of a parameter as this engine spells it. */
export function printType(engine: Engine, type: ColumnType): string {
  return PRINTERS[engine](type);
}

/** A type of texts as each engine spells it, for messages. */
export const TEXT_TYPE: Readonly<Record<Engine, string>> = { mssql: 'nvarchar(40)', sqlite: 'TEXT' };
