/**
 * Reads the permissions of the login. In: a function that runs SELECTs, and names of tables. Out: tables and columns
 * that it may not read, and what it could change, as a login that can only read makes the promise of Lintel certain.
 * https://learn.microsoft.com/sql/t-sql/functions/has-perms-by-name-transact-sql
 */
import type { Permissions } from '../database.ts';
import type { Row } from '../plan.ts';
import { askOf, type Run } from './lists.ts';

const ON_DATABASE = `SELECT CAST(p.name AS nvarchar(128)) AS name
FROM (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('EXECUTE'), ('ALTER'), ('CREATE TABLE'), ('CONTROL')) AS p (name)
WHERE HAS_PERMS_BY_NAME(DB_NAME(), 'DATABASE', p.name) = 1`;

const NAME = `QUOTENAME(s.name) + '.' + QUOTENAME(o.name)`;

/**
 * The table's id, schema and name, and for each permission 1 where the login has it on all of the table; nearest
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

/** Of tables that it may not read in whole, because the permission is given or denied column by column. */
const onColumns = (marks: string): string => `SELECT o.object_id, CAST(c.name AS nvarchar(128)) AS column_name,
  HAS_PERMS_BY_NAME(${NAME}, 'OBJECT', 'SELECT', c.name, 'COLUMN') AS can_select
FROM sys.objects AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
JOIN sys.columns AS c ON c.object_id = o.object_id
WHERE o.object_id IN (${marks})
ORDER BY o.object_id, c.column_id`;

const CHANGES = ['INSERT', 'UPDATE', 'DELETE'] as const;

/** Asks what the login may do with the tables named, by `name` or `schema.name`. */
export async function readPermissions(run: Run, names: readonly string[]): Promise<Permissions> {
  const database = (await run({ text: ON_DATABASE, parameters: [] })).map(([name]) => String(name));
  const bare = [...new Set(names.map(name => name.replace(/^.*\./, '')))];
  const found = bare.length === 0 ? [] : await askOf(run, onTables, bare);
  const tables = names.flatMap(asked => {
    const row = found.find(([, schema, name]) => isAsked(asked, String(schema), String(name)));
    return row === undefined ? [] : [{ asked, id: Number(row[0]), may: row.slice(3) }];
  });
  const unread = tables.filter(({ may: [select] }) => select === 0);
  const columns =
    unread.length === 0
      ? []
      : await askOf(
          run,
          onColumns,
          unread.map(({ id }) => id),
        );
  return {
    unreadable: unread.flatMap(({ asked: table, id }) => {
      const of = columns.filter(([object]) => object === id);
      const denied = of.filter(([, , select]) => select === 0);
      if (denied.length === of.length) return [{ table }];
      return denied.map(([, column]) => ({ table, column: String(column) }));
    }),
    // What is allowed on the database is allowed on each table.
    writes: database.length > 0 ? database : tables.flatMap(changesOf),
  };
}

function isAsked(asked: string, schema: string, name: string): boolean {
  const text = asked.toLowerCase();
  return text === name.toLowerCase() || text === `${schema}.${name}`.toLowerCase();
}

function changesOf({ asked, may: [, ...changes] }: { readonly asked: string; readonly may: Row }): readonly string[] {
  const allowed = CHANGES.filter((_, i) => changes[i] === 1);
  return allowed.length === 0 ? [] : [`${allowed.join(', ')} on ${asked}`];
}
