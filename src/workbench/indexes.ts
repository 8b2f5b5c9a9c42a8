/**
 * Finds the indexes that the database lacks for the statements of a pack. In: a registry and the catalog. Out: CREATE
 * INDEX statements, each with the searches, sorts and joins that it serves. Lintel executes none; the database
 * administrator does.
 */
import { getOrInsert } from '../common/caches.ts';
import type { Lookup, Mapping, Registry, Scope } from '../mapping/model.ts';
import { scopesOf } from '../mapping/piece-lookups.ts';
import { referencesOf } from '../plan/access.ts';
import { environment } from '../plan/environment.ts';
import { eachIn, findsRows, fixedIn, isIndexed, searchUses, sortUses } from '../plan/index-use.ts';
import { makeOffers } from '../plan/offers.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { type Catalog, findColumn, findTable, unfitIn } from '../sql/catalog.ts';
import { engineNamed } from '../sql/engines.ts';
import type { ColumnExpression } from '../sql/expression.ts';
import { type Identifier, identifier, printTable, type TableName, tableKey } from '../sql/identifier.ts';

export interface WantedIndex {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  /** One statement in the dialect of the current engine. */
  readonly statement: string;
  /** `Patient?name`, `Patient?_sort=birthdate`, `child rows of lab-reports`, `pages of lab-results`; sorted. */
  readonly serves: readonly string[];
  /** An existing index that begins with the same column but has another collation than comparisons use. */
  readonly instead: string | undefined;
}

/** Columns of one table that are compared together, and the uses. */
interface Wanted {
  readonly table: TableName;
  readonly columns: readonly Identifier[];
  readonly serves: Set<string>;
}

/**
 * Returns the missing indexes, those with the most uses first. Excludes views, which cannot have indexes. `onMapping`
 * is called before each mapping.
 */
export function wantedIndexes(
  registry: Registry,
  catalog: Catalog,
  onMapping: (name: string) => void = () => {},
): readonly WantedIndex[] {
  return wantedOf(registry, catalog, onMapping)
    .filter(one => !isOnView(one, catalog))
    .map(one => indexOf(one, catalog))
    .toSorted((a, b) => b.serves.length - a.serves.length || (a.name < b.name ? -1 : 1));
}

/** Returns by view the columns for which the tables behind it should have indexes; sorted. */
export function wantedOnViews(registry: Registry, catalog: Catalog): readonly Pick<WantedIndex, 'table' | 'columns'>[] {
  return wantedOf(registry, catalog)
    .filter(one => isOnView(one, catalog))
    .map(({ table, columns }) => ({ table: printTable(table), columns }))
    .toSorted((a, b) => (`${a.table} ${a.columns.join()}` < `${b.table} ${b.columns.join()}` ? -1 : 1));
}

function isOnView({ table }: Wanted, catalog: Catalog): boolean {
  return findTable(catalog, table)?.isView === true;
}

const kept = new WeakMap<Registry, { readonly catalog: Catalog; readonly wanted: readonly Wanted[] }>();

/** Caches the result per registry, because hundreds of mappings take a while. */
function wantedOf(
  registry: Registry,
  catalog: Catalog,
  onMapping: (name: string) => void = () => {},
): readonly Wanted[] {
  const before = kept.get(registry);
  if (before?.catalog === catalog) return before.wanted;
  const wanted = allWanted(registry, catalog, onMapping);
  kept.set(registry, { catalog, wanted });
  return wanted;
}

function allWanted(registry: Registry, catalog: Catalog, onMapping: (name: string) => void): readonly Wanted[] {
  const found = new Map<string, Wanted>();
  const want = (table: TableName, columns: readonly Identifier[], serves: string): void => {
    const unique = [...new Set(columns)];
    const key = `${tableKey(table)}(${unique.join().toLowerCase()})`;
    const known = getOrInsert(found, key, () => ({ table, columns: unique, serves: new Set<string>() }));
    known.serves.add(serves);
  };
  const kinds = kindColumns(registry.mappings);
  for (const mapping of registry.mappings) {
    onMapping(mapping.name);
    wantSearches(mapping, registry, catalog, want);
    wantJoins(mapping, registry, catalog, want);
    wantPages(mapping, kinds, catalog, want);
  }
  return withoutPrefixes([...found.values()]);
}

type Want = (table: TableName, columns: readonly Identifier[], serves: string) => void;

function wantSearches(mapping: Mapping, registry: Registry, catalog: Catalog, want: Want): void {
  const env = environment(registry, 0, FULL_VISIBILITY);
  const tables = tablesOf(mapping);
  for (const one of makeOffers(registry).of(mapping.resource)) {
    const { code } = one.parameter;
    const searches = one.inverse === 'indexed' && code !== '_id' ? searchUses(mapping, one, env) : [];
    // An index gives the order of rows only if it is on their own table.
    const sorts = (one.sortable ? sortUses(mapping, one, env) : []).filter(({ columns }) =>
      columns.every(({ alias }) => alias === mapping.source.alias),
    );
    const uses = [
      ...searches.map(use => ({ ...use, serves: `${mapping.resource}?${code}` })),
      ...sorts.map(use => ({ ...use, serves: `${mapping.resource}?_sort=${code}` })),
    ];
    for (const { columns, computed, serves } of uses) {
      if (!computed) wantColumns(columns, tables, catalog, (table, own) => want(table, own, serves));
    }
  }
}

/** Groups the columns of one use by table. If any of them is indexed, it narrows the rows and no index is wanted. */
function wantColumns(
  columns: readonly ColumnExpression[],
  tables: ReadonlyMap<Identifier, TableName>,
  catalog: Catalog,
  want: (table: TableName, columns: readonly Identifier[]) => void,
): void {
  const byAlias = Map.groupBy(columns, ({ alias }) => alias);
  const known = [...byAlias].flatMap(([alias, own]) => {
    const table = tables.get(alias);
    return table === undefined ? [] : [{ table, own: own.map(({ column }) => column) }];
  });
  if (known.some(({ table, own }) => own.some(column => isIndexed(catalog, table.name, column)))) return;
  for (const { table, own } of known) want(table, own);
}

/** Collects the joins for each row of a page: child rows, targets of references, and lookups. */
function wantJoins(mapping: Mapping, registry: Registry, catalog: Catalog, want: Want): void {
  const scopes: Scope[] = [mapping.source];
  for (const { from } of eachIn(mapping.root)) {
    scopes.push(...scopesOf(from));
    if (from.kind !== 'rows') continue;
    const { scope, on } = from;
    wantJoin({ ...scope, on }, `child rows of ${mapping.name}`, catalog, want);
  }
  for (const { node } of referencesOf(mapping)) {
    const { source, name } = registry.mapping(node.target);
    wantJoin({ ...source, on: node.on }, `references of ${mapping.name} to ${name}`, catalog, want);
  }
  for (const { lookups } of scopes) {
    for (const lookup of lookups) wantJoin(lookup, `lookup ${lookup.alias} of ${mapping.name}`, catalog, want);
  }
}

/** Wants an index on the columns of a join, preceded by columns that a condition fixes to one value. */
function wantJoin(
  { table, alias, on, where }: Pick<Lookup, 'table' | 'alias' | 'on' | 'where'>,
  serves: string,
  catalog: Catalog,
  want: Want,
): void {
  const joined = on.map(({ theirs }) => theirs).filter(one => one.alias === alias);
  if (joined.length === 0) return;
  if (findsRows({ table, alias, where }, joined, catalog)) return;
  const fixed = fixedIn(where, alias).map(({ column }) => column);
  want(table, [...fixed, ...joined.map(({ column }) => column)], serves);
}

/** By mapping: the columns that say which kind of the rows of its table it reads. */
type KindColumns = ReadonlyMap<Mapping, readonly Identifier[]>;

/**
 * Finds the columns by which mappings divide the rows of a table: those that two of them fix to different values. Of a
 * mapping that fixes several, those that suffice for another mapping suffice here, so that one index serves both.
 */
function kindColumns(mappings: readonly Mapping[]): KindColumns {
  const byTable = Map.groupBy(mappings, ({ source }) => tableKey(source.table));
  return new Map([...byTable.values()].flatMap(kindsOfTable));
}

function kindsOfTable(mappings: readonly Mapping[]): [Mapping, readonly Identifier[]][] {
  const fixed = mappings.map(mapping => [mapping, fixedIn(mapping.source.where, mapping.source.alias)] as const);
  const byColumn = Map.groupBy(
    fixed.flatMap(([, of]) => of),
    ({ column }) => column,
  );
  const divides = (column: Identifier): boolean =>
    new Set((byColumn.get(column) ?? []).map(({ value }) => JSON.stringify(value))).size > 1;
  const kinds = fixed.map(
    ([mapping, of]) => [mapping, new Set(of.map(({ column }) => column).filter(divides))] as const,
  );
  const sets = kinds.map(([, kind]) => kind).filter(kind => kind.size > 0);
  const fewest = sets.toSorted((a, b) => a.size - b.size);
  return kinds.map(([mapping, kind]) => [
    mapping,
    [...(fewest.find(other => [...other].every(column => kind.has(column))) ?? [])],
  ]);
}

/**
 * Wants an index for the pages of a mapping that reads one kind of the rows of a table: the columns that say the kind,
 * then the key, by which pages are ordered. Without it an engine sorts all rows of the kind for each page, or reads the
 * rows of other kinds.
 */
function wantPages(mapping: Mapping, kinds: KindColumns, catalog: Catalog, want: Want): void {
  const { table, alias, where, key } = mapping.source;
  const fixed = new Set(fixedIn(where, alias).map(({ column }) => column));
  const kind = kinds.get(mapping) ?? [];
  if (kind.length === 0 || key.some(part => part.alias !== alias || fixed.has(part.column))) return;
  const info = findTable(catalog, table);
  const lower = (columns: readonly string[]): string[] => columns.map(column => column.toLowerCase());
  const [ordered, constant] = [lower(key.map(({ column }) => column)), new Set(lower([...fixed]))];
  // An index ends with the primary key where that is the order of the rows themselves.
  const isAppended = ordered.join() === lower(info?.primaryKey ?? []).join();
  const serves = (info?.indexes ?? []).some(index => {
    const names = lower(index.columns);
    const at = names.findIndex(column => !constant.has(column));
    const rest = at < 0 ? [] : names.slice(at);
    const inOrder = ordered.every((column, i) => rest[i] === column) || (isAppended && rest.length === 0);
    return at !== 0 && inOrder && index.columns.every(column => unfitIn(index, column) === undefined);
  });
  if (!serves) want(table, [...kind, ...key.map(({ column }) => column)], `pages of ${mapping.name}`);
}

function tablesOf(mapping: Mapping): ReadonlyMap<Identifier, TableName> {
  const scopes = [mapping.source, ...eachIn(mapping.root).flatMap(({ from }) => scopesOf(from))];
  return new Map(
    scopes.flatMap(({ table, alias, lookups }) => [
      [alias, table] as const,
      ...lookups.map(lookup => [lookup.alias, lookup.table] as const),
    ]),
  );
}

/** Merges an index on (A) into one on (A, B), which serves the same. */
function withoutPrefixes(all: readonly Wanted[]): readonly Wanted[] {
  const covers = (longer: Wanted, shorter: Wanted): boolean =>
    longer !== shorter &&
    tableKey(longer.table) === tableKey(shorter.table) &&
    longer.columns.length > shorter.columns.length &&
    shorter.columns.every((column, i) => longer.columns[i]?.toLowerCase() === column.toLowerCase());
  const kept = all.filter(one => !all.some(other => covers(other, one)));
  for (const one of all) {
    const longer = kept.find(other => covers(other, one));
    for (const serves of longer ? one.serves : []) longer?.serves.add(serves);
  }
  return kept;
}

function indexOf({ table, columns, serves }: Wanted, catalog: Catalog): WantedIndex {
  const info = findTable(catalog, table);
  const name = `LINTEL_${table.name}_${columns.join('_')}`.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 120);
  const [first = ''] = columns;
  const begun = info?.indexes.find(index => unfitIn(index, first) !== undefined);
  const unfit = begun && unfitIn(begun, first);
  const { dialect, indexKey } = engineNamed(catalog.engine);
  const keys = columns.map(column => indexKey(dialect.name(column), info && findColumn(info, column)));
  return {
    name,
    table: printTable(table),
    columns,
    statement: `CREATE INDEX ${dialect.name(identifier(name))} ON ${dialect.table(table)} (${keys.join(', ')});`,
    serves: [...serves].toSorted(),
    instead: begun && unfit && `${begun.name}, which is ${unfit.collation}, since comparisons are ${unfit.needed}`,
  };
}
