/**
 * Finds foreign keys that a database does not declare. In: a table. Out: for its columns the tables whose keys they
 * likely hold, by name and because a sample of their values is among those keys. Reads few rows per statement, within a
 * time limit.
 */

import { performance } from 'node:perf_hooks';
import { isPersonal } from '../profile/column.ts';
import { looksLikeNone } from '../profile/form.ts';
import { isOverTime, TimeOver } from '../profile/table.ts';
import { type Catalog, type ColumnInfo, findColumn, type TableInfo, tableNameOf } from '../sql/catalog.ts';
import { among, TRUE, value } from '../sql/construct.ts';
import { type Database, within } from '../sql/database.ts';
import type { ColumnExpression, SqlValue } from '../sql/expression.ts';
import { identifier, isIdentifier, type TableName } from '../sql/identifier.ts';
import type { Row, SqlPlan } from '../sql/plan.ts';
import { wordsIn } from './init/words.ts';
import type { WireLikelyKey, WireLikelyKeys } from './wire/tables.ts';

export interface Looking {
  readonly milliseconds: number;
  readonly signal: AbortSignal;
  /** True for columns that must never be read, in any table. */
  readonly isDenied: (table: TableInfo, column: ColumnInfo) => boolean;
  /** Lower-case names of columns with a declared foreign key. */
  readonly declared: ReadonlySet<string>;
}

/** A key of one column of some table. */
interface Target {
  readonly key: string;
  readonly info: TableInfo;
  readonly name: TableName;
  readonly column: ColumnExpression;
}

/** Rows read at each end of the table's order. */
const ROWS = 1000;
/** Maximum number of distinct values that are looked up. */
const VALUES = 200;
/** Without a fitting name, at least so many values are needed. */
const VALUES_ALONE = 20;
/** If more tables than this have all the values, these are just small numbers. */
const FEW = 2;
/** Maximum number of tables with fitting names that are examined per column. */
const NAMED = 3;
/** Minimum share of the values that must be keys. */
const LEAST = 0.5;
const ALIAS = identifier('t');

/** Words that mark a name as a key without naming its table. */
const OF_KEYS: ReadonlySet<string> = new Set([
  'id',
  'number',
  'code',
  'key',
  'identifier',
  'ref',
  'fk',
  'pk',
  'sk',
  'oid',
]);
/** Words in names of tables that do not describe the content. */
const OF_TABLES: ReadonlySet<string> = new Set([
  'master',
  'table',
  'tbl',
  'list',
  'dim',
  'lookup',
  'lkp',
  'ref',
  'file',
]);

/** Returns the likely keys of a table. Rejects with DatabaseError. */
export async function likelyKeys(
  database: Database,
  catalog: Catalog,
  info: TableInfo,
  { milliseconds, signal, isDenied, declared }: Looking,
): Promise<WireLikelyKeys> {
  const until = performance.now() + milliseconds;
  const inTime = within(milliseconds, signal);
  const query = async (plan: SqlPlan): Promise<readonly Row[]> => {
    if (performance.now() > until) throw new TimeOver();
    return database.query(plan, { signal: inTime });
  };
  const table = tableNameOf(info);
  const targets = targetsIn(catalog, isDenied).filter(target => target.info !== info);
  const columns = [...info.columns.values()]
    .filter(column => isCandidate(column) && !isDenied(info, column) && !declared.has(column.name.toLowerCase()))
    .flatMap(column => expressionOf(column) ?? []);
  const keys: WireLikelyKey[] = [];
  try {
    const samples = table && columns.length > 0 ? await sampleOf(table, columns, info, query) : [];
    const open: { readonly column: ColumnExpression; readonly values: readonly SqlValue[] }[] = [];
    for (const [i, column] of columns.entries()) {
      const values = samples[i] ?? [];
      const own = info.primaryKey.length === 1 && info.primaryKey[0] === column.column;
      const fitting = own && isNamedAfter(column.column, info.name) ? [] : targetsNamed(column, info, targets);
      if (fitting.length === 0 && !own && values.length >= VALUES_ALONE && !isPersonal(column.column))
        open.push({ column, values });
      for (const target of fitting) {
        const found = await foundIn(target, values, query);
        if (values.length === 0 || found >= LEAST * values.length)
          keys.push(likely(column, target, 'name', values, found));
      }
    }
    for (const { column, values } of open) {
      const holding: Target[] = [];
      for (const target of targets.filter(one => isAlike(one.column, column))) {
        // In most tables the first few values are missing already.
        const few = values.slice(0, FEW);
        if ((await foundIn(target, few, query)) < few.length) continue;
        if ((await foundIn(target, values, query)) === values.length) holding.push(target);
        if (holding.length > FEW) break;
      }
      if (holding.length <= FEW)
        keys.push(...holding.map(target => likely(column, target, 'values', values, values.length)));
    }
    return { keys, cut: false };
  } catch (error) {
    if (signal.aborted || !isOverTime(error)) throw error;
    return { keys, cut: true };
  }
}

function likely(
  { column }: ColumnExpression,
  target: Target,
  by: WireLikelyKey['by'],
  values: readonly SqlValue[],
  found: number,
): WireLikelyKey {
  return { column, table: target.key, theirs: target.column.column, by, sampled: values.length, found };
}

function isCandidate({ type, denied }: ColumnInfo): boolean {
  return !denied && (type?.kind === 'integer' || type?.kind === 'text' || type?.kind === 'uuid');
}

function expressionOf({ name, type }: ColumnInfo): ColumnExpression | undefined {
  return isIdentifier(name) && type ? { kind: 'column', alias: ALIAS, column: name, type } : undefined;
}

/** Returns the keys of all tables; of several keys of a table the primary one. */
function targetsIn({ tables }: Catalog, isDenied: Looking['isDenied']): readonly Target[] {
  return [...tables].flatMap(([key, info]) => {
    const unique = [info.primaryKey, ...info.indexes.filter(one => one.unique).map(one => one.columns)];
    const [only] = unique.find(columns => columns.length === 1) ?? [];
    const column = only === undefined ? undefined : findColumn(info, only);
    if (!column || !isCandidate(column) || isDenied(info, column)) return [];
    const [name, expression] = [tableNameOf(info), expressionOf(column)];
    return name && expression ? [{ key, info, name, column: expression }] : [];
  });
}

/** Returns the distinct values of some rows, by column; without blanks and sentinels. */
async function sampleOf(
  table: TableName,
  columns: readonly ColumnExpression[],
  info: TableInfo,
  query: (plan: SqlPlan) => Promise<readonly Row[]>,
): Promise<readonly (readonly SqlValue[])[]> {
  const first = info.primaryKey[0];
  const key = first === undefined ? undefined : findColumn(info, first);
  const by = key && expressionOf(key);
  const rows: Row[] = [];
  for (const descending of by ? [false, true] : [false]) {
    const orderBy = by ? [{ by, descending, native: true as const }] : [];
    const from = { table, alias: ALIAS, joins: [], where: TRUE };
    rows.push(...(await query({ from, columns, orderBy, limit: ROWS, shape: 'rows', searches: true })));
  }
  return columns.map((_, i) => {
    const values = new Map<string, SqlValue>();
    for (const row of rows) {
      const stored = row[i] ?? null;
      const text = String(stored).trim();
      if (stored === null || text === '' || looksLikeNone(stored) || values.size >= VALUES) continue;
      values.set(text, typeof stored === 'string' ? stored.trimEnd() : stored);
    }
    return [...values.values()];
  });
}

async function foundIn(
  { name, column }: Target,
  values: readonly SqlValue[],
  query: (plan: SqlPlan) => Promise<readonly Row[]>,
): Promise<number> {
  if (values.length === 0) return 0;
  const where = among(
    column,
    values.map(one => value(one, column.type)),
  );
  const from = { table: name, alias: ALIAS, joins: [], where };
  const rows = await query({ from, columns: [column], orderBy: [], limit: VALUES, shape: 'rows', searches: true });
  return new Set(rows.map(([one]) => String(one).trim())).size;
}

function isAlike(a: ColumnExpression, b: ColumnExpression): boolean {
  return a.type.kind === b.type.kind;
}

/** Returns the tables after whose name or key the column is named, best first. */
function targetsNamed(column: ColumnExpression, { name }: TableInfo, targets: readonly Target[]): readonly Target[] {
  // Tables of one part of an application have the same prefix.
  const alike = ({ info }: Target): number => {
    const at = [...name].findIndex((letter, i) => info.name[i]?.toLowerCase() !== letter.toLowerCase());
    return at < 0 ? name.length : at;
  };
  return targets
    .filter(target => isAlike(target.column, column))
    .map(target => ({ target, score: scoreOf(column.column, target) }))
    .filter(({ score }) => score > 0)
    .toSorted(
      (a, b) =>
        b.score - a.score || alike(b.target) - alike(a.target) || a.target.info.name.length - b.target.info.name.length,
    )
    .slice(0, NAMED)
    .filter(({ score }, _, [best]) => score === best?.score)
    .map(({ target }) => target);
}

/** True for `RESULT_ID` of `LAB_RESULT`: the table's own number, which another table may have too. */
function isNamedAfter(column: string, table: string): boolean {
  const [ours, of] = [wordsOf(column, OF_KEYS), wordsOf(table, OF_TABLES)];
  return ours.length === 0 || ours.join() === of.slice(-ours.length).join();
}

/** Scores the match of the names; 0 if they do not match. */
function scoreOf(column: string, { info, column: { column: key } }: Target): number {
  const ours = wordsOf(column, OF_KEYS);
  const theirs = wordsOf(key, OF_KEYS);
  const table = wordsOf(info.name, OF_TABLES);
  if (ours.length === 0) return 0;
  const isOwn = theirs.length === 0 || table.some(word => theirs.includes(word));
  if (column.toLowerCase() === key.toLowerCase() && theirs.length > 0) return isOwn ? 4 : 3;
  if (theirs.length > 0 && isOwn && theirs.every(word => ours.includes(word))) return 2;
  if (table.length === 0 || !isOwn) return 0;
  if (table.join() === ours.join()) return 4;
  const isKey = wordsIn(column).size > ours.length;
  return isKey && table.every(word => ours.includes(word)) ? 2 : 0;
}

/** Returns the words in singular, without the given ones. */
function wordsOf(name: string, without: ReadonlySet<string>): readonly string[] {
  return [...wordsIn(name)].filter(word => !without.has(word)).map(word => word.replace(/(?<=\w{3})s$/, ''));
}
