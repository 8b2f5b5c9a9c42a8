/**
 * Finds sizes and foreign keys of the tables of SQL Server. In: a catalog. Out: for each table the server's own number
 * of rows, and its declared foreign keys. No row is read. Views have no size.
 * https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-partitions-transact-sql
 */
import type { Catalog, TableInfo } from '../catalog.ts';
import type { ForeignKey, TableSurvey } from '../database.ts';
import type { Row } from '../plan.ts';
import type { Run } from './lists.ts';

const SIZES = `SELECT CAST(s.name AS nvarchar(128)) AS schema_name, CAST(o.name AS nvarchar(128)) AS name,
  CAST(SUM(p.rows) AS bigint) AS row_count
FROM sys.partitions AS p
JOIN sys.objects AS o ON o.object_id = p.object_id AND o.type = 'U' AND o.is_ms_shipped = 0
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
WHERE p.index_id IN (0, 1)
GROUP BY s.name, o.name`;

const FOREIGN_KEYS = `SELECT CAST(s.name AS nvarchar(128)) AS schema_name, CAST(o.name AS nvarchar(128)) AS name,
  f.object_id, CAST(c.name AS nvarchar(128)) AS our_column,
  CAST(ts.name AS nvarchar(128)) AS their_schema, CAST(t.name AS nvarchar(128)) AS their_table,
  CAST(tc.name AS nvarchar(128)) AS their_column
FROM sys.foreign_keys AS f
JOIN sys.foreign_key_columns AS k ON k.constraint_object_id = f.object_id
JOIN sys.objects AS o ON o.object_id = f.parent_object_id
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
JOIN sys.columns AS c ON c.object_id = k.parent_object_id AND c.column_id = k.parent_column_id
JOIN sys.objects AS t ON t.object_id = f.referenced_object_id
JOIN sys.schemas AS ts ON ts.schema_id = t.schema_id
JOIN sys.columns AS tc ON tc.object_id = k.referenced_object_id AND tc.column_id = k.referenced_column_id
ORDER BY f.object_id, k.constraint_column_id`;

export async function surveyTables(run: Run, { tables }: Catalog): Promise<ReadonlyMap<string, TableSurvey>> {
  const byFull = new Map([...tables].map(([key, table]) => [fullName(table.schema?.name, table.name), key]));
  const sizes = new Map<string, number>();
  for (const [schema, name, rows] of await run({ text: SIZES, parameters: [] })) {
    sizes.set(fullName(schema, name), Number(rows));
  }
  const foreign = Map.groupBy(await run({ text: FOREIGN_KEYS, parameters: [] }), row => fullName(row[0], row[1]));
  const surveyOf = ({ name, schema }: TableInfo): TableSurvey => {
    const full = fullName(schema?.name, name);
    const count = sizes.get(full);
    return {
      rows: count === undefined ? undefined : { count, kind: 'about' },
      foreignKeys: foreignKeysOf(foreign.get(full) ?? [], byFull),
    };
  };
  return new Map([...tables].map(([key, table]) => [key, surveyOf(table)]));
}

/** Returns foreign keys, except those to tables that the login cannot see. */
function foreignKeysOf(rows: readonly Row[], byFull: ReadonlyMap<string, string>): readonly ForeignKey[] {
  return [...Map.groupBy(rows, ([, , id]) => id).values()].flatMap(of => {
    const [first] = of;
    const table = first && byFull.get(fullName(first[4], first[5]));
    if (table === undefined) return [];
    return [{ columns: of.map(row => String(row[3])), table, theirs: of.map(row => String(row[6])) }];
  });
}

function fullName(schema: unknown, name: unknown): string {
  return `${String(schema ?? '')}.${String(name)}`.toLowerCase();
}
