/**
 * The catalog of a database: tables, columns with types, keys, indexes. In: PRAGMAs or system views (in each engine's
 * folder), or a pack's lock file. Out: one shape for the loader, `check` and `explain`.
 */
import { type ColumnType, isSameType } from './column-type.ts';
import { identifier, isIdentifier, printTable, type TableName } from './identifier.ts';

export interface ColumnInfo {
  readonly name: string;
  readonly type: ColumnType | undefined;
  readonly declared: string;
  readonly nullable: boolean;
  /**
   * How the rows of a column of dates, times, numbers or UUIDs are written, where the engine does not see to it and
   * they were looked at: a text that all of them are cut to, `declared` for numbers that are all as the type says and
   * for UUIDs in upper case, `small` for UUIDs in lower case, `trimmed` for texts of which none ends in a blank, or
   * `any`.
   */
  readonly form?: WrittenAlike | 'declared' | 'small' | 'trimmed' | 'any';
  /** `any` only because there was no time to look at its rows. */
  readonly unseen?: true;
  /** How many rows are written in which form, most first; NULL is none. Absent: they were not all looked at. */
  readonly written?: readonly { readonly form: string; readonly rows: number }[];
  /** Why the login does not get its values: it may not read it, or reads something else without an error. */
  readonly denied?: 'permission' | Disguise;
}

/** Why a login reads something else than the rows that are there. */
export interface Disguise {
  /** What is wrong, as words that go on behind the name of the column or table. */
  readonly why: string;
  /** What would do instead. */
  readonly expected: string;
}

/** The form of all rows of a column of dates or times. */
export interface WrittenAlike {
  readonly separator: ' ' | 'T';
  readonly length: number;
  /** With `Z` at the end. */
  readonly utc?: true;
  /** But for what is no date or time, and sorts apart from all that are. */
  readonly mixed?: true;
}

export interface IndexInfo {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  /**
   * Columns that the index keeps in another collation than texts are compared by: it finds none of their values, and
   * its promise that they are unique is another. Left out where there is none.
   */
  readonly unfit?: readonly UnfitColumn[];
}

export interface UnfitColumn {
  readonly column: string;
  /** That of the index. */
  readonly collation: string;
  /** That of comparisons. */
  readonly needed: string;
}

export interface TableInfo {
  /** As the database spells it, without the schema. */
  readonly name: string;
  /** Where the engine has schemas: that of the table, and whether a statement has to name it to find the table. */
  readonly schema?: { readonly name: string; readonly needed: boolean };
  readonly columns: ReadonlyMap<string, ColumnInfo>;
  readonly primaryKey: readonly string[];
  /** Its rows are made of those of other tables. */
  readonly isView?: true;
  /** Its rows are former versions of those of another table. */
  readonly isHistory?: true;
  /** Why the login may read other rows than those that are there. Absent: nothing is known of such. */
  readonly disguises?: readonly Disguise[];
  /** The primary key's index included. */
  readonly indexes: readonly IndexInfo[];
}

/**
 * A part of a schema: tables by name, and all that have a column of some name. Without schemas, case does not count.
 */
export interface CatalogPart {
  readonly tables: readonly string[];
  readonly columns?: readonly string[];
}

/**
 * Keys are lower-case table and column names: every engine compares names without case. Of a name that stands in
 * several schemas the nearest has the bare name, and the others `schema.name`.
 */
export interface Catalog {
  /** Whose spelling the declared types are. */
  readonly engine: string;
  readonly tables: ReadonlyMap<string, TableInfo>;
  /** Names of a schema that stand for a table which cannot be read, in lower case, and why: synonyms. */
  readonly unreachable?: ReadonlyMap<string, string>;
  /** What is not known of columns and rows that the login may read otherwise than they are, one sentence each. */
  readonly unseen?: readonly string[];
}

/** The same catalog, in which what the login may not read is marked. Without a column: the whole table. */
export function withDenied(
  catalog: Catalog,
  denied: readonly { readonly table: string; readonly column?: string }[],
): Catalog {
  const byTable = Map.groupBy(denied, ({ table }) => findTable(catalog, table));
  const mark = (table: TableInfo, among: ReadonlySet<string | undefined>): TableInfo => ({
    ...table,
    columns: new Map(
      [...table.columns].map(([key, info]) =>
        among.has(undefined) || among.has(key) ? [key, { ...info, denied: 'permission' }] : [key, info],
      ),
    ),
  });
  const tables = [...catalog.tables].map(([key, table]): [string, TableInfo] => {
    const of = byTable.get(table);
    return [key, of ? mark(table, new Set(of.map(({ column }) => column?.toLowerCase()))) : table];
  });
  return { ...catalog, tables: new Map(tables) };
}

/** The collation that keeps an index from serving searches by one of its columns, if one does. */
export function unfitIn({ unfit = [] }: IndexInfo, column: string): UnfitColumn | undefined {
  return unfit.find(one => one.column.toLowerCase() === column.toLowerCase());
}

/**
 * By `name`, `schema.name` or the name in a statement. An engine without schemas, or a lock that names none, has the
 * table in any.
 */
export function findTable(catalog: Catalog, name: string | TableName): TableInfo | undefined {
  const key = (typeof name === 'string' ? name : printTable(name)).toLowerCase();
  const found = catalog.tables.get(key);
  if (found !== undefined) return found;
  const [schema, bare] = key.split('.', 2);
  const nearest = bare === undefined ? undefined : catalog.tables.get(bare);
  return nearest?.schema === undefined || nearest.schema.name.toLowerCase() === schema ? nearest : undefined;
}

/** The name of a table as the database spells it; with a schema where one is written. */
export function spelled(catalog: Catalog, name: string): string {
  const { name: bare = name, schema } = findTable(catalog, name) ?? {};
  return name.includes('.') && schema ? `${schema.name}.${bare}` : bare;
}

/** All tables of this name, in whatever schema. */
export function tablesNamed(catalog: Catalog, bare: string): readonly TableInfo[] {
  const name = bare.toLowerCase();
  return [...catalog.tables.values()].filter(table => table.name.toLowerCase() === name);
}

/** `cdm.person` where a statement has to name the schema, else `person`. */
export function tableText({ name, schema }: TableInfo): string {
  return schema?.needed ? `${schema.name}.${name}` : name;
}

/** As statements name it; `schema`: as it was asked for. Undefined: a statement cannot. */
export function tableNameOf({ name, schema: of }: TableInfo, schema?: string): TableName | undefined {
  const named = of?.needed ? of.name : schema;
  if (!isIdentifier(name) || (named !== undefined && !isIdentifier(named))) return undefined;
  return named === undefined ? { name } : { schema: identifier(named), name };
}

export function findColumn(table: TableInfo, name: string): ColumnInfo | undefined {
  return table.columns.get(name.toLowerCase());
}

/** Engines spell some types in several ways, and the copy of a schema in another engine mostly keeps the spelling. */
export function hasSameType(a: ColumnInfo, b: ColumnInfo): boolean {
  if (a.declared.toUpperCase() === b.declared.toUpperCase()) return true;
  return a.type && b.type ? isSameType(a.type, b.type) : false;
}
