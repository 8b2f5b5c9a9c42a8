/**
 * `lintel explain`: what becomes of a search, stage by stage, printed. No row is read and no value is shown unless asked.
 */
import { readConfig } from '../config.ts';
import { type ExplainedStatement, type Explanation, explainSearch } from '../explain.ts';
import type { SearchRequest } from '../facade.ts';
import { parseParameters } from '../http/parameters.ts';
import { formatProblem } from '../mapping/load/problem.ts';
import { FhirError } from '../outcome.ts';
import { facadeOf, setUp } from '../setup.ts';
import type { Statement } from '../sql/plan.ts';
import { type Command, overrides, type Terminal, textOf } from './command.ts';
import { queryLines } from './query-text.ts';
import { parameterLines, sqlLines, wrapped } from './sql-text.ts';

/** Lists of columns are broken beyond so many characters. */
const WIDTH = 110;

export const explain: Command = {
  summary: 'shows what becomes of a search: typed query, mappings, SQL, indexes, lineage',
  help: `Usage: lintel explain QUERY [--database URL] [--mappings FOLDER] [--values]

QUERY is a search as it stands in a URL, in quotes: 'Patient?name=smith&_count=5'

Shows the query with its types, the mappings that can and cannot match, the statements (for SQLite and for SQL Server,
with the types of their parameters and what the database says of its indexes), and where each element of the answer
comes from.

  --values         also shows the values of the query and of parameters, which may be a patient's
  --database URL   sqlite:<file> or mssql://<user>:<password>@<host>/<database>
  --mappings F     folder of the pack`,
  options: { database: { type: 'string' }, mappings: { type: 'string' }, values: { type: 'boolean' } },
  positionals: [1, 1],
  async run(args, terminal) {
    const instead = overrides({ MAPPINGS: textOf(args, 'mappings'), DATABASE_URL: textOf(args, 'database') });
    const config = readConfig(terminal.environment, instead);
    const { database, pack, changed } = await setUp(config, terminal.note);
    try {
      if (pack.registry === undefined) {
        for (const problem of pack.problems) terminal.note(formatProblem(problem));
        return 1;
      }
      const facade = facadeOf(pack.registry, database, changed, config);
      const request = searchOf(args.positionals[0] ?? '');
      print(
        await explainSearch(facade, database, request, { now: Date.now(), handling: config.handling }),
        args.values['values'] === true,
        terminal,
      );
      return 0;
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      for (const { severity, diagnostics } of error.issues) terminal.note(`${severity}: ${diagnostics}`);
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

function print(explanation: Explanation, values: boolean, { out }: Terminal): void {
  const { query, mappings, statements, lineage } = explanation;
  out(`Query of ${query.type}`);
  for (const line of queryLines(query, values)) out(`  ${line}`);
  out('\nMappings');
  for (const { name, place, read } of mappings) {
    out(`  ${read ? 'read      ' : 'cannot match'}  ${name}  (${place})`);
  }
  for (const statement of statements) printStatement(statement, values, out);
  for (const { name } of mappings.filter(({ read }) => read)) {
    out(`\nLineage of ${name}`);
    const own = lineage.filter(({ mapping }) => mapping === name);
    const width = Math.min(44, Math.max(0, ...own.map(({ element }) => element.length)));
    for (const { element, from, place } of own) out(`  ${element.padEnd(width)}  ${from}  (${place})`);
  }
}

function printStatement(
  { purpose, sqlite, mssql, served }: ExplainedStatement,
  values: boolean,
  out: Terminal['out'],
): void {
  out(`\nStatement: ${purpose}`);
  printSql('SQLite', sqlite, values, out);
  printSql('SQL Server', mssql, values, out);
  out('\n  Served by');
  for (const line of served) out(`    ${line}`);
}

function printSql(engine: string, statement: Statement, values: boolean, out: Terminal['out']): void {
  const lines = sqlLines(statement).flatMap(line => wrapped(line, WIDTH));
  out(
    [`\n  ${engine}`, ...[...lines, ...parameterLines(statement.parameters, values)].map(line => `    ${line}`)].join(
      '\n',
    ),
  );
}
