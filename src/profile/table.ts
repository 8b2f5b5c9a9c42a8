/**
 * A table as its rows show it. In: a database and what its catalog says of the table. Out: the number of rows and a profile of each
 * column, of all rows or of a sample that is spread over the key. SELECTs alone, in the export lane, until a signal ends them.
 */
import { type ColumnInfo, findColumn, type TableInfo } from '../sql/catalog.ts';
import { INTEGER, UNICODE } from '../sql/column-type.ts';
import { call, compare, TRUE, value } from '../sql/construct.ts';
import type { Database } from '../sql/database.ts';
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
/** Places of the key at which a sample is taken. */
const PLACES = 20;
const ALIAS = identifier('t');

/** How many rows a table has. Throws DatabaseError. */
export async function countRows(database: Database, table: TableName, signal: AbortSignal): Promise<number> {
  const from = { table, alias: ALIAS, joins: [], where: TRUE };
  const plan: SqlPlan = { from, columns: [], orderBy: [], limit: 1, shape: 'count' };
  const [row] = await database.query(plan, { lane: 'export', signal });
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
    read: reading(column, database.engine, showing),
  }));
  const readable = columns.flatMap(({ read }) => (typeof read === 'string' ? [] : [read]));
  const tallies = new Map(readable.map(({ name, isNumber }) => [name, new ColumnTally(isNumber)]));
  const take = (row: Row): void => readable.forEach(({ name }, i) => void tallies.get(name)?.add(row[i] ?? null));
  const rows = await countRows(database, table, signal);
  const source = { database, table, columns: readable.map(({ expression }) => expression), signal, take };
  const key = keyOf(info);
  const { read, sample } = await readRows(source, key, rows, most);
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
}

/** The part of a column that is read, or why it is not. */
function reading(column: ColumnInfo, engine: Database['engine'], showing: ProfileOptions['showing']): Reading | string {
  const { name, denied } = column;
  if (denied) return 'the login may not read it';
  if (!isIdentifier(name)) return 'no mapping can name it';
  // SQLite gives what it holds, whatever is declared; SQL Server has types that no conversion makes a text of.
  const type = column.type ?? (engine === 'sqlite' ? UNICODE : undefined);
  if (type === undefined) return `no codec takes ${column.declared}`;
  if (showing(column) === 'never') return '`deny` of pack.yaml';
  const expression: ColumnExpression = { kind: 'column', alias: ALIAS, column: name, type };
  const isLong = (type.kind === 'text' || type.kind === 'binary') && (type.length === 'max' || type.length > TEXT_READ);
  const most = type.kind === 'binary' ? BYTES_READ : TEXT_READ;
  const isNumber = type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float';
  return {
    name,
    isNumber,
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

async function readRows(
  source: Source,
  key: Key | undefined,
  rows: number,
  most: number,
): Promise<Pick<TableProfile, 'read' | 'sample'>> {
  if (rows <= most) return { read: await readFrom(source, TRUE, key, false, most), sample: undefined };
  if (key === undefined) return { read: await readFrom(source, TRUE, key, false, most), sample: 'the first' };
  const ends = key.isNumber ? await endsOf(source, key.column) : undefined;
  if (ends === undefined) {
    const first = await readFrom(source, TRUE, key, false, Math.ceil(most / 2));
    const last = await readFrom(source, TRUE, key, true, Math.floor(most / 2));
    return { read: first + last, sample: `the first and the last by ${key.column.column}` };
  }
  const [least, greatest] = ends;
  const share = Math.ceil(most / PLACES);
  let read = 0;
  for (let place = 0; place < PLACES; place++) {
    const from = Math.floor(least + ((greatest - least) * place) / PLACES);
    const to = Math.floor(least + ((greatest - least) * (place + 1)) / PLACES);
    const within = [compare(key.column, '>=', value(from, INTEGER))];
    if (place < PLACES - 1) within.push(compare(key.column, '<', value(to, INTEGER)));
    read += await readFrom(source, { kind: 'and', of: within }, key, false, share);
  }
  return { read, sample: `from ${PLACES} places along ${key.column.column}` };
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
    const [row] = await database.query(plan, { lane: 'export', signal });
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
  const rows = await database.query(plan, { lane: 'export', signal });
  for (const row of rows) take(row);
  return rows.length;
}
