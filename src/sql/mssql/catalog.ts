/**
 * Reads SQL Server's catalog. In: a function that runs SELECTs, and the wanted part of the schema, because hospitals
 * have tens of thousands of tables. Out: tables and views as in src/sql/catalog.ts, and synonyms with the tables that
 * they stand for in this database or another one of the server (synonyms.ts). A bare name means the login's own schema,
 * then dbo; any other schema must be named.
 * https://learn.microsoft.com/sql/relational-databases/system-catalog-views/object-catalog-views-transact-sql
 */
import type { Catalog, CatalogPart, ColumnInfo, IndexInfo, TableInfo } from '../catalog.ts';
import { type ColumnType, spelledAs } from '../column-type.ts';
import type { Row } from '../plan.ts';
import { type AlteredReads, alteredReadsOf, type Seen, type SeenColumn } from './altered-reads.ts';
import { askOf, type Run } from './lists.ts';
import { synonymsOf } from './synonyms.ts';
import { parseMssqlType } from './types.ts';

/** Lists tables and views. `also`: a further condition. */
const objects = (also = ''): string => `SELECT o.object_id, CAST(o.name AS nvarchar(128)) AS name,
  CASE WHEN s.name = SCHEMA_NAME() THEN 0 WHEN s.name = 'dbo' THEN 1 ELSE 2 END AS place,
  CAST(s.name AS nvarchar(128)) AS schema_name, CASE WHEN o.type = 'V' THEN 1 ELSE 0 END AS is_view,
  CASE WHEN t.temporal_type = 1 THEN 1 ELSE 0 END AS is_history
FROM sys.objects AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
LEFT JOIN sys.tables AS t ON t.object_id = o.object_id
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0${also}
ORDER BY place, s.name, o.name`;

/** Names are compared without case, whatever the collation of the catalog. */
const named = (marks: string): string => objects(` AND LOWER(o.name) IN (${marks})`);
const withColumn = (marks: string): string =>
  objects(
    ` AND EXISTS (SELECT 1 FROM sys.columns AS c WHERE c.object_id = o.object_id AND LOWER(c.name) IN (${marks}))`,
  );

/** Lists columns. An alias type is replaced by its system type. `sys`: the catalog views of the database. */
const columnsOf = (where: string, sys = 'sys'): string => `SELECT c.object_id, CAST(c.name AS nvarchar(128)) AS name,
  CAST(COALESCE(b.name, t.name) AS nvarchar(128)) AS type_name, CAST(c.max_length AS int) AS max_length,
  CAST(c.precision AS int) AS precision, CAST(c.scale AS int) AS scale, CAST(c.is_nullable AS int) AS is_nullable,
  CAST(c.collation_name AS nvarchar(128)) AS collation_name,
  CAST(COLLATIONPROPERTY(c.collation_name, 'CodePage') AS int) AS code_page,
  CAST(c.is_masked AS int) AS is_masked, CASE WHEN c.encryption_type IS NULL THEN 0 ELSE 1 END AS is_encrypted,
  CAST(c.is_computed AS int) AS is_computed,
  CASE WHEN c.generated_always_type IN (1, 2) THEN 1 ELSE 0 END AS is_period
FROM ${sys}.columns AS c
JOIN ${sys}.objects AS o ON o.object_id = c.object_id AND o.type IN ('U', 'V') AND o.is_ms_shipped = 0
JOIN ${sys}.types AS t ON t.user_type_id = c.user_type_id
LEFT JOIN ${sys}.types AS b ON b.user_type_id = c.system_type_id${where}
ORDER BY c.object_id, c.column_id`;

const indexesOf = (
  also: string,
  sys = 'sys',
): string => `SELECT i.object_id, CAST(i.name AS nvarchar(128)) AS name, CAST(i.is_unique AS int) AS is_unique,
  CAST(i.is_primary_key AS int) AS is_primary_key, CAST(c.name AS nvarchar(128)) AS column_name
FROM ${sys}.indexes AS i
JOIN ${sys}.objects AS o ON o.object_id = i.object_id AND o.type IN ('U', 'V') AND o.is_ms_shipped = 0
JOIN ${sys}.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id AND k.key_ordinal > 0
JOIN ${sys}.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
WHERE i.has_filter = 0 AND i.is_disabled = 0 AND i.is_hypothetical = 0 AND i.type IN (1, 2)${also}
ORDER BY i.object_id, i.index_id, k.key_ordinal`;

/** The position of `is_period` in a row of `columnsOf`: the column belongs to the period of a temporal table. */
const PERIOD = 12;

/** The highest `place` that the server searches for a bare name: dbo. */
const NEARBY = 1;

/** Reads a part of the schema, or all that the login may see of it. Leaves out names that do not exist. */
export async function readCatalog(run: Run, part?: CatalogPart): Promise<Catalog> {
  const select = (text: string): Promise<readonly Row[]> => run({ text, parameters: [] });
  const found = part === undefined ? await select(objects()) : await objectsOf(run, part);
  const names = new Map<string, Row>();
  for (const row of found) {
    const bare = String(row[1]).toLowerCase();
    const key = names.has(bare) && names.get(bare)?.[0] !== row[0] ? `${row[3]}.${bare}`.toLowerCase() : bare;
    names.set(key, row);
  }
  const ids = [...names.values()].map(([object]) => Number(object));
  const of = async (text: (condition: string) => string, keyword: 'WHERE' | 'AND', id: string) =>
    Map.groupBy(
      part === undefined
        ? await select(text(''))
        : await askOf(run, marks => text(`\n${keyword} ${id} IN (${marks})`), ids),
      ([object]) => Number(object),
    );
  const columns = await of(columnsOf, 'WHERE', 'c.object_id');
  const indexes = await of(indexesOf, 'AND', 'i.object_id');
  const listed = [...names.values()].map(([object, name, , schema, isView, isHistory]): Seen => {
    const id = Number(object);
    const full = `${String(schema)}.${String(name)}`;
    return { id, name: full, isView: isView === 1, isHistory: isHistory === 1, columns: seenOf(columns.get(id)) };
  });
  const own = await alteredReadsOf(run, 'sys', listed);
  for (const [id, of] of columns) columns.set(id, inUtc(of, own.utc.get(id)));
  const unseen = [...own.unseen];
  const tables = [...names].map(([key, [object, name, place, schema, isView, isHistory]]): [string, TableInfo] => {
    const id = Number(object);
    const needed = Number(place) > NEARBY || key.includes('.');
    const of = withAlteredReads(own, id, tableOf(String(name), columns.get(id) ?? [], indexes.get(id) ?? []));
    const kind = {
      ...(isView === 1 && { isView: true as const }),
      ...(isHistory === 1 && { isHistory: true as const }),
    };
    return [key, { ...of, ...kind, schema: { name: String(schema), needed } }];
  });
  const { synonyms, unreachable } = await synonymsOf(run, part?.tables.map(bareName));
  const seen = new Map(tables);
  for (const [sys, of] of Map.groupBy(synonyms, synonym => synonym.sys)) {
    const bases = of.map(({ base }) => base);
    const theirColumns = await askedOf(run, marks => columnsOf(`\nWHERE c.object_id IN (${marks})`, sys), bases);
    const theirIndexes = await askedOf(run, marks => indexesOf(` AND i.object_id IN (${marks})`, sys), bases);
    const theirs = await alteredReadsOf(
      run,
      sys,
      of.map(({ base, baseName, isView, isHistory }) => {
        return { id: base, name: baseName, isView, isHistory, columns: seenOf(theirColumns.get(base)) };
      }),
    );
    unseen.push(...theirs.unseen);
    for (const [id, rows] of theirColumns) theirColumns.set(id, inUtc(rows, theirs.utc.get(id)));
    for (const { name, schema, place, base, isView } of of) {
      const bare = name.toLowerCase();
      const other = seen.get(bare);
      const isNearer = other?.schema?.needed === true && place <= NEARBY;
      // By the bare name the server finds the synonym; the table in the farther schema needs its schema's name.
      if (other && isNearer) seen.set(`${other.schema?.name}.${bare}`.toLowerCase(), other);
      const key = other && !isNearer ? `${schema}.${bare}`.toLowerCase() : bare;
      const table = withAlteredReads(
        theirs,
        base,
        tableOf(name, theirColumns.get(base) ?? [], theirIndexes.get(base) ?? []),
      );
      const needed = place > NEARBY || key.includes('.');
      seen.set(key, { ...table, ...(isView ? { isView: true as const } : {}), schema: { name: schema, needed } });
    }
  }
  return {
    engine: 'mssql',
    tables: seen,
    ...(unreachable.size > 0 ? { unreachable } : {}),
    ...(unseen.length > 0 ? { unseen: [...new Set(unseen)] } : {}),
  };
}

function seenOf(columns: readonly Row[] = []): readonly SeenColumn[] {
  return columns.map(row => {
    const [isMasked, isEncrypted, isComputed] = row.slice(9).map(flag => flag === 1);
    return {
      name: String(row[1]),
      isMasked: isMasked === true,
      isEncrypted: isEncrypted === true,
      isComputed: isComputed === true,
    };
  });
}

/** Marks columns of a view that are in UTC, like period columns of a table. */
function inUtc(rows: Row[], utc: ReadonlySet<string> | undefined): Row[] {
  if (utc === undefined) return rows;
  return rows.map(row => (utc.has(String(row[1]).toLowerCase()) ? [...row.slice(0, PERIOD), 1] : row));
}

function withAlteredReads({ columns, tables }: AlteredReads, id: number, table: TableInfo): TableInfo {
  const [of, alteredReads] = [columns.get(id), tables.get(id)];
  if (of === undefined && alteredReads === undefined) return table;
  const infos = [...table.columns].map(([key, info]): [string, ColumnInfo] => {
    const denied = of?.get(key);
    return [key, denied === undefined ? info : { ...info, denied }];
  });
  return { ...table, columns: new Map(infos), ...(alteredReads === undefined ? {} : { alteredReads }) };
}

async function askedOf(run: Run, text: (marks: string) => string, ids: readonly number[]) {
  return Map.groupBy(await askOf(run, text, [...new Set(ids)]), ([object]) => Number(object));
}

/** Returns `name` of `schema.name`, in lower case. */
function bareName(name: string): string {
  return name.toLowerCase().replace(/^.*\./, '');
}

/** Returns the tables in `tables` and those with a column in `columns`, nearest schemas first. */
async function objectsOf(run: Run, { tables, columns = [] }: CatalogPart): Promise<readonly Row[]> {
  const lower = (names: readonly string[]): readonly string[] => [...new Set(names.map(bareName))];
  const rows = [...(await askOf(run, named, lower(tables))), ...(await askOf(run, withColumn, lower(columns)))];
  // The lists are read in several statements, so a name in a farther schema may come before the nearer one.
  return rows.toSorted((a, b) => Number(a[2]) - Number(b[2]));
}

function tableOf(name: string, columns: readonly Row[], keys: readonly Row[]): TableInfo {
  const primary: string[] = [];
  const byName = Map.groupBy(keys, ([, index]) => String(index));
  const indexes = [...byName].map(([index, rows]): IndexInfo => {
    const of = rows.map(row => String(row[4]));
    const [first] = rows;
    if (first?.[3] === 1) primary.push(...of);
    return { name: index, columns: of, unique: first?.[2] === 1 };
  });
  const infos = columns.map((row): [string, ColumnInfo] => {
    const declared = spelling(row);
    const column = String(row[1]);
    const type = collated(spelledAs(parseMssqlType(declared), declared), row[7]);
    const info = { name: column, type, declared, nullable: row[6] === 1 };
    return [column.toLowerCase(), info];
  });
  return { name, columns: new Map(infos), primaryKey: primary, indexes };
}

const COLLATION = /^[A-Za-z]\w{0,127}$/;

/** Adds the collation. It becomes part of statements, so its form is checked. */
function collated(type: ColumnType | undefined, collation: unknown): ColumnType | undefined {
  if (type?.kind !== 'text' || typeof collation !== 'string' || !COLLATION.test(collation)) return type;
  return { ...type, collation };
}

const MAX = -1;
const UTF8 = /_UTF8$/i;

/** The code page of the collations that texts are compared by. */
const COMPARED_IN = 1252;
const IN_BYTES = /^(?:(?:VAR)?CHAR|TEXT)$/;

/**
 * Returns the type as in a CREATE TABLE. Appends the code page if the comparison's collation cannot represent its
 * texts, or `UTC` if the server writes the column in UTC.
 */
function spelling(row: Row): string {
  const [name, codePage, isPeriod] = [String(row[2]).toUpperCase(), row[8], row[PERIOD]];
  const type = sizedType(name, row);
  if (isPeriod === 1) return `${type} UTC`;
  return IN_BYTES.test(name) && typeof codePage === 'number' && codePage !== COMPARED_IN
    ? `${type} CP${codePage}`
    : type;
}

/** Returns the type with its length, precision or scale. The catalog has lengths of Unicode text in bytes. */
function sizedType(name: string, [, , , maxLength, precision, scale, , collation]: Row): string {
  const length = Number(maxLength) === MAX ? 'MAX' : Number(maxLength);
  switch (name) {
    case 'NCHAR':
    case 'NVARCHAR':
      return `${name}(${length === 'MAX' ? length : length / 2})`;
    case 'CHAR':
    case 'VARCHAR':
      // UTF-8 can hold every character, so the driver sends and receives it as Unicode.
      return UTF8.test(String(collation ?? '')) ? `N${name}(${unicodeLength(length)})` : `${name}(${length})`;
    case 'BINARY':
    case 'VARBINARY':
      return `${name}(${length})`;
    case 'DECIMAL':
    case 'NUMERIC':
      return `${name}(${precision},${scale})`;
    case 'DATETIME2':
    case 'DATETIMEOFFSET':
    case 'TIME':
      return `${name}(${scale})`;
    case 'TIMESTAMP':
      return 'ROWVERSION';
    default:
      return name;
  }
}

function unicodeLength(bytes: number | 'MAX'): number | 'MAX' {
  return bytes === 'MAX' || bytes > 4000 ? 'MAX' : bytes;
}
