/**
 * `lintel explain`: prints how a search is executed, stage by stage. It reads no rows, and shows values only if asked.
 */
import { queryLines } from '../explain/query-text.ts';
import { type ExplainedStatement, type Explanation, explainSearch, type RenderedStatement } from '../explain/search.ts';
import { parameterLines, sqlLines, WIDTH, wrapped } from '../explain/sql-text.ts';
import { writtenSearch } from '../http/written-search.ts';
import { FhirError } from '../outcome.ts';
import { ENGINES, engineNamed } from '../sql/engines.ts';
import { facadeOf } from '../start/setup.ts';
import {
  ArgumentsError,
  type Command,
  configOf,
  DATABASE,
  MAPPINGS,
  printJson,
  refuse,
  SCHEMA,
  type Terminal,
  withNearest,
} from './command.ts';
import { subjectLines } from './subject.ts';
import { type LoadedSetup, withPack } from './with-pack.ts';

/** With more mappings than this, only a summary is printed, unless one is named. */
const IN_FULL = 2;

const NAMES = [...ENGINES.keys()].join(', ');

/** Options of the printed explanation. */
interface View {
  /** Names of engines. */
  readonly engines: readonly string[];
  /** The value of `--mapping`. */
  readonly mapping: string | undefined;
  /** True if a mapping is that one, or a variant of its file. */
  readonly isWanted: (name: string) => boolean;
  readonly values: boolean;
}

export const explain: Command = {
  summary: 'shows how a search is executed: typed query, mappings, SQL, indexes, lineage',
  help: `Usage: lintel explain QUERY [options]

QUERY is a search as in a URL, in quotes: 'Patient?name=smith&_count=5'

Shows the query with its types, the mappings that can and cannot match, the statements (with the types of their
parameters and what the database says of its indexes), and where each element of the answer comes from. Where more
than ${IN_FULL} mappings are read, SQL and lineage are shown for the one that --mapping names.`,
  exits: ['an explanation', 'the search is refused, or the pack has errors'],
  options: {
    mapping: ['NAME', 'SQL and lineage of this mapping alone, or of all variants of a file'],
    engine: ['ENGINE', `${NAMES} or all; default: the engine of the database`],
    json: 'everything as one JSON object: pack, database, query, mappings, statements, lineage',
    values: "also shows the values of the query and of parameters, which may be a patient's",
    ...DATABASE,
    ...MAPPINGS,
    ...SCHEMA,
  },
  positionals: [1, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal);
    const chosen = args.text('engine');
    if (chosen !== undefined && chosen !== 'all' && !ENGINES.has(chosen))
      throw new ArgumentsError([`--engine: expected ${NAMES} or all, found ${JSON.stringify(chosen)}`]);
    const explainIn = async ({ registry, database, changed }: LoadedSetup): Promise<number> => {
      const facade = facadeOf(registry, database, changed, config);
      const request = writtenSearch(args.positionals[0] ?? '');
      const explained = await explainSearch(facade, database, request, { now: Date.now(), handling: config.handling });
      const mapping = args.text('mapping');
      const view: View = {
        engines: chosen === 'all' ? [...ENGINES.keys()] : [chosen ?? database.engine],
        mapping,
        isWanted: name => mapping === undefined || name === mapping || name.startsWith(`${mapping}.`),
        values: args.is('values'),
      };
      const known = explained.mappings.map(({ name }) => name);
      if (mapping !== undefined && !known.some(view.isWanted)) {
        const problem = `--mapping: expected one of ${known.join(', ')}; found ${mapping}`;
        throw new ArgumentsError([withNearest(problem, mapping, known)]);
      }
      const subject = subjectLines(config, registry.pack);
      if (args.json) printJson(asJson(explained, subject, view), terminal);
      else print(explained, subject, view, terminal);
      return 0;
    };
    try {
      return (await withPack(config, terminal, explainIn)) ?? 1;
    } catch (error) {
      if (!(error instanceof FhirError)) throw error;
      return refuse(
        error.issues.map(({ severity, diagnostics }) => `${severity}: ${diagnostics}`),
        terminal,
      );
    }
  },
};

function print(explanation: Explanation, subject: readonly string[], view: View, { out }: Terminal): void {
  const { query, mappings, statements, lineage } = explanation;
  const { isWanted, values } = view;
  for (const line of subject) out(line);
  out(`\nQuery of ${query.type}`);
  for (const line of queryLines(query, values)) out(`  ${line}`);
  const read = mappings.filter(one => one.read);
  const others = mappings.filter(one => !one.read).map(({ name }) => name);
  out('\nMappings');
  for (const { name, place } of read) out(`  read          ${name}  (${place})`);
  if (others.length > 0) {
    for (const [i, line] of wrapped(others.join(', '), WIDTH - 16).entries()) {
      out(`  ${i === 0 ? 'cannot match  ' : ' '.repeat(14)}${line.trim()}`);
    }
  }
  if (view.mapping === undefined && read.length > IN_FULL) {
    out('\nStatements');
    for (const { purpose, served } of statements) {
      out(`  ${purpose}`);
      for (const line of served.slice(0, 1)) out(`    ${line.slice(0, WIDTH)}${served.length > 1 ? ' …' : ''}`);
    }
    out('\n--mapping NAME shows the SQL and the lineage of a mapping.');
    return;
  }
  const shown = ({ mappings: of }: ExplainedStatement): boolean => of.length === 0 || of.some(isWanted);
  for (const statement of statements.filter(shown)) printStatement(statement, view, out);
  for (const { name } of read.filter(one => isWanted(one.name))) {
    out(`\nLineage of ${name}`);
    const own = lineage.filter(one => one.mapping === name);
    const width = Math.min(44, Math.max(0, ...own.map(({ element }) => element.length)));
    for (const { element, from, place } of own) out(`  ${element.padEnd(width)}  ${from}  (${place})`);
  }
}

function printStatement(explained: ExplainedStatement, { engines, values }: View, out: Terminal['out']): void {
  out(`\nStatement: ${explained.purpose}`);
  for (const statement of explained.rendered) if (engines.includes(statement.engine)) printSql(statement, values, out);
  out('\n  Served by');
  for (const line of explained.served) out(`    ${line}`);
}

function printSql(statement: RenderedStatement, values: boolean, out: Terminal['out']): void {
  const { engine, parameters } = statement;
  const lines = sqlLines(statement);
  out(
    [
      `\n  ${engineNamed(engine).title}`,
      ...[...lines, ...parameterLines(engine, parameters, values)].map(line => `    ${line}`),
    ].join('\n'),
  );
}

/** Returns the explanation for programs, with the same texts as in print. */
function asJson(explanation: Explanation, subject: readonly string[], { engines, isWanted, values }: View): object {
  const { query, mappings, statements, lineage } = explanation;
  const statementOf = ({ engine, text, parameters }: RenderedStatement): object => ({
    text,
    parameters: parameterLines(engine, parameters, values),
  });
  return {
    subject,
    query: { type: query.type, lines: queryLines(query, values) },
    mappings: mappings.filter(({ name }) => isWanted(name)),
    statements: statements
      .filter(({ mappings: of }) => of.length === 0 || of.some(isWanted))
      .map(one => ({
        purpose: one.purpose,
        mappings: one.mappings,
        ...Object.fromEntries(
          one.rendered.filter(({ engine }) => engines.includes(engine)).map(each => [each.engine, statementOf(each)]),
        ),
        served: one.served,
      })),
    lineage: lineage
      .filter(one => isWanted(one.mapping))
      .map(({ mapping, element, from, place }) => ({ mapping, element, from, place })),
  };
}
