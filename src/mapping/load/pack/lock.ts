/**
 * Writes and reads schema.lock.json: the part of the schema that the mappings of a pack use. In: a catalog and the
 * mappings. Out: stable JSON text, which is read as a Catalog. A pack with a lock can be checked without a database,
 * and `check` compares it with the live schema.
 */
import { z } from 'zod';
import { type Catalog, type ColumnInfo, findTable, type TableInfo } from '../../../sql/catalog.ts';
import { declaredType, ENGINES } from '../../../sql/engines.ts';
import type { Position, Registry } from '../../model.ts';
import type { Report } from '../problem.ts';
import { namesOf } from '../rows/tables-used.ts';

const lockSchema = z.strictObject({
  /** The engine whose types are used. Locks without it are of SQL Server. */
  engine: z
    .string()
    .refine(name => ENGINES.has(name))
    .default('mssql'),
  tables: z.record(
    z.string(),
    z.strictObject({
      /** `VARCHAR(40)`, or `VARCHAR(40) NULL`. */
      columns: z.record(z.string(), z.string()),
      primaryKey: z.array(z.string()),
      indexes: z.record(
        z.string(),
        z.strictObject({
          columns: z.array(z.string()),
          unique: z.boolean(),
          unfit: z.array(z.strictObject({ column: z.string(), collation: z.string(), needed: z.string() })).optional(),
        }),
      ),
    }),
  ),
});

/** Writes the lock of the tables that the mappings use. */
export function writeLock(registry: Registry, catalog: Catalog): string {
  const used = new Set([...namesOf(registry)].flatMap(name => findTable(catalog, name) ?? []));
  const tables = [...catalog.tables].flatMap(([key, table]) =>
    used.has(table) ? [{ name: nameIn(key, table), table }] : [],
  );
  const content: z.infer<typeof lockSchema> = {
    engine: catalog.engine,
    tables: Object.fromEntries(sorted(tables).map(({ name, table }) => [name, contentOf(table)])),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** Returns the name of a table in the lock; with its schema only if a nearer table has the bare name. */
function nameIn(key: string, { name, schema }: TableInfo): string {
  return key === name.toLowerCase() || schema === undefined ? name : `${schema.name}.${name}`;
}

function contentOf(table: TableInfo): z.infer<typeof lockSchema>['tables'][string] {
  const columns = sorted([...table.columns.values()]).map(({ name, declared, nullable }): [string, string] => [
    name,
    nullable ? `${declared} NULL` : declared,
  ]);
  const indexes = sorted(table.indexes).map(({ name, columns: of, unique, unfit }) => [
    name,
    { columns: [...of], unique, ...(unfit ? { unfit: [...unfit] } : {}) },
  ]);
  return {
    columns: Object.fromEntries(columns),
    primaryKey: [...table.primaryKey],
    indexes: Object.fromEntries(indexes),
  };
}

/** Reads the catalog of a lock. Reports a text that is no lock and returns undefined. */
export function readLock(file: string, text: string, report: Report): Catalog | undefined {
  const at = { file, line: 1, column: 1 };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    report.error('unreadable-file', at, 'not JSON', { expected: 'what `lintel lock` writes' });
    return undefined;
  }
  const parsed = lockSchema.safeParse(content);
  if (!parsed.success) {
    report.error('unreadable-file', at, 'not a lock of a schema', { expected: 'what `lintel lock` writes' });
    return undefined;
  }
  const tables = Object.entries(parsed.data.tables).map(([name, table]): [string, TableInfo] => {
    const columns = Object.entries(table.columns).map(([column, written]): [string, ColumnInfo] => {
      const nullable = written.endsWith(' NULL');
      const declared = nullable ? written.slice(0, -' NULL'.length) : written;
      return [
        column.toLowerCase(),
        { name: column, type: declaredType(parsed.data.engine, declared), declared, nullable },
      ];
    });
    const indexes = Object.entries(table.indexes).map(([index, { unfit, ...of }]) => ({
      name: index,
      ...of,
      ...(unfit ? { unfit } : {}),
    }));
    const [bare = name, schema] = name.split('.').reverse();
    const of = schema === undefined ? {} : { schema: { name: schema, needed: true } };
    return [
      name.toLowerCase(),
      { name: bare, ...of, columns: new Map(columns), primaryKey: table.primaryKey, indexes },
    ];
  });
  return { engine: parsed.data.engine, tables: new Map(tables) };
}

/** Finds the position of a table or column in a lock; the start of the file if `lintel lock` did not format it. */
export function placesIn(file: string, text: string): (table: string, column?: string) => Position {
  const places = new Map<string, Position>();
  let table = '';
  for (const [index, line] of text.split('\n').entries()) {
    const [, indent = '', name = ''] = /^( {4}| {8})"((?:[^"\\]|\\.)*)": (?:\{$|")/.exec(line) ?? [];
    if (indent === '') continue;
    if (indent.length === 4) table = name;
    const key = indent.length === 4 ? name : `${table}\n${name}`;
    places.set(key, { file, line: index + 1, column: indent.length + 1 });
  }
  const beginning = { file, line: 1, column: 1 };
  return (name, column) => places.get(column === undefined ? name : `${name}\n${column}`) ?? beginning;
}

function sorted<T extends { readonly name: string }>(items: readonly T[]): readonly T[] {
  return [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
