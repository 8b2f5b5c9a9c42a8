/**
 * Describes the catalog of a database: tables, columns with types, keys, indexes. In: PRAGMAs or system views (in each
 * engine's folder), or a pack's lock file. Out: one shape for the loader, `check` and `explain`.
 */
import { type ColumnType, isSameType } from './column-type.ts';
import { identifier, isIdentifier, printTable, type TableName } from './identifier.ts';

export interface ColumnInfo {
  readonly name: string;
  readonly type: ColumnType | undefined;
  readonly declared: string;
  readonly nullable: boolean;
  /**
   * How the rows of a column of dates, times, numbers or UUIDs are written, if the engine does not enforce its type and
   * Lintel has read the rows: a text form that all of them have, `declared` for numbers that all fit the type and for
   * UUIDs in upper case, `small` for UUIDs in lower case, `trimmed` for texts of which none ends in a blank, or `any`.
   */
  readonly form?: WrittenAlike | 'declared' | 'small' | 'trimmed' | 'any';
  /** True if the form is `any` only because there was no time to read its rows. */
  readonly unseen?: true;
  /** Number of rows per form, largest first; NULL does not count. Absent if not all rows were read. */
  readonly written?: readonly { readonly form: string; readonly rows: number }[];
  /**
   * Why the login does not get the values: it may not read the column, or the server returns other values without an
   * error.
   */
  readonly denied?: 'permission' | AlteredRead;
}

/** Why a login reads other data than the table contains. */
export interface AlteredRead {
  /** The problem, as words that follow the name of the column or table. */
  readonly why: string;
  /** What the configuration should be instead. */
  readonly expected: string;
}

/** The form that all rows of a column of dates or times have. */
export interface WrittenAlike {
  readonly separator: ' ' | 'T';
  readonly length: number;
  /** True if the texts end in `Z`. */
  readonly utc?: true;
  /** True if some rows hold other values, all of which sort before or after the dates or times. */
  readonly mixed?: true;
}

export interface IndexInfo {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  /**
   * Columns that the index keeps in another collation than comparisons use: the index cannot find their values, and it
   * is unique by that other collation. Absent if there are none.
   */
  readonly unfit?: readonly UnfitColumn[];
}

export interface UnfitColumn {
  readonly column: string;
  /** The collation of the index. */
  readonly collation: string;
  /** The collation of comparisons. */
  readonly needed: string;
}

export interface TableInfo {
  /** As the database spells it, without the schema. */
  readonly name: string;
  /** If the engine has schemas: the table's schema, and whether statements must name it to find the table. */
  readonly schema?: { readonly name: string; readonly needed: boolean };
  readonly columns: ReadonlyMap<string, ColumnInfo>;
  readonly primaryKey: readonly string[];
  /** True for a view. */
  readonly isView?: true;
  /** True if the rows are former versions of rows of another table. */
  readonly isHistory?: true;
  /** Why the login may read other rows than the table contains. Absent if no reason is known. */
  readonly alteredReads?: readonly AlteredRead[];
  /** Includes the primary key's index. */
  readonly indexes: readonly IndexInfo[];
}

/**
 * A part of a schema: these tables, and all that have one of these columns. Schemas and case in the names are ignored.
 */
export interface CatalogPart {
  readonly tables: readonly string[];
  readonly columns?: readonly string[];
}

/**
 * Keys are names of tables and columns in lower case, because every engine compares names without case. If several
 * schemas have a table of the same name, the nearest one has the bare name, and the others `schema.name`.
 */
export interface Catalog {
  /** The engine whose spelling the declared types have. */
  readonly engine: string;
  readonly tables: ReadonlyMap<string, TableInfo>;
  /** Names that stand for a table which cannot be read (synonyms), in lower case, with the reason. */
  readonly unreachable?: ReadonlyMap<string, string>;
  /** What could not be found out about columns and rows that the login may read differently, one sentence each. */
  readonly unseen?: readonly string[];
}

/** Returns the catalog with what the login may not read marked as denied. Without a column: the whole table. */
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

/** Returns the collation that makes an index unusable for searches by this column; undefined if none does. */
export function unfitIn({ unfit = [] }: IndexInfo, column: string): UnfitColumn | undefined {
  return unfit.find(one => one.column.toLowerCase() === column.toLowerCase());
}

/**
 * Finds a table by `name`, `schema.name` or its name in a statement. If the engine has no schemas, or the lock names
 * none, a schema in the name is ignored.
 */
export function findTable(catalog: Catalog, name: string | TableName): TableInfo | undefined {
  const key = (typeof name === 'string' ? name : printTable(name)).toLowerCase();
  const found = catalog.tables.get(key);
  if (found !== undefined) return found;
  const [schema, bare] = key.split('.', 2);
  const nearest = bare === undefined ? undefined : catalog.tables.get(bare);
  return nearest?.schema === undefined || nearest.schema.name.toLowerCase() === schema ? nearest : undefined;
}

/** Returns the name of a table as the database spells it; with its schema if `name` has one. */
export function spelled(catalog: Catalog, name: string): string {
  const { name: bare = name, schema } = findTable(catalog, name) ?? {};
  return name.includes('.') && schema ? `${schema.name}.${bare}` : bare;
}

/** Returns all tables of this name, in any schema. */
export function tablesNamed(catalog: Catalog, bare: string): readonly TableInfo[] {
  const name = bare.toLowerCase();
  return [...catalog.tables.values()].filter(table => table.name.toLowerCase() === name);
}

/** Returns `cdm.person` if statements must name the schema, else `person`. */
export function tableText({ name, schema }: TableInfo): string {
  return schema?.needed ? `${schema.name}.${name}` : name;
}

/** Returns the name for statements; `schema`: as the mapping names it. Undefined if no statement can name the table. */
export function tableNameOf({ name, schema: of }: TableInfo, schema?: string): TableName | undefined {
  const named = of?.needed ? of.name : schema;
  if (!isIdentifier(name) || (named !== undefined && !isIdentifier(named))) return undefined;
  return named === undefined ? { name } : { schema: identifier(named), name };
}

export function findColumn(table: TableInfo, name: string): ColumnInfo | undefined {
  return table.columns.get(name.toLowerCase());
}

/**
 * True if two columns have the same type. Engines have synonyms for some types, and the copy of a schema in another
 * engine mostly keeps the original's spelling.
 */
export function hasSameType(a: ColumnInfo, b: ColumnInfo): boolean {
  if (a.declared.toUpperCase() === b.declared.toUpperCase()) return true;
  return a.type && b.type ? isSameType(a.type, b.type) : false;
}
