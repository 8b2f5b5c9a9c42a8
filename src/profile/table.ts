/**
 * A table as its rows show it. In: a database and what its catalog says of the table. Out: the number of rows and a
 * profile of each column, of all rows or of a sample that is spread over the key. SELECTs alone, in the export
 * bulkhead, until a signal ends them.
 */
import { type ColumnInfo, findColumn, type TableInfo } from '../sql/catalog.ts';
import { INTEGER, UNICODE } from '../sql/column-type.ts';
import { and, call, compare, TRUE, value } from '../sql/construct.ts';
import { type Database, DatabaseError } from '../sql/database.ts';
import type { Engine } from '../sql/engine.ts';
import { engineNamed } from '../sql/engines.ts';
import type { ColumnExpression, Expression, Predicate } from '../sql/expression.ts';
import { type Identifier, identifier, isIdentifier, type TableName } from '../sql/identifier.ts';
import type { Row, SqlPlan } from '../sql/plan.ts';
import { type ColumnProfile, ColumnTally, type Showing } from './column.ts';

export interface ProfileOptions {
  /** Rows that are read at most. */
  readonly rows: number;
  readonly signal: AbortSignal;
  /** What of a column's values may be shown. */
  readonly showing: (column: ColumnInfo) => Showing;
}

export interface TableProfile {
  readonly table: string;
  /** All that the table has. */
  readonly rows: number;
  /** Those that were read. */
  readonly read: number;
  /** Where these stand; undefined: all were read. */
  readonly sample: string | undefined;
  readonly key: readonly string[];
  readonly columns: readonly ProfiledColumn[];
}

export interface ProfiledColumn {
  readonly name: string;
  readonly declared: string;
  /** Undefined: not read, and `why`. */
  readonly profile: ColumnProfile | undefined;
  readonly why?: string;
}

/** Characters of a text that are read, bytes of a binary value. */
const TEXT_READ = 200;
const BYTES_READ = 32;
/** PlaceholderValues of the key at which a sample is taken. */
const PLACES = 20;
const ALIAS = identifier('t');

/** How many rows a table has. Throws DatabaseError. */
export async function countRows(database: Database, table: TableName, signal: AbortSignal): Promise<number> {
  const from = { table, alias: ALIAS, joins: [], where: TRUE };
  const plan: SqlPlan = { from, columns: [], orderBy: [], limit: 1, shape: 'count' };
  const [row] = await database.query(plan, { bulkhead: 'export', signal });
  return Number(row?.[0] ?? 0);
}

/** Reads a table. Throws DatabaseError. */
export async function profileTable(
  database: Database,
  table: TableName,
  info: TableInfo,
  { rows: most, signal, showing }: ProfileOptions,
): Promise<TableProfile> {
  const columns = [...info.columns.values()].map(column => ({
    column,
    read: reading(column, engineNamed(database.engine), showing),
  }));
  const readable = columns.flatMap(({ read }) => (typeof read === 'string' ? [] : [read]));
  const tallies = new Map(readable.map(({ name, isNumber }) => [name, new ColumnTally(isNumber)]));
  let read = 0;
  const take = (row: Row): void => {
    read++;
    for (const [i, { name, isBytes }] of readable.entries()) {
      const stored = row[i] ?? null;
      tallies.get(name)?.add(isBytes && typeof stored === 'string' ? Buffer.from(stored, 'hex') : stored);
    }
  };
  const rows = await countRows(database, table, signal);
  const source = { database, table, columns: readable.map(({ expression }) => expression), signal, take };
  const key = keyOf(info);
  const sample = await readRows(source, key, rows, most).catch((error: unknown) => {
    if (!(error instanceof DatabaseError) || error.reason !== 'cancelled') throw error;
    return 'until the time was over';
  });
  return {
    table: info.name,
    rows,
    read,
    sample,
    key: info.primaryKey,
    columns: columns.map(({ column, read: how }) => ({
      name: column.name,
      declared: column.declared,
      profile: typeof how === 'string' ? undefined : tallies.get(how.name)?.profile(showing(column)),
      ...(typeof how === 'string' ? { why: how } : {}),
    })),
  };
}

interface Reading {
  readonly name: Identifier;
  readonly expression: Expression;
  readonly isNumber: boolean;
  /** SQL Server gives a part of bytes as the text of their digits. */
  readonly isBytes: boolean;
}

/** The part of a column that is read, or why it is not. */
function reading(
  column: ColumnInfo,
  { holdsAnything, digitsOfByte }: Engine,
  showing: ProfileOptions['showing'],
): Reading | string {
  const { name, denied } = column;
  if (denied) return 'the login may not read it';
  if (!isIdentifier(name)) return 'no mapping can name it';
  // SQL Server has types that no conversion makes a text of.
  const type = column.type ?? (holdsAnything ? UNICODE : undefined);
  if (type === undefined) return `no codec takes ${column.declared}`;
  if (showing(column) === 'never') return '`deny` of pack.yaml';
  const expression: ColumnExpression = { kind: 'column', alias: ALIAS, column: name, type };
  const isLong = (type.kind === 'text' || type.kind === 'binary') && (type.length === 'max' || type.length > TEXT_READ);
  const isBytes = type.kind === 'binary';
  const most = isBytes ? BYTES_READ * digitsOfByte : TEXT_READ;
  const isNumber = type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float';
  return {
    name,
    isNumber,
    isBytes,
    expression: isLong && column.type ? call('substring', [expression, 1, most], type) : expression,
  };
}

interface Source {
  readonly database: Database;
  readonly table: TableName;
  readonly columns: readonly Expression[];
  readonly signal: AbortSignal;
  readonly take: (row: Row) => void;
}

interface Key {
  readonly column: ColumnExpression;
  readonly isNumber: boolean;
}

/** The first column of the primary key, or of a unique index: rows are sampled along it. */
function keyOf(info: TableInfo): Key | undefined {
  const unique = info.indexes.find(index => index.unique)?.columns;
  const name = (info.primaryKey.length > 0 ? info.primaryKey : unique)?.[0];
  const column = name === undefined ? undefined : findColumn(info, name);
  if (!column?.type || !isIdentifier(column.name) || column.denied) return undefined;
  const { type } = column;
  return { column: { kind: 'column', alias: ALIAS, column: column.name, type }, isNumber: type.kind === 'integer' };
}

/** Reads all rows, or a sample; returns where this stands. */
async function readRows(
  source: Source,
  key: Key | undefined,
  rows: number,
  most: number,
): Promise<TableProfile['sample']> {
  if (rows <= most || key === undefined) {
    await readFrom(source, TRUE, key, false, most);
    return rows <= most ? undefined : 'the first';
  }
  const ends = key.isNumber ? await endsOf(source, key.column) : undefined;
  if (ends === undefined) {
    await readFrom(source, TRUE, key, false, Math.ceil(most / 2));
    await readFrom(source, TRUE, key, true, Math.floor(most / 2));
    return `the first and the last by ${key.column.column}`;
  }
  const [least, greatest] = ends;
  const edge = (place: number): number => Math.floor(least + ((greatest - least) * place) / PLACES);
  let read = 0;
  // From the end: what a place has not, as before a number far beyond all others, those before it may have.
  for (let place = PLACES - 1; place >= 0; place--) {
    const within = [compare(key.column, '>=', value(edge(place), INTEGER))];
    if (place < PLACES - 1) within.push(compare(key.column, '<', value(edge(place + 1), INTEGER)));
    read += await readFrom(source, and(...within), key, false, Math.ceil((most - read) / (place + 1)));
  }
  return `from ${PLACES} places along ${key.column.column}`;
}

/** The least and the greatest of a column of whole numbers. */
async function endsOf(
  { database, table, signal }: Source,
  column: ColumnExpression,
): Promise<[number, number] | undefined> {
  const one = async (descending: boolean): Promise<number> => {
    const from = { table, alias: ALIAS, joins: [], where: TRUE };
    const orderBy = [{ by: column, descending }];
    const plan: SqlPlan = { from, columns: [column], orderBy, limit: 1, shape: 'rows' };
    const [row] = await database.query(plan, { bulkhead: 'export', signal });
    return Number(row?.[0] ?? Number.NaN);
  };
  const [least, greatest] = [await one(false), await one(true)];
  return Number.isSafeInteger(least) && Number.isSafeInteger(greatest) ? [least, greatest] : undefined;
}

/** Rows in the order of the key, so many at most. */
async function readFrom(
  { database, table, columns, signal, take }: Source,
  where: Predicate,
  key: Key | undefined,
  descending: boolean,
  most: number,
): Promise<number> {
  const plan: SqlPlan = {
    from: { table, alias: ALIAS, joins: [], where },
    columns,
    orderBy: key ? [{ by: key.column, descending, native: true }] : [],
    limit: most,
    shape: 'rows',
    stored: true,
    searches: true,
  };
  const rows = await database.query(plan, { bulkhead: 'export', signal });
  for (const row of rows) take(row);
  return rows.length;
}
