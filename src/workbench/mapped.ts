/**
 * Finds the columns of a database that a pack reads, and where. In: a registry and the catalog. Out: by table and
 * column the elements, lookups and conditions that read it, each with its place in the pack.
 */

import { getOrInsert } from '../common/caches.ts';
import { lineageOf } from '../explain/search.ts';
import { eachColumn } from '../law/columns.ts';
import { placeText } from '../mapping/load/problem.ts';
import type { Mapping, Position, Registry } from '../mapping/model.ts';
import { type Catalog, findTable, type TableInfo } from '../sql/catalog.ts';
import { printTable, type TableName } from '../sql/identifier.ts';

interface MappedUse {
  readonly mapping: string;
  /** Such as `name.family`; undefined for a key, a condition or a lookup. */
  readonly element: string | undefined;
  readonly place: Position;
}

/** By the table's key in the catalog, then by lower-case column. */
export type MappedColumns = ReadonlyMap<string, ReadonlyMap<string, readonly MappedUse[]>>;

/** Maximum number of uses listed per column. */
const MOST = 30;

export function mappedColumns(registry: Registry, catalog: Catalog): MappedColumns {
  const keys = new Map<TableInfo, string>([...catalog.tables].map(([key, info]) => [info, key]));
  const keyOf = (table: TableName): string => {
    const info = findTable(catalog, table);
    return (info && keys.get(info)) ?? printTable(table).toLowerCase();
  };
  const elements = new Map<Mapping, ReadonlyMap<string, string>>();
  const elementOf = (mapping: Mapping, at: Position): string | undefined => {
    const known = getOrInsert(
      elements,
      mapping,
      () => new Map(lineageOf(mapping).map(({ place, element }) => [place, element] as const)),
    );
    return known.get(placeText(at));
  };
  const found = new Map<string, Map<string, MappedUse[]>>();
  eachColumn(registry, (table, { column }, { mapping, at }) => {
    const key = keyOf(table);
    const columns = getOrInsert(found, key, () => new Map<string, MappedUse[]>());
    const uses = columns.get(column.toLowerCase()) ?? [];
    columns.set(column.toLowerCase(), uses);
    const isListed = uses.some(({ place, mapping: by }) => by === mapping.name && isSame(place, at));
    if (!isListed && uses.length < MOST)
      uses.push({ mapping: mapping.name, element: elementOf(mapping, at), place: at });
  });
  return found;
}

function isSame(a: Position, b: Position): boolean {
  return a.file === b.file && a.line === b.line && a.column === b.column;
}
