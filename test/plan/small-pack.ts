/**
 * Searches a database of a few rows with a pack of a few lines. In: DDL with rows, the files of a pack, a query string
 * such as `Location?status=active`. Out: the ids found, the next page, and the SQL of every statement for SQLite.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Facade } from '../../src/facade.ts';
import { loadPack } from '../../src/mapping/load/pack/pack.ts';
import type { Catalog } from '../../src/sql/catalog.ts';
import type { Database } from '../../src/sql/database.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { registerFunctions } from '../../src/sql/sqlite/functions.ts';
import { facadeOver } from '../facade-over.ts';
import { temporaryFolder } from '../temporary-folder.ts';

export interface Found {
  readonly ids: readonly string[];
  readonly resources: readonly Resource[];
  readonly json: string;
  /** The query string of the next page. */
  readonly next: string | undefined;
  readonly sql: readonly string[];
  /** SQLite's query plan of them: indexes, scans, sorts. */
  readonly served: readonly string[];
  /** The SQL of every statement for SQL Server. */
  readonly mssql: readonly string[];
}

interface Resource extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly meta?: { readonly lastUpdated?: string };
}

interface Bundle {
  readonly entry?: readonly { readonly resource: Resource }[];
  readonly link: readonly { readonly relation: string; readonly url: string }[];
}

/** Reads a schema like the server: with the forms of the rows. */
async function withForms(database: Database): Promise<Catalog> {
  const catalog = await database.catalog();
  return (await database.forms?.(catalog, () => true)) ?? catalog;
}

/** https://sqlite.org/eqp.html */
function servedBy(file: string, text: string): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  registerFunctions(database);
  const rows = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
  database.close();
  return rows.map(row => String(row['detail']));
}

/** Searches once; all its files are removed at the end of the test. */
export async function searchSmall(
  schema: string,
  pack: Readonly<Record<string, string>>,
  query: string,
): Promise<Found> {
  return (await openSmall(schema, pack))(query);
}

interface Small {
  readonly facade: Facade;
  /** The database. */
  readonly file: string;
  /** The plans sent since the list was last emptied. */
  readonly plans: SqlPlan[];
}

/** The facade itself, for other requests than searches. */
export async function openSmallFacade(schema: string, pack: Readonly<Record<string, string>>): Promise<Small> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'pack'));
  for (const [name, text] of Object.entries(pack)) writeFileSync(join(folder, 'pack', name), text);
  const written = new DatabaseSync(join(folder, 'small.sqlite'));
  written.exec(schema);
  written.close();
  const database = openSqlite(join(folder, 'small.sqlite'));
  onTestFinished(() => database.close());
  const { registry, problems } = loadPack(join(folder, 'pack'), await withForms(database));
  if (!registry) throw new Error(JSON.stringify(problems));
  const plans: SqlPlan[] = [];
  const facade = facadeOver({ registry, database, pageMax: 50, onQuery: plan => plans.push(plan) });
  return { facade, file: join(folder, 'small.sqlite'), plans };
}

/** The same, for several searches of one database. */
export async function openSmall(
  schema: string,
  pack: Readonly<Record<string, string>>,
): Promise<(query: string) => Promise<Found>> {
  const { facade, file, plans } = await openSmallFacade(schema, pack);
  return async query => {
    plans.length = 0;
    const [type = '', parameters = ''] = query.split('?');
    const { json } = await facade.search(
      { type, parameters: [...new URLSearchParams(parameters)] },
      { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' },
    );
    const { entry = [], link }: Bundle = JSON.parse(json);
    return {
      ids: entry.map(({ resource }) => resource.id),
      resources: entry.map(({ resource }) => resource),
      json,
      next: link.find(({ relation }) => relation === 'next')?.url.replace(/^.*\//, ''),
      sql: plans.map(plan => render(plan, SQLITE).text),
      served: plans.flatMap(plan => servedBy(file, render(plan, SQLITE).text)),
      mssql: plans.map(plan => render(plan, MSSQL).text),
    };
  };
}
