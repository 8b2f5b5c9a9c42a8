/**
 * Answers the questions of the view *Tables*: the list of tables, the schema of one, the profile of its rows, and its
 * keys. Rows are read as samples, within a time limit, and only while the view is shown.
 */

import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { getOrInsert } from '../../../common/caches.ts';
import type { Registry } from '../../../mapping/model.ts';
import { isPersonal, type Showing } from '../../../profile/column.ts';
import { profileTable } from '../../../profile/table.ts';
import { type Catalog, type ColumnInfo, type TableInfo, tableNameOf, tableText } from '../../../sql/catalog.ts';
import type { Database, ForeignKey, TableSurvey } from '../../../sql/database.ts';
import { likelyKeys } from '../../likely-keys.ts';
import { type MappedColumns, mappedColumns } from '../../mapped.ts';
import type { Unsaved } from '../../wire/mapping.ts';
import type {
  WireDetail,
  WireForeignKey,
  WireLikelyKeys,
  WireMapped,
  WireProfile,
  WireSizes,
  WireTables,
} from '../../wire/tables.ts';
import type { Desk, Served } from '../desk.ts';
import { placeOf } from '../to-wire.ts';
import { type Question, question, Refusal, unsaved } from './question.ts';

/** Rows per profile. */
const ROWS = 10_000;
/** Maximum number of values, forms and the like per column. */
const MOST = 40;

export const TABLES_QUESTIONS: readonly Question[] = [
  question('tables', { unsaved, again: z.boolean() }, async (asked, { desk }) => {
    if (asked.again) desk.forget();
    const { catalog, columns, mapped } = await readBy(desk, asked.unsaved);
    const tables = [...catalog.tables].map(([id, info]) => {
      const own = columns.get(id);
      const names = [...info.columns.values()].map(({ name }) => name);
      return {
        ...{ id, name: tableText(info), columns: names },
        mapped: names.flatMap((name, i) => (own?.has(name.toLowerCase()) ? [i] : [])),
      };
    });
    return { tables, mapped } satisfies WireTables;
  }),
  question('tables/sizes', {}, async (_, { desk }) => {
    const found = await surveyOf(desk.database, await desk.catalog());
    const sizes = [...found].flatMap(([id, { rows }]) => (rows === undefined ? [] : [[id, rows] as const]));
    return { sizes: Object.fromEntries(sizes) } satisfies WireSizes;
  }),
  question('tables/one', { unsaved, table: z.string() }, async (asked, { desk }) => {
    const { catalog, columns, mapped, placeNow } = await readBy(desk, asked.unsaved);
    const info = tableIn(catalog, asked.table);
    const surveys = await surveyOf(desk.database, await desk.catalog());
    const own = columns.get(asked.table);
    return {
      ...{ id: asked.table, name: tableText(info), rows: surveys.get(asked.table)?.rows, mapped, key: info.primaryKey },
      indexes: info.indexes.map(({ name, columns: of, unique }) => ({ name, columns: of, unique })),
      foreignKeys: (surveys.get(asked.table)?.foreignKeys ?? []).map(one => foreignKeyOf(one, catalog)),
      referencedBy: [...surveys].flatMap(([table, { foreignKeys }]) =>
        foreignKeys
          .filter(one => one.table === asked.table)
          .map(({ columns: theirs }) => ({ columns: theirs, table, theirs: [] })),
      ),
      columns: [...info.columns.values()].map(({ name, declared, nullable }) => ({
        ...{ name, declared, nullable },
        uses: (own?.get(name.toLowerCase()) ?? []).map(({ mapping, element, place }) => ({
          ...{ mapping, element, place: placeOf(placeNow(place)) },
        })),
      })),
    } satisfies WireDetail;
  }),
  question(
    'tables/profile',
    // With a column: shows its most frequent values, even personal ones.
    { unsaved, table: z.string(), column: z.string().optional() },
    async (asked, { desk, timeLimit, signal }) => {
      const catalog = await desk.catalog();
      const info = tableIn(catalog, asked.table);
      const name = tableNameOf(info);
      if (!name) throw new Refusal(404, 'The name of this table cannot be used in a statement');
      const denies = denying(desk, asked.unsaved);
      const { column: only } = asked;
      const showing = (of: ColumnInfo): Showing => {
        if (denies(info, of)) return 'never';
        if (only !== undefined) return 'always';
        return isPersonal(of.name) ? 'forms' : 'codes';
      };
      const size = (await surveyOf(desk.database, catalog)).get(asked.table)?.rows;
      const begun = performance.now();
      const options = {
        rows: ROWS,
        size,
        milliseconds: timeLimit,
        signal,
        only: only === undefined ? undefined : [only],
        showing,
      };
      const { rows, read, sample, cut, columns } = await profileTable(desk.database, name, info, options);
      return {
        ...{ rows, read, sample, cut, milliseconds: Math.round(performance.now() - begun) },
        columns: columns.map(({ name: of, profile, why }) => ({
          name: of,
          profile: profile && {
            ...profile,
            forms: profile.forms.slice(0, MOST),
            sentinels: profile.sentinels.slice(0, MOST),
            impossible: profile.impossible.slice(0, MOST),
            ...(profile.frequent ? { frequent: profile.frequent.slice(0, MOST) } : {}),
          },
          ...(why === undefined ? {} : { why }),
        })),
      } satisfies WireProfile;
    },
  ),
  question('tables/likely', { unsaved, table: z.string() }, async (asked, { desk, timeLimit, signal }) => {
    const catalog = await desk.catalog();
    const info = tableIn(catalog, asked.table);
    const survey = (await surveyOf(desk.database, catalog)).get(asked.table);
    const declared = (survey?.foreignKeys ?? []).flatMap(({ columns }) => (columns.length === 1 ? columns : []));
    return (await likelyKeys(desk.database, catalog, info, {
      ...{ milliseconds: timeLimit, signal, isDenied: denying(desk, asked.unsaved) },
      declared: new Set(declared.map(column => column.toLowerCase())),
    })) satisfies WireLikelyKeys;
  }),
];

function tableIn({ tables }: Catalog, id: string): TableInfo {
  const info = tables.get(id);
  if (!info) throw new Refusal(404, 'The database has no such table any more');
  return info;
}

/** Returns the test for denied columns. Throws Refusal if the `deny` rules are unknown. */
function denying(desk: Desk, texts: Unsaved): (table: TableInfo, column: ColumnInfo) => boolean {
  const deny = desk.deny(texts);
  if (!deny) throw new Refusal(409, 'pack.yaml cannot be read, so its deny rules are unknown: no row is read');
  return (table, column) =>
    column.denied !== undefined || deny(table.schema?.name, table.name, column.name) !== undefined;
}

const surveys = new WeakMap<Catalog, Promise<ReadonlyMap<string, TableSurvey>>>();

/** Reads the sizes and keys once per schema. */
function surveyOf(database: Database, catalog: Catalog): Promise<ReadonlyMap<string, TableSurvey>> {
  const known = surveys.get(catalog);
  if (known) return known;
  const found = database.survey?.(catalog) ?? Promise.resolve(new Map<string, TableSurvey>());
  surveys.set(catalog, found);
  found.catch(() => surveys.delete(catalog));
  return found;
}

interface ReadBy {
  readonly catalog: Catalog;
  readonly columns: MappedColumns;
  readonly mapped: WireMapped;
  readonly placeNow: Served['placeNow'];
}

const known = new WeakMap<Registry, MappedColumns>();

/** Returns what the pack with these texts reads from the database. */
async function readBy(desk: Desk, texts: Unsaved): Promise<ReadBy> {
  const catalog = await desk.catalog();
  const served = await desk.served(texts);
  if (!served) return { catalog, columns: new Map(), mapped: 'unknown', placeNow: place => place };
  const { registry, stale, placeNow } = served;
  const columns = getOrInsert(known, registry, () => mappedColumns(registry, served.catalog));
  return { catalog, columns, mapped: stale ? 'stale' : 'current', placeNow };
}

/** Converts a foreign key; without target columns it refers to the primary key. */
function foreignKeyOf({ columns, table, theirs }: ForeignKey, catalog: Catalog): WireForeignKey {
  return { columns, table, theirs: theirs.length > 0 ? theirs : (catalog.tables.get(table)?.primaryKey ?? []) };
}
