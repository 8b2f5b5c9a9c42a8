/**
 * Determines the share of a column's values that another table has. In: two tables, and a column of each. Out: the
 * share in a sample. Every read is limited in rows, and in time by the signal.
 */
import { findColumn, type TableInfo, tableNameOf } from '../../sql/catalog.ts';
import type { ColumnType } from '../../sql/column-type.ts';
import { among, filled, TRUE, value } from '../../sql/construct.ts';
import { type Database, DatabaseError, wasEnded } from '../../sql/database.ts';
import type { ColumnExpression, SqlValue } from '../../sql/expression.ts';
import { identifier, isIdentifier } from '../../sql/identifier.ts';
import type { SqlPlan } from '../../sql/plan.ts';

/** Maximum number of distinct values that are looked up. */
const LOOKED_FOR = 200;

/**
 * Returns the share of a sample of a column's distinct values that another table has as keys. Undefined if it cannot be
 * determined, or not in time.
 */
export async function shareAmong(
  { database, signal }: Reader,
  from: { readonly info: TableInfo; readonly column: string },
  to: TableInfo,
  key: string,
  rowsEach = 1,
): Promise<number | undefined> {
  const theirs = columnOf(to, key);
  const ours = columnOf(from.info, from.column);
  if (!theirs || !ours || !canBeCompared(theirs.type, ours.type)) return undefined;
  try {
    const sample = await database.query(planOf(from.info, ours, filled(ours)), { bulkhead: 'export', signal });
    const values = [...new Set(sample.flatMap(([one]) => (one === null || one === undefined ? [] : [one])))];
    if (values.length === 0) return undefined;
    const wanted = among(
      theirs,
      values.map(one =>
        theirs.type.kind === ours.type.kind ? value(one, ours.type) : value(String(one), theirs.type),
      ),
    );
    const found = await database.query(planOf(to, theirs, wanted, rowsEach), { bulkhead: 'export', signal });
    // By the collation of keys, `JSM` and `jsm` both match one key.
    const keys = new Set(found.map(([one]) => comparable(one)));
    return values.filter(one => keys.has(comparable(one))).length / values.length;
  } catch (error) {
    return unread(error);
  }
}

/** The database, and the signal that ends the reads. */
export interface Reader {
  readonly database: Database;
  readonly signal: AbortSignal;
}

/** Returns the texts of a short list by key, as text. Undefined if it is longer, cannot be read, or not in time. */
export async function pairsIn(
  { database, signal }: Reader,
  list: TableInfo,
  key: string,
  text: string,
  most: number,
): Promise<ReadonlyMap<string, string> | undefined> {
  const [theirs, words] = [columnOf(list, key), columnOf(list, text)];
  if (!theirs || !words) return undefined;
  try {
    const plan = { ...planOf(list, theirs, TRUE), columns: [theirs, words], limit: most + 1 };
    const rows = await database.query(plan, { bulkhead: 'export', signal });
    if (rows.length > most) return undefined;
    return new Map(rows.map(([of, name]) => [String(of).trim(), String(name ?? '').trim()]));
  } catch (error) {
    return unread(error);
  }
}

/** True if values have the same kind, or a text may hold our whole numbers. */
function canBeCompared(theirs: ColumnType, ours: ColumnType): boolean {
  return theirs.kind === ours.kind || (theirs.kind === 'text' && ours.kind === 'integer');
}

function comparable(stored: SqlValue | undefined): string {
  return stored instanceof Uint8Array ? Buffer.from(stored).toString('hex') : String(stored).trim().toLowerCase();
}

const ALIAS = identifier('t');

function columnOf(info: TableInfo, column: string): ColumnExpression | undefined {
  const found = findColumn(info, column);
  if (!found?.type || found.denied || !isIdentifier(found.name)) return undefined;
  return { kind: 'column', alias: ALIAS, column: found.name, type: found.type };
}

function planOf(info: TableInfo, column: ColumnExpression, where: SqlPlan['from']['where'], rowsEach = 1): SqlPlan {
  const table = tableNameOf(info) ?? { name: identifier(info.name) };
  return {
    from: { table, alias: ALIAS, joins: [], where },
    ...{ columns: [column], orderBy: [], limit: rowsEach * LOOKED_FOR, shape: 'rows', searches: true },
  };
}

/** Returns undefined for a statement that failed or timed out. Throws if the database is unreachable. */
export function unread(error: unknown): undefined {
  if (wasEnded(error) || (error instanceof DatabaseError && error.reason !== 'unavailable')) return undefined;
  throw error;
}
