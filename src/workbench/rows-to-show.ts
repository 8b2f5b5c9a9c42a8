/**
 * Finds rows for a preview. In: a mapping, and the kind of rows: any, those with the most NULLs, the longest, the most
 * unusual, or those that a FHIR search finds. Out: their keys as text, from a limited sample; `lintel check` samples
 * rows in the same way.
 */
import { OPEN_CONTEXT } from '../auth/access.ts';
import { poolOf, type Random, strangest } from '../check/pool.ts';
import { readColumns } from '../law/columns.ts';
import type { StoredRow } from '../law/fetched-rows.ts';
import { StoredRows } from '../law/stored-rows.ts';
import type { Mapping } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { bareRelation } from '../plan/condition.ts';
import { environment } from '../plan/environment.ts';
import { idsPredicate } from '../plan/identity.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import type { SqlValue } from '../sql/expression.ts';
import { PreviewError, type Previewing, previewRow } from './preview.ts';

export type Wish = 'any' | 'empty' | 'long' | 'strange';

export interface ShownRow {
  /** Values in the order of the mapping's key. */
  readonly key: readonly string[];
  /** What is special about the row, without a value. */
  readonly note: string;
}

const MOST = 12;

/** Returns some rows of the mapping's table. Rejects with DatabaseError. */
export async function rowsLike(
  wish: Wish,
  mapping: Mapping,
  { registry, database, signal, random }: Previewing & { readonly random: Random },
): Promise<readonly ShownRow[]> {
  const { catalog, columns } = await readColumns(registry, database);
  const stored = new StoredRows(registry, database, columns);
  const pool = await poolOf(mapping.source, stored, catalog, random, signal);
  return chosen(wish, pool, random).map(row => ({
    key: ownKey(mapping).map(({ column }) => written(row.get(column) ?? null)),
    note: `${emptyIn(row)} NULL, ${lengthOf(row)} characters`,
  }));
}

function chosen(wish: Wish, pool: readonly StoredRow[], random: Random): readonly StoredRow[] {
  switch (wish) {
    case 'any': {
      const drawn = pool.map(row => ({ row, at: random() })).toSorted((a, b) => a.at - b.at);
      return drawn.slice(0, MOST).map(({ row }) => row);
    }
    case 'empty':
      return pool.toSorted((a, b) => emptyIn(b) - emptyIn(a)).slice(0, MOST);
    case 'long':
      return pool.toSorted((a, b) => lengthOf(b) - lengthOf(a)).slice(0, MOST);
    case 'strange':
      return strangest(pool, MOST);
  }
}

function emptyIn(row: StoredRow): number {
  return [...row.values()].filter(one => one === null).length;
}

function lengthOf(row: StoredRow): number {
  return [...row.values()].reduce<number>((sum, one) => sum + (one === null ? 0 : written(one).length), 0);
}

/**
 * Returns the rows of this mapping among the resources that a search of its type finds. `search`: `name=value&…`.
 * Throws PreviewError if the search is invalid. Rejects with DatabaseError.
 */
export async function rowsFoundBy(
  search: string,
  mapping: Mapping,
  { registry, database, facade, now, signal }: Previewing,
): Promise<readonly ShownRow[]> {
  const ids = await idsFoundBy(search, mapping.resource, { facade, signal });
  return (await keysOfIds(mapping, ids, { registry, database, now, signal })).map(key => ({ key, note: '' }));
}

/** Finds the row and the mapping that make a resource; undefined if there is none. Rejects with DatabaseError. */
export async function rowOf(
  type: string,
  id: string,
  asking: Previewing,
): Promise<{ readonly mapping: string; readonly key: readonly string[] } | undefined> {
  for (const mapping of asking.registry.ofType(type)) {
    for (const key of await keysOfIds(mapping, [id], asking)) {
      // Rows of other mappings may yield the same id without being a resource.
      if ((await previewRow(mapping, key, asking)).id === id) return { mapping: mapping.name, key };
    }
  }
  return undefined;
}

async function keysOfIds(
  mapping: Mapping,
  ids: readonly string[],
  { registry, database, now, signal }: Omit<Previewing, 'facade'>,
): Promise<readonly (readonly string[])[]> {
  if (ids.length === 0) return [];
  const { source } = mapping;
  const env = environment(registry, now, FULL_VISIBILITY);
  const from = bareRelation(source, idsPredicate(mapping, ids, env), env, source.key);
  const orderBy = source.key.map(by => ({ by, descending: false }));
  const plan = {
    ...{ from, orderBy, columns: source.key, limit: MOST },
    ...({ shape: 'rows', stored: true, searches: true } as const),
  };
  const keys = await database.query(plan, { signal });
  const own = ownKey(mapping);
  return keys.map(key => source.key.flatMap((column, i) => (own.includes(column) ? [written(key[i] ?? null)] : [])));
}

async function idsFoundBy(
  search: string,
  type: string,
  { facade, signal }: Pick<Previewing, 'facade' | 'signal'>,
): Promise<readonly string[]> {
  const text = search.trim().replace(/^[A-Z][A-Za-z]*\?/, '');
  const parameters = [...new URLSearchParams(text), ['_count', String(MOST)] as const];
  try {
    const { json } = await facade.search({ type, parameters }, { ...OPEN_CONTEXT, signal });
    const { entry = [] } = JSON.parse(json) as {
      readonly entry?: readonly { readonly resource?: { readonly id?: string } }[];
    };
    return entry.flatMap(({ resource }) => resource?.id ?? []);
  } catch (error) {
    if (error instanceof FhirError) throw new PreviewError(error.message);
    throw error;
  }
}

function ownKey({ source }: Mapping): Mapping['source']['key'] {
  return source.key.filter(({ alias }) => alias === source.alias);
}

/** Returns the text of a key value: bytes as `0x…`. */
function written(stored: SqlValue): string {
  if (stored instanceof Uint8Array) return `0x${Buffer.from(stored).toString('hex')}`;
  return String(stored ?? '');
}
