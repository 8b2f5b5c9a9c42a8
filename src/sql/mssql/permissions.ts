/**
 * Reads the permissions of the login. In: a function that runs SELECTs, and names of tables. Out: tables and columns
 * that it may not read, and what it could change: only a login without such permissions makes Lintel's promise certain.
 * https://learn.microsoft.com/sql/t-sql/functions/has-perms-by-name-transact-sql
 */
import type { Permissions } from '../database.ts';
import type { Row } from '../plan.ts';
import { askOf, type Run } from './lists.ts';
import { hasOnDatabase, prefixText, sysOf } from './other-database.ts';

const ON_DATABASE = `SELECT CAST(p.name AS nvarchar(128)) AS name
FROM (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('EXECUTE'), ('ALTER'), ('CREATE TABLE'), ('CONTROL')) AS p (name)
WHERE ${hasOnDatabase('sys', 'p.name')} = 1`;

const NAME = `QUOTENAME(s.name) + '.' + QUOTENAME(o.name)`;

/**
 * Lists the table's id, schema and name, and for each permission 1 if the login has it on the whole table; nearest
 * schemas first.
 */
const onTables = (marks: string): string => `SELECT o.object_id, CAST(s.name AS nvarchar(128)) AS schema_name,
  CAST(o.name AS nvarchar(128)) AS name,
  HAS_PERMS_BY_NAME(${NAME}, 'OBJECT', 'SELECT') AS can_select,
  HAS_PERMS_BY_NAME(${NAME}, 'OBJECT', 'INSERT') AS can_insert,
  HAS_PERMS_BY_NAME(${NAME}, 'OBJECT', 'UPDATE') AS can_update,
  HAS_PERMS_BY_NAME(${NAME}, 'OBJECT', 'DELETE') AS can_delete
FROM sys.objects AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
WHERE o.type IN ('U', 'V') AND o.name IN (${marks})
ORDER BY CASE WHEN s.name = SCHEMA_NAME() THEN 0 WHEN s.name = 'dbo' THEN 1 ELSE 2 END, s.name, o.name`;

/**
 * Likewise for synonyms, with the database of each one's table. In the login's own database a permission on the synonym
 * is enough, as long as synonym and table have the same owner.
 */
const onSynonyms = (marks: string): string => {
  const has = (permission: string): string =>
    `CASE WHEN PARSENAME(o.base_object_name, 3) IS NULL AND HAS_PERMS_BY_NAME(${NAME}, 'OBJECT', '${permission}') = 1 THEN 1
    ELSE HAS_PERMS_BY_NAME(o.base_object_name, 'OBJECT', '${permission}') END`;
  return `SELECT OBJECT_ID(o.base_object_name) AS object_id, CAST(s.name AS nvarchar(128)) AS schema_name,
  CAST(o.name AS nvarchar(128)) AS name, ${has('SELECT')} AS can_select, ${has('INSERT')} AS can_insert,
  ${has('UPDATE')} AS can_update, ${has('DELETE')} AS can_delete,
  CAST(PARSENAME(o.base_object_name, 3) AS nvarchar(128)) AS database_name
FROM sys.synonyms AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
WHERE o.name IN (${marks})
ORDER BY CASE WHEN s.name = SCHEMA_NAME() THEN 0 WHEN s.name = 'dbo' THEN 1 ELSE 2 END, s.name, o.name`;
};

/** Lists columns: a permission may be granted or denied by column, whatever is granted on the table. */
const onColumns = (sys: string, marks: string): string =>
  `SELECT o.object_id, CAST(c.name AS nvarchar(128)) AS column_name,
  HAS_PERMS_BY_NAME(${prefixText(sys)} + ${NAME}, 'OBJECT', 'SELECT', c.name, 'COLUMN') AS can_select
FROM ${sys}.objects AS o
JOIN ${sys}.schemas AS s ON s.schema_id = o.schema_id
JOIN ${sys}.columns AS c ON c.object_id = o.object_id
WHERE o.object_id IN (${marks})
ORDER BY o.object_id, c.column_id`;

const CHANGES = ['INSERT', 'UPDATE', 'DELETE'] as const;

interface Asked {
  /** As the caller names it. */
  readonly table: string;
  readonly id: number;
  /** SELECT and CHANGES, 1 if they are allowed. */
  readonly may: Row;
  /** The catalog views that contain its columns. */
  readonly sys: string;
}

/** Returns the login's permissions on tables, named as `name` or `schema.name`. */
export async function readPermissions(run: Run, names: readonly string[]): Promise<Permissions> {
  const database = (await run({ text: ON_DATABASE, parameters: [] })).map(([name]) => String(name));
  const tables = await askedIn(run, onTables, names);
  const others = names.filter(name => !tables.some(({ table }) => table === name));
  tables.push(...(await askedIn(run, onSynonyms, others)));
  const unreadable: Unreadable[] = [];
  for (const [sys, of] of Map.groupBy(tables, table => table.sys)) {
    const ids = [...new Set(of.map(({ id }) => id))];
    const columns = Map.groupBy(await askOf(run, marks => onColumns(sys, marks), ids), ([object]) => Number(object));
    for (const { table, id, may } of of) unreadable.push(...unreadableOf(table, may, columns.get(id) ?? []));
  }
  // A permission on the database applies to each table.
  return { unreadable, writes: database.length > 0 ? database : tables.flatMap(changesOf) };
}

type Unreadable = Permissions['unreadable'][number];

async function askedIn(run: Run, text: (marks: string) => string, names: readonly string[]): Promise<Asked[]> {
  const bare = [...new Set(names.map(name => name.replace(/^.*\./, '')))];
  const found = await askOf(run, text, bare);
  return names.flatMap(table => {
    const row = found.find(([, schema, name]) => isAsked(table, String(schema), String(name)));
    return row === undefined ? [] : [{ table, id: Number(row[0]), may: row.slice(3, 7), sys: sysOf(row[7]) }];
  });
}

function unreadableOf(table: string, [select]: Row, columns: readonly Row[]): readonly Unreadable[] {
  const denied = columns.filter(([, , can]) => can === 0);
  if (denied.length === columns.length) return select === 0 || columns.length > 0 ? [{ table }] : [];
  return denied.map(([, column]) => ({ table, column: String(column) }));
}

function isAsked(asked: string, schema: string, name: string): boolean {
  const text = asked.toLowerCase();
  return text === name.toLowerCase() || text === `${schema}.${name}`.toLowerCase();
}

function changesOf({ table, may: [, ...changes] }: Asked): readonly string[] {
  const allowed = CHANGES.filter((_, i) => changes[i] === 1);
  return allowed.length === 0 ? [] : [`${allowed.join(', ')} on ${table}`];
}
