/**
 * `lintel explain`: what becomes of a search, stage by stage. Runs the search, so that the statements shown are those
 * that were really sent, and shows no row of it.
 */
import { OPEN_ACCESS } from '../auth/access.ts';
import { readConfig } from '../config.ts';
import { createFacade, type RequestContext, type SearchRequest } from '../facade.ts';
import { parseParameters } from '../http/parameters.ts';
import { formatProblem } from '../mapping/load/problem.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { planResolved } from '../pipeline/resolve.ts';
import { shapeStore } from '../pipeline/shapes.ts';
import { openSession } from '../pipeline/source.ts';
import { branchesOf } from '../plan/branches.ts';
import { environment } from '../plan/environment.ts';
import type { SearchQuery } from '../search/query.ts';
import { SOFTWARE_VERSION, setUp } from '../setup.ts';
import { printColumnType } from '../sql/column-type.ts';
import type { Database } from '../sql/database.ts';
import { MSSQL } from '../sql/mssql/dialect.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { render } from '../sql/render.ts';
import { SQLITE } from '../sql/sqlite/dialect.ts';
import { type Command, overrides, type Terminal, textOf } from './command.ts';
import { lineageOf, tablesOf } from './lineage.ts';
import { queryLines } from './query-text.ts';

export const explain: Command = {
  summary: 'shows what becomes of a search: typed query, mappings, SQL, indexes, lineage',
  help: `Usage: lintel explain QUERY [--database URL] [--mappings FOLDER] [--values]

QUERY is a search as it stands in a URL, in quotes: 'Patient?name=smith&_count=5'

Shows the query with its types, the mappings that can and cannot match, every statement that was sent (for SQLite and
for SQL Server, with the types of its parameters and what the engine says of its indexes), and where each element of
the answer comes from.

  --values         also shows the values of the query and of parameters, which may be a patient's
  --database URL   sqlite:<file> or mssql://<user>:<password>@<host>/<database>
  --mappings F     folder of the pack`,
  options: { database: { type: 'string' }, mappings: { type: 'string' }, values: { type: 'boolean' } },
  positionals: [1, 1],
  async run(args, terminal) {
    const instead = overrides({ MAPPINGS: textOf(args, 'mappings'), DATABASE_URL: textOf(args, 'database') });
    const config = readConfig(terminal.environment, instead);
    const { database, pack } = await setUp(config, terminal.note);
    try {
      if (pack.registry === undefined) {
        for (const problem of pack.problems) terminal.note(formatProblem(problem));
        return 1;
      }
      const plans: SqlPlan[] = [];
      const facade = createFacade({
        registry: pack.registry,
        database,
        pageSize: config.page.size,
        pageMax: config.page.max,
        secret: config.linkSecret,
        softwareVersion: SOFTWARE_VERSION,
        date: new Date(0).toISOString(),
        onQuery: plan => plans.push(plan),
      });
      const context = { access: OPEN_ACCESS, base: `http://localhost${config.fhirPath}`, handling: config.handling };
      const request = searchOf(args.positionals[0] ?? '');
      const values = args.values['values'] === true;
      const query = facade.parse(request, context);
      const { entries } = await facade.search(request, context);
      printQuery(query, values, terminal);
      const mappings = await printMappings(query, pack.registry, database, context, terminal);
      for (const [i, plan] of plans.entries()) {
        await printStatement(`Statement ${i + 1} of ${plans.length}`, plan, database, values, terminal);
      }
      printLineage(mappings, terminal);
      terminal.out(`\nThe page has ${entries} resources.`);
      return 0;
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      for (const issue of error.issues) terminal.note(`${issue.severity}: ${issue.diagnostics}`);
      return 1;
    } finally {
      await database.close();
    }
  },
};

/** `Type?a=b&c=d`, with or without a slash or an address before it. */
function searchOf(text: string): SearchRequest {
  const mark = text.indexOf('?');
  const path = mark < 0 ? text : text.slice(0, mark);
  return {
    type: path.slice(path.lastIndexOf('/') + 1),
    parameters: parseParameters(mark < 0 ? '' : text.slice(mark + 1), 'query'),
  };
}

function printQuery(query: SearchQuery, values: boolean, { out }: Terminal): void {
  out(`Query of ${query.type}`);
  for (const line of queryLines(query, values)) out(`  ${line}`);
}

/** Prints which mappings are asked, and gives those. */
async function printMappings(
  query: SearchQuery,
  registry: Registry,
  database: Database,
  { access }: RequestContext,
  { out }: Terminal,
): Promise<readonly Mapping[]> {
  const env = environment(registry, Date.now());
  const session = openSession(database, env, shapeStore(), {});
  const branches = await planResolved(session, () => branchesOf({ ...query, access }, env));
  const asked = new Set(branches.flatMap(({ mappings }) => mappings.map(({ mapping }) => mapping)));
  const pruned = registry.ofType(query.type).filter(mapping => !asked.has(mapping));
  out('\nMappings');
  for (const { mappings } of branches) out(`  asked     ${mappings.map(({ mapping }) => mapping.name).join(', ')}`);
  for (const { name } of pruned) out(`  not asked ${name}: it cannot match`);
  return [...asked];
}

async function printStatement(
  title: string,
  plan: SqlPlan,
  database: Database,
  values: boolean,
  { out }: Terminal,
): Promise<void> {
  out(`\n${title}`);
  for (const [engine, dialect] of [
    ['SQLite', SQLITE],
    ['SQL Server', MSSQL],
  ] as const) {
    const { text, parameters } = render(plan, dialect);
    out(`\n  ${engine}`);
    out(indented(text, '    '));
    for (const { name, type, value } of parameters) {
      out(`    ${name} ${printColumnType(type)}${values ? ` = ${valueText(value)}` : ''}`);
    }
  }
  out('\n  Served by');
  for (const line of await database.explain(plan)) out(`    ${line}`);
}

function valueText(value: unknown): string {
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : JSON.stringify(value);
}

function printLineage(mappings: readonly Mapping[], { out }: Terminal): void {
  for (const mapping of mappings) {
    out(`\nLineage of ${mapping.name}: ${tablesOf(mapping).join(', ')}`);
    const lines = lineageOf(mapping);
    const width = Math.min(48, Math.max(0, ...lines.map(({ element }) => element.length)));
    for (const { element, origin, at } of lines) {
      out(`  ${element.padEnd(width)}  ${origin}  (${at.file}:${at.line})`);
    }
  }
}

function indented(text: string, by: string): string {
  return text.replaceAll(/^/gm, by);
}
