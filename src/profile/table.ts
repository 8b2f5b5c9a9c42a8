/**
 * Profiles a table. In: a database and the table's catalog entry. Out: a profile of each column, from all rows or a
 * sample that is spread over the key. It sends only SELECTs, until its time is over or a signal ends it.
 */
import { type ColumnInfo, findColumn, type TableInfo } from '../sql/catalog.ts';
import { UNICODE } from '../sql/column-type.ts';
import { and, call, isNull, not, TRUE, value } from '../sql/construct.ts';
import { type Database, type TableRows, wasEnded, within } from '../sql/database.ts';
import type { Engine } from '../sql/engine.ts';
import { engineNamed } from '../sql/engines.ts';
import type { ColumnExpression, Expression, Operator, Predicate, SqlValue } from '../sql/expression.ts';
import { type Identifier, identifier, isIdentifier, type TableName } from '../sql/identifier.ts';
import type { Row, SqlPlan } from '../sql/plan.ts';
import { type ColumnProfile, ColumnTally, type Showing } from './column.ts';
import { keyBetween } from './places.ts';

export interface ProfileOptions {
  /** Maximum number of rows to read. */
  readonly rows: number;
  /** Number of rows of the table, if known. */
  readonly size: TableRows | undefined;
  /** Time limit; the profile then covers the rows read so far. */
  readonly milliseconds: number;
  /** If aborted, the profile is cancelled and rejects. */
  readonly signal: AbortSignal;
  /** The columns to profile. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Decides which values of a column may be shown. */
  readonly showing: (column: ColumnInfo) => Showing;
}

export interface TableProfile {
  readonly table: string;
  /** Number of rows of the table. */
  readonly rows: TableRows | undefined;
  /** Number of rows that were read. */
  readonly read: number;
  /** Which rows were read; undefined if all were. */
  readonly sample: string | undefined;
  /** True if the time ended before `rows` of the options were read. */
  readonly cut: boolean;
  readonly key: readonly string[];
  readonly columns: readonly ProfiledColumn[];
}

export interface ProfiledColumn {
  readonly name: string;
  readonly declared: string;
  /** Undefined if not read; `why` gives the reason. */
  readonly profile: ColumnProfile | undefined;
  readonly why?: string;
}

/** Maximum number of characters of a text, and of bytes of a binary value, that are read. */
const TEXT_READ = 200;
const BYTES_READ = 32;
/** Number of rows between two checks of the clock. */
const LOOK = 50;
/**
 * Positions along the key, in the order in which they are read, so that a sample that ends early is spread too. The
 * start of the key comes last and takes the rows that the others lacked: if one key is far beyond all others, nearly
 * all rows are there.
 */
const PLACES = [19, 9, 14, 4, 17, 7, 12, 2, 18, 8, 13, 3, 16, 6, 11, 1, 15, 5, 10, 0] as const;
const ALIAS = identifier('t');

/** Profiles a table. Rejects with DatabaseError. */
export async function profileTable(
  database: Database,
  table: TableName,
  info: TableInfo,
  { rows: most, size, milliseconds, signal, only, showing }: ProfileOptions,
): Promise<TableProfile> {
  const columns = [...info.columns.values()]
    .filter(({ name }) => only === undefined || only.includes(name))
    .map(column => ({ column, read: reading(column, engineNamed(database.engine), showing) }));
  const readable = columns.flatMap(({ read }) => (typeof read === 'string' ? [] : [read]));
  const tallies = readable.map(one => ({ ...one, tally: new ColumnTally(one.isNumber) }));
  const until = performance.now() + milliseconds;
  let read = 0;
  const take = (row: Row): void => {
    if (read % LOOK === 0 && performance.now() > until) throw new TimeOver();
    read++;
    for (const [i, { tally, isBytes }] of tallies.entries()) {
      const stored = row[i] ?? null;
      tally.add(isBytes && typeof stored === 'string' ? Buffer.from(stored, 'hex') : stored);
    }
  };
  const inTime = within(milliseconds, signal);
  const source = { database, table, columns: readable.map(({ expression }) => expression), signal: inTime, take };
  let cut = false;
  const sample = await readRows(source, keyOf(info), size, most).catch((error: unknown) => {
    if (signal.aborted || !isOverTime(error)) throw error;
    cut = true;
    return 'until the time budget ended';
  });
  const profiles = new Map(tallies.map(({ name, tally }) => [name, tally]));
  return {
    table: info.name,
    rows: sample === undefined ? { count: read, kind: 'exact' } : size,
    ...{ read, sample, cut, key: info.primaryKey },
    columns: columns.map(({ column, read: how }) => ({
      name: column.name,
      declared: column.declared,
      profile: typeof how === 'string' ? undefined : profiles.get(how.name)?.profile(showing(column)),
      ...(typeof how === 'string' ? { why: how } : {}),
    })),
  };
}

/** Thrown when the time is over while rows are processed. */
export class TimeOver extends Error {}

export function isOverTime(error: unknown): boolean {
  return error instanceof TimeOver || wasEnded(error);
}

interface Reading {
  readonly name: Identifier;
  readonly expression: Expression;
  readonly isNumber: boolean;
  /** True if the value is binary: SQL Server returns part of it as hexadecimal text. */
  readonly isBytes: boolean;
}

/** Returns how a column is read, or why it is not. */
function reading(
  column: ColumnInfo,
  { holdsAnything, digitsOfByte }: Engine,
  showing: ProfileOptions['showing'],
): Reading | string {
  const { name, denied } = column;
  if (denied !== undefined) return denied === 'permission' ? 'the login may not read it' : `it ${denied.why}`;
  if (!isIdentifier(name)) return 'no mapping can name it';
  // SQL Server has types that cannot be converted to text.
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

/**
 * Returns the primary key, or a unique index, along which rows are sampled. Empty if no column of it can be compared.
 */
function keyOf(info: TableInfo): readonly ColumnExpression[] {
  const unique = info.indexes.find(index => index.unique)?.columns ?? [];
  const key: ColumnExpression[] = [];
  for (const name of info.primaryKey.length > 0 ? info.primaryKey : unique) {
    const column = findColumn(info, name);
    if (!column?.type || !isIdentifier(column.name) || column.denied) break;
    key.push({ kind: 'column', alias: ALIAS, column: column.name, type: column.type });
  }
  return key;
}

/** Reads all rows, or a sample; returns a description of the sample. */
async function readRows(
  source: Source,
  key: readonly ColumnExpression[],
  size: TableRows | undefined,
  most: number,
): Promise<TableProfile['sample']> {
  const [lead] = key;
  if (lead === undefined || (size !== undefined && size.count <= most)) {
    return (await readFrom(source, TRUE, key, false, most)).isMore ? 'the first' : undefined;
  }
  const parts = await partsOf(source, key, PLACES.length, []);
  if (parts === undefined) {
    const half = Math.ceil(most / 2);
    if (!(await readFrom(source, TRUE, key, false, half)).isMore) return undefined;
    await readFrom(source, TRUE, key, true, most - half);
    return `the first and the last by ${lead.column}`;
  }
  let read = 0;
  let isAll = true;
  const order = PLACES.filter(place => place < parts.places.length);
  for (const [i, place] of order.entries()) {
    const share = Math.ceil((most - read) / (order.length - i));
    const found = await readFrom(source, parts.places[place] ?? TRUE, key, false, share);
    isAll &&= !found.isMore;
    read += found.read;
  }
  const along = key.slice(0, parts.columns).map(({ column }) => column);
  return isAll ? undefined : `from ${parts.places.length} places along ${along.join(', ')}`;
}

/** If the first column of the key has at most so many values, each value is sampled along the next column. */
const FEW = 10;

/**
 * Returns conditions that divide the rows `within` others along a key, and how many of its columns they use. Undefined
 * if nothing is known about the keys between the ends.
 */
async function partsOf(
  source: Source,
  [lead, ...rest]: readonly ColumnExpression[],
  places: number,
  within: readonly Predicate[],
): Promise<{ readonly places: readonly Predicate[]; readonly columns: number } | undefined> {
  if (lead === undefined || (lead.type.kind !== 'integer' && lead.type.kind !== 'text')) return undefined;
  const few = rest.length > 0 ? await fewValues(source, lead, within) : undefined;
  if (few !== undefined && few.length > 0) {
    const parts: Predicate[] = [];
    for (const one of few) {
      const own = [...within, natively(lead, '=', one)];
      const below = await partsOf(source, rest, Math.floor(places / few.length), own);
      parts.push(...(below?.places ?? [and(...own)]));
    }
    return { places: parts, columns: few.length === parts.length ? 1 : 2 };
  }
  const [least, greatest] = [await endOf(source, lead, within, false), await endOf(source, lead, within, true)];
  const edges = new Set<SqlValue>();
  for (let place = 1; place < places; place++) {
    const edge = keyBetween(lead.type, least, greatest, place / places);
    if (edge === undefined) return undefined;
    edges.add(edge);
  }
  const all = [...edges];
  return {
    places: [undefined, ...all].map((from, i) => {
      const until = all[i];
      return and(
        ...within,
        ...(from === undefined ? [] : [natively(lead, '>=', from)]),
        ...(until === undefined ? [] : [natively(lead, '<', until)]),
      );
    }),
    columns: 1,
  };
}

/** Compares in the column's own collation, by which an index is sorted. */
function natively(column: ColumnExpression, op: Operator, key: SqlValue): Predicate {
  return { kind: 'compare', left: column, op, right: value(key, column.type), not: false, native: true };
}

/** Returns the values of a column in order; undefined if there are many. */
async function fewValues(
  source: Source,
  column: ColumnExpression,
  within: readonly Predicate[],
): Promise<readonly SqlValue[] | undefined> {
  const found: SqlValue[] = [];
  let next = await endOf(source, column, within, false);
  while (next !== null) {
    if (found.length === FEW) return undefined;
    found.push(next);
    next = await endOf(source, column, [...within, natively(column, '>', next)], false);
  }
  return found;
}

/** Returns the least or the greatest value of a column; NULL if there is none. */
async function endOf(
  { database, table, signal }: Source,
  column: ColumnExpression,
  within: readonly Predicate[],
  descending: boolean,
): Promise<SqlValue> {
  const where = and(...within, not(isNull(column)));
  const plan: SqlPlan = {
    from: { table, alias: ALIAS, joins: [], where },
    columns: [column],
    orderBy: [{ by: column, descending, native: true }],
    limit: 1,
    shape: 'rows',
    searches: true,
  };
  const [row] = await database.query(plan, { signal });
  return row?.[0] ?? null;
}

/** Reads at most `most` rows in the order of the key. Requests one more to know whether there are more. */
async function readFrom(
  { database, table, columns, signal, take }: Source,
  where: Predicate,
  key: readonly ColumnExpression[],
  descending: boolean,
  most: number,
): Promise<{ readonly read: number; readonly isMore: boolean }> {
  const plan: SqlPlan = {
    from: { table, alias: ALIAS, joins: [], where },
    columns,
    orderBy: key.map(by => ({ by, descending, native: true as const })),
    limit: most + 1,
    shape: 'rows',
    stored: true,
    searches: true,
  };
  const rows = await database.query(plan, { signal });
  for (const row of rows.slice(0, most)) take(row);
  return { read: Math.min(rows.length, most), isMore: rows.length > most };
}
