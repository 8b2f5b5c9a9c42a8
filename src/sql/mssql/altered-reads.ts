/**
 * Finds features that make a login read other data than the tables contain, without an error. In: a function that runs
 * SELECTs, and tables of one database with flags of their columns. Out: columns whose values the login does not get,
 * tables of which it gets other rows, and facts that it may not know for lack of permissions.
 *
 * | feature | what a SELECT returns | here |
 * |---|---|---|
 * | dynamic data masking without UNMASK | `xxxx`, 0, 1900-01-01 | column |
 * | a computed column, or a column of a view, of such a column | likewise | column |
 * | Always Encrypted | ciphertext | column |
 * | a security policy with a filter predicate | fewer rows | table |
 * | the history of a temporal table | former versions | table |
 * | a column of a view that is of the period of a temporal table | a time in UTC | its type |
 *
 * https://learn.microsoft.com/sql/relational-databases/security/dynamic-data-masking
 * https://learn.microsoft.com/sql/relational-databases/security/row-level-security
 */
import type { AlteredRead } from '../catalog.ts';
import type { Row } from '../plan.ts';
import { askOf, type Run } from './lists.ts';
import { databaseText, hasOnDatabase, prefixText } from './other-database.ts';

/** A table or view of the catalog. */
export interface Seen {
  readonly id: number;
  /** Such as `dbo.PERSON`. */
  readonly name: string;
  readonly isView: boolean;
  readonly isHistory: boolean;
  readonly columns: readonly SeenColumn[];
}

export interface SeenColumn {
  readonly name: string;
  readonly isEncrypted: boolean;
  readonly isMasked: boolean;
  readonly isComputed: boolean;
}

export interface AlteredReads {
  /** By the object's id, and by column in lower case. */
  readonly columns: ReadonlyMap<number, ReadonlyMap<string, AlteredRead>>;
  readonly tables: ReadonlyMap<number, readonly AlteredRead[]>;
  /** Columns of views that are in UTC, in lower case. */
  readonly utc: ReadonlyMap<number, ReadonlySet<string>>;
  /** What could not be found out, one sentence each. */
  readonly unseen: readonly string[];
}

const UNMASK = 'UNMASK for the login, or a mapping without the column';

const MASKED: AlteredRead = { why: 'is masked for the login (dynamic data masking)', expected: UNMASK };
const COMPUTED: AlteredRead = { why: 'is computed of a column that is masked for the login', expected: UNMASK };
const ENCRYPTED: AlteredRead = {
  why: 'is encrypted (Always Encrypted), and Lintel has no keys',
  expected: 'a column in plain text, or a mapping without this one',
};
const HISTORY: AlteredRead = {
  why: 'is the history of a temporal table: its rows are former versions',
  expected: 'the temporal table itself',
};

/** Returns the login's rights, and whether the server has security policies; Babelfish has none. */
const rights = (sys: string): string =>
  `SELECT ${hasOnDatabase(sys, "'VIEW DEFINITION'")} AS may_view,
  ${hasOnDatabase(sys, "'UNMASK'")} AS may_unmask,
  COUNT(*) AS has_policies
FROM ${sys}.all_views AS v
WHERE v.name = 'security_predicates'`;

/**
 * Lists columns that are masked, encrypted, or of a temporal table's period, with 1 if the login has UNMASK. Before SQL
 * Server 2022 it can only be granted on the database, and is NULL on smaller objects.
 */
const specialColumns = (sys: string, also = ''): string => {
  const table = `${prefixText(sys)} + QUOTENAME(s.name) + '.' + QUOTENAME(o.name)`;
  return `SELECT c.object_id, CAST(c.name AS nvarchar(128)) AS name,
  CASE WHEN c.encryption_type IS NULL THEN 0 ELSE 1 END AS is_encrypted,
  COALESCE(HAS_PERMS_BY_NAME(${table}, 'OBJECT', 'UNMASK', c.name, 'COLUMN'),
    HAS_PERMS_BY_NAME(${table}, 'OBJECT', 'UNMASK'), ${hasOnDatabase(sys, "'UNMASK'")}) AS may_unmask,
  CAST(s.name AS nvarchar(128)) AS schema_name, CAST(o.name AS nvarchar(128)) AS table_name,
  CAST(c.is_masked AS int) AS is_masked
FROM ${sys}.columns AS c
JOIN ${sys}.objects AS o ON o.object_id = c.object_id AND o.is_ms_shipped = 0
JOIN ${sys}.schemas AS s ON s.schema_id = o.schema_id
WHERE (c.is_masked = 1 OR c.encryption_type IS NOT NULL OR c.generated_always_type IN (1, 2))${also}`;
};

/**
 * Lists computed columns. The server writes column names in brackets; the definition is NULL if the login may not see
 * it.
 */
const computed = (sys: string, marks: string): string =>
  `SELECT c.object_id, CAST(c.name AS nvarchar(128)) AS name, c.definition
FROM ${sys}.computed_columns AS c
WHERE c.object_id IN (${marks})`;

/**
 * Lists the column of a table behind each column of a view, through the views that it reads. `is_here` is 0 for an
 * expression, a UNION, or a table of another database.
 */
const behind = (sys: string, marks: string): string =>
  `SELECT o.object_id, CAST(d.name AS nvarchar(128)) AS name,
  CASE WHEN d.source_database = ${databaseText(sys)} THEN 1 ELSE 0 END AS is_here,
  CAST(d.source_schema AS nvarchar(128)) AS source_schema, CAST(d.source_table AS nvarchar(128)) AS source_table,
  CAST(d.source_column AS nvarchar(128)) AS source_column
FROM ${sys}.objects AS o
JOIN ${sys}.schemas AS s ON s.schema_id = o.schema_id
CROSS APPLY sys.dm_exec_describe_first_result_set(
  N'SELECT * FROM ' + ${prefixText(sys)} + QUOTENAME(s.name) + N'.' + QUOTENAME(o.name), NULL, 1) AS d
WHERE d.is_hidden = 0 AND o.object_id IN (${marks})`;

const policies = (sys: string): string => `SELECT p.target_object_id, CAST(s.name AS nvarchar(128)) AS schema_name,
  CAST(y.name AS nvarchar(128)) AS name, CAST(ts.name AS nvarchar(128)) AS table_schema,
  CAST(t.name AS nvarchar(128)) AS table_name
FROM ${sys}.security_predicates AS p
JOIN ${sys}.security_policies AS y ON y.object_id = p.object_id AND y.is_enabled = 1
JOIN ${sys}.schemas AS s ON s.schema_id = y.schema_id
LEFT JOIN ${sys}.objects AS t ON t.object_id = p.target_object_id
LEFT JOIN ${sys}.schemas AS ts ON ts.schema_id = t.schema_id
WHERE p.predicate_type = 0
ORDER BY s.name, y.name`;

interface Special {
  readonly id: number;
  readonly table: readonly [schema: unknown, name: unknown];
  readonly column: string;
  readonly how: AlteredRead | 'utc';
}

/** Finds the altered reads. `sys`: the catalog views of the database that the tables are in. */
export async function alteredReadsOf(run: Run, sys: string, tables: readonly Seen[]): Promise<AlteredReads> {
  const columns = new Map<number, Map<string, AlteredRead>>();
  const ofTables = new Map<number, AlteredRead[]>();
  const unseen: string[] = [];
  const utc = new Map<number, Set<string>>();
  const found: AlteredReads = { columns, tables: ofTables, utc, unseen };
  const hide = (id: number, column: unknown, how: AlteredRead): void => {
    const of = columns.get(id) ?? new Map<string, AlteredRead>();
    columns.set(id, of.set(String(column).toLowerCase(), how));
  };
  const warn = (id: number, how: AlteredRead): void => {
    ofTables.set(id, [...(ofTables.get(id) ?? []), how]);
  };
  for (const { id, isHistory, columns: of } of tables) {
    if (isHistory) warn(id, HISTORY);
    for (const { name, isEncrypted } of of) if (isEncrypted) hide(id, name, ENCRYPTED);
  }
  if (tables.length === 0) return found;

  const views = tables.filter(({ isView }) => isView);
  const special = await specialIn(run, sys, tables, views.length > 0);
  for (const { id, column, how } of special.values()) if (how !== 'utc') hide(id, column, how);

  const [mine = []] = await run({ text: rights(sys), parameters: [] });
  const hasPolicies = mine[2] !== 0;
  const filters = hasPolicies ? await run({ text: policies(sys), parameters: [] }) : [];
  const filtered = new Map<string, AlteredRead>();
  for (const [id, schema, policy, tableSchema, table] of filters) {
    const how = filteredBy(`${String(schema)}.${String(policy)}`);
    warn(Number(id), how);
    filtered.set(nameOf(tableSchema, table), how);
  }
  if (hasPolicies) unseen.push(...unknownTo(mine, views.length > 0));

  if (special.size === 0 && filtered.size === 0) return found;
  const isDisguised = columns.size > 0 || filtered.size > 0;
  const sources = await askOf(run, marks => behind(sys, marks), idsOf(views));
  for (const { id, name } of views) {
    const open: string[] = [];
    const policies = new Set<AlteredRead>();
    const own = sources.filter(([of]) => of === id);
    // The server could not describe what the view returns.
    if (own.length === 0) open.push('any column');
    for (const [, column, isHere, schema, table, source] of own) {
      if (isHere !== 1) open.push(String(column));
      else {
        const how = special.get(nameOf(schema, table, source))?.how;
        if (how === 'utc') utc.set(id, (utc.get(id) ?? new Set()).add(String(column).toLowerCase()));
        else if (how !== undefined) hide(id, column, how);
        const policy = filtered.get(nameOf(schema, table));
        if (policy !== undefined) policies.add(policy);
      }
    }
    for (const policy of policies) warn(id, policy);
    if (open.length > 0 && isDisguised)
      unseen.push(`What view ${name} reads for ${open.join(', ')} is not known; ${MAY_BE}.`);
  }
  return found;
}

const MAY_BE = 'it may be columns that are masked for the login, or tables of which a security policy hides rows';

/**
 * Returns, by name, columns that the login reads differently or that are in UTC, and columns computed from masked ones.
 */
async function specialIn(
  run: Run,
  sys: string,
  tables: readonly Seen[],
  everywhere: boolean,
): Promise<ReadonlyMap<string, Special>> {
  const masked = tables.filter(({ columns }) => columns.some(({ isMasked }) => isMasked));
  const among = (marks: string): string => specialColumns(sys, ` AND c.object_id IN (${marks})`);
  // A view may read any table of the database.
  const rows = everywhere
    ? await run({ text: specialColumns(sys), parameters: [] })
    : await askOf(run, among, idsOf(masked));
  const special = new Map<string, Special>();
  const add = (one: Special): void => {
    special.set(nameOf(...one.table, one.column), one);
  };
  for (const [id, column, isEncrypted, mayUnmask, schema, table, isMasked] of rows) {
    const how = isEncrypted === 1 ? ENCRYPTED : isMasked !== 1 ? 'utc' : mayUnmask === 1 ? undefined : MASKED;
    if (how !== undefined) add({ id: Number(id), table: [schema, table], column: String(column), how });
  }
  const masks = Map.groupBy(
    [...special.values()].filter(({ how }) => how === MASKED),
    ({ id }) => id,
  );
  const definitions = (marks: string): string => computed(sys, marks);
  // Tables that only a view reads are not in this list.
  const plain = new Set(idsOf(tables.filter(({ columns }) => !columns.some(({ isComputed }) => isComputed))));
  const computing = [...masks.keys()].filter(id => !plain.has(id));
  for (const [object, name, definition] of await askOf(run, definitions, computing)) {
    const of = masks.get(Number(object)) ?? [];
    const [read] = of.filter(({ column }) => readsColumn(definition, column));
    if (read) add({ ...read, column: String(name), how: COMPUTED });
  }
  return special;
}

/** Returns what a login without VIEW DEFINITION cannot see. */
function unknownTo([mayView, mayUnmask]: Row, hasViews: boolean): readonly string[] {
  if (mayView === 1) return [];
  const views = hasViews && mayUnmask !== 1 ? ', and whether views show masked values' : '';
  return [
    `Whether security policies hide rows from the login is not known${views}: it lacks VIEW DEFINITION on the database.`,
  ];
}

function filteredBy(policy: string): AlteredRead {
  return {
    why: `has rows that security policy ${policy} may hide from the login: searches and exports lack them`,
    expected: 'a login that sees all rows, unless these are to be left out',
  };
}

function readsColumn(definition: unknown, column: string): boolean {
  if (typeof definition !== 'string') return true;
  return definition.toLowerCase().includes(`[${column.replaceAll(']', ']]')}]`.toLowerCase());
}

function nameOf(...parts: readonly unknown[]): string {
  return JSON.stringify(parts.map(part => String(part).toLowerCase()));
}

function idsOf(tables: readonly Seen[]): readonly number[] {
  return tables.map(({ id }) => id);
}
