/**
 * Compares the schema that a pack was written for with the live one. In: the catalog of the pack's lock and that of the
 * database. Out: problems: tables, columns or indexes that are gone, columns with another type or that may now be NULL.
 */
import {
  type Catalog,
  type ColumnInfo,
  findColumn,
  findTable,
  hasSameType,
  type IndexInfo,
  type TableInfo,
  tableText,
} from '../../sql/catalog.ts';
import type { Report } from '../load/problem.ts';
import type { Position } from '../model.ts';

/** Finds the position of a table or column in the lock. */
export type LockPlaces = (table: string, column?: string) => Position;

const BEGINNING: LockPlaces = () => ({ file: 'schema.lock.json', line: 1, column: 1 });
const REMEDY = 'the locked schema, or `lintel lock` after a review of the mappings';

/** Counts the columns whose type in the database differs from the lock. */
export function columnsOfOtherTypes(locked: Catalog, live: Catalog): number {
  return [...locked.tables.values()].reduce((sum, table) => {
    const now = findTable(live, tableText(table));
    const others = [...table.columns.values()].filter(column => {
      const found = now && findColumn(now, column.name);
      return found && !hasSameType(found, column);
    });
    return sum + others.length;
  }, 0);
}

/** Reports differences that can matter to a mapping. Additions do not. */
export function checkDrift(locked: Catalog, live: Catalog, report: Report, places: LockPlaces = BEGINNING): void {
  for (const table of locked.tables.values()) {
    const now = findTable(live, tableText(table));
    if (now) compareTables(table, now, report, places);
    else
      report.error('schema-changed', places(tableText(table)), `table ${tableText(table)} is gone`, {
        expected: REMEDY,
      });
  }
}

function compareTables(locked: TableInfo, live: TableInfo, report: Report, places: LockPlaces): void {
  for (const column of locked.columns.values()) {
    const now = findColumn(live, column.name);
    const name = `${tableText(locked)}.${column.name}`;
    const at = places(tableText(locked), column.name);
    if (!now)
      report.error('schema-changed', at, `column ${name} is gone`, {
        expected: REMEDY,
        among: namesOf(live),
        found: column.name,
      });
    else if (!hasSameType(now, column) || (now.nullable && !column.nullable)) {
      report.warning('schema-changed', at, `column ${name} has changed`, {
        expected: printed(column),
        found: printed(now),
      });
    }
  }
  for (const index of locked.indexes) {
    if (live.indexes.some(now => covers(now, index))) continue;
    const kind = index.unique ? 'unique index' : 'index';
    report.warning(
      'schema-changed',
      places(tableText(locked)),
      `${kind} ${tableText(locked)} (${index.columns.join(', ')}) is gone: searches may be slow`,
    );
  }
}

function namesOf(table: TableInfo): readonly string[] {
  return [...table.columns.values()].map(column => column.name);
}

function printed({ declared, nullable }: ColumnInfo): string {
  return `${declared.toUpperCase()}${nullable ? ' NULL' : ''}`;
}

/** True if an index serves what another did: it begins with the same columns and is unique if that was. */
function covers(now: IndexInfo, before: IndexInfo): boolean {
  if (before.unique && (!now.unique || now.columns.length !== before.columns.length)) return false;
  return before.columns.every((column, i) => now.columns[i]?.toLowerCase() === column.toLowerCase());
}
