/**
 * Finds the tables behind SQL Server's synonyms, because statements may name a synonym as a table. In: a function that
 * runs SELECTs, and bare names in lower case. Out: the table or view of each in this database or another one of the
 * server; and why others cannot be read. The name of a database comes from the server's own catalog and is quoted.
 * https://learn.microsoft.com/sql/relational-databases/synonyms/synonyms-database-engine
 */
import type { Row } from '../plan.ts';
import { askOf, type Run } from './lists.ts';
import { sysOf } from './other-database.ts';

/** A synonym of a table or view. */
export interface Synonym {
  readonly name: string;
  readonly schema: string;
  /** How near its schema is, as for tables (catalog.ts). */
  readonly place: number;
  /** The catalog views of the table's database. */
  readonly sys: string;
  readonly base: number;
  /** Such as `dbo.RESULT`, in its database. */
  readonly baseName: string;
  readonly isView: boolean;
  /** True for the history of a temporal table. */
  readonly isHistory: boolean;
}

export interface FoundSynonyms {
  readonly synonyms: readonly Synonym[];
  readonly unreachable: ReadonlyMap<string, string>;
}

const NONE: FoundSynonyms = { synonyms: [], unreachable: new Map() };

/** Lists synonyms, nearest schemas first. */
const synonyms = (also = ''): string => `SELECT CAST(o.name AS nvarchar(128)) AS name,
  CASE WHEN s.name = SCHEMA_NAME() THEN 0 WHEN s.name = 'dbo' THEN 1 ELSE 2 END AS place,
  CAST(s.name AS nvarchar(128)) AS schema_name,
  CAST(PARSENAME(o.base_object_name, 4) AS nvarchar(128)) AS server_name,
  CAST(PARSENAME(o.base_object_name, 3) AS nvarchar(128)) AS database_name,
  CAST(COALESCE(PARSENAME(o.base_object_name, 2), 'dbo') AS nvarchar(128)) AS base_schema,
  CAST(PARSENAME(o.base_object_name, 1) AS nvarchar(128)) AS base_name,
  COALESCE(HAS_DBACCESS(COALESCE(PARSENAME(o.base_object_name, 3), DB_NAME())), 0) AS may_enter
FROM sys.synonyms AS o
JOIN sys.schemas AS s ON s.schema_id = o.schema_id${also}
ORDER BY place, s.name, o.name`;

const bases = (sys: string, marks: string): string => `SELECT o.object_id, CAST(s.name AS nvarchar(128)) AS schema_name,
  CAST(o.name AS nvarchar(128)) AS name, CASE WHEN o.type = 'V' THEN 1 ELSE 0 END AS is_view,
  CASE WHEN t.temporal_type = 1 THEN 1 ELSE 0 END AS is_history
FROM ${sys}.objects AS o
JOIN ${sys}.schemas AS s ON s.schema_id = o.schema_id
LEFT JOIN ${sys}.tables AS t ON t.object_id = o.object_id
WHERE o.type IN ('U', 'V') AND o.is_ms_shipped = 0 AND LOWER(o.name) IN (${marks})`;

/** Returns the synonyms. `wanted`: names; undefined for all. */
export async function synonymsOf(run: Run, wanted: readonly string[] | undefined): Promise<FoundSynonyms> {
  if (wanted?.length === 0) return NONE;
  const rows =
    wanted === undefined
      ? await run({ text: synonyms(), parameters: [] })
      : await askOf(run, marks => synonyms(`\nWHERE LOWER(o.name) IN (${marks})`), [...new Set(wanted)]);
  const found: Synonym[] = [];
  const unreachable = new Map<string, string>();
  for (const [database, of] of Map.groupBy(rows, row => row[4])) {
    const sys = sysOf(database);
    const entered = of.filter(row => isWithin(row) && row[7] === 1);
    const names = [...new Set(entered.map(row => String(row[6]).toLowerCase()))];
    const tables = names.length === 0 ? [] : await askOf(run, marks => bases(sys, marks), names);
    for (const row of of) {
      const table = entered.includes(row) ? tables.find(one => isBase(one, row)) : undefined;
      const [name, schema] = [String(row[0]), String(row[2])];
      if (table) {
        const [base, isView, isHistory] = [Number(table[0]), table[3] === 1, table[4] === 1];
        const baseName = `${String(table[1])}.${String(table[2])}`;
        found.push({ name, schema, place: Number(row[1]), sys, base, baseName, isView, isHistory });
      } else unreachable.set(name.toLowerCase(), whyNot(row));
    }
  }
  return { synonyms: found.toSorted((a, b) => a.place - b.place), unreachable };
}

/** True if the synonym's table is on this server. */
function isWithin(row: Row): boolean {
  return row[3] === null || row[3] === undefined;
}

function isBase(table: Row, synonym: Row): boolean {
  const text = (of: unknown): string => String(of).toLowerCase();
  return text(table[1]) === text(synonym[5]) && text(table[2]) === text(synonym[6]);
}

function whyNot(row: Row): string {
  const [name, , schema, server, database, theirSchema, theirName, mayEnter] = row;
  const base = [server, database, theirSchema, theirName].filter(part => part !== null && part !== undefined).join('.');
  const of = `${String(schema)}.${String(name)} is a synonym of ${base}`;
  if (!isWithin(row)) return `${of}: tables of a linked server are not supported`;
  if (mayEnter !== 1) return `${of}: the login may not use that database`;
  return `${of}, which is no table or view that the login can see`;
}
