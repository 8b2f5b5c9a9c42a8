/** `lintel check`: reports every problem of a pack against the schema of the database, and the search parameters. */
import { randomInt } from 'node:crypto';
import { checkLocked, checkRows } from '../check/check.ts';
import { forTests, type PackTests, runPackTests } from '../check/pack-tests.ts';
import { reportPage } from '../check/page.ts';
import { junitText, sarifText } from '../check/pipelines.ts';
import { countOf, reportJson, tableLines } from '../check/report.ts';
import type { CheckSection } from '../check/section.ts';
import { nowAndThen } from '../common/now-and-then.ts';
import { plural } from '../common/plural.ts';
import type { Config } from '../config/config.ts';
import { type Problem, problemLine } from '../mapping/load/problem.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import type { Catalog } from '../sql/catalog.ts';
import {
  type Arguments,
  type Command,
  configOf,
  DATABASE,
  type Option,
  printJson,
  printsText,
  SCHEMA,
  type Terminal,
  unknownMapping,
  writeFileOf,
} from './command.ts';
import { printParameters } from './parameters-text.ts';

const FILES = ['html', 'sarif', 'junit'];

export const SARIF: Option = [
  'FILE',
  'also writes the problems as SARIF 2.1.0, which code hosts show at the lines of the files; --sarif alone prints it ' +
    'instead',
];

/** Seconds for all sections. */
const BUDGET = 30;

export const check: Command = {
  summary: 'reports every problem of a mapping pack, and its search parameters',
  help: `Usage: lintel check [PACK] [--database URL | --locked] [--mapping NAME]… [options]

Reads the mapping pack in the folder PACK (default: MAPPINGS, or the demo pack) against the live schema and the rows
of the database (default: DATABASE_URL, or the demo database), and reports every problem at once with its place in the
files, what was expected, what was found, and the nearest right spelling. It counts rows, and shows no value: keys and
ids that are not unique, lookups that find several rows, orders that leave open which row comes first, references that
find no row at all, codes that no map has, literals that rows write in other letters, a custodian in ccds.yaml that
does not exist. Each \`sql\` is evaluated for all rows of its table. Tests beside the mappings (*.test.yaml) run on a
separate database that has only their rows.

A pack without errors is then checked on sampled rows: docs/check.md describes how.`,
  exits: ['no errors; warnings and notices are allowed', 'errors'],
  options: {
    ...DATABASE,
    ...SCHEMA,
    locked: "checks against the pack's schema.lock.json (lintel lock writes it) instead of a database",
    parameters:
      'also lists the search parameters of each type: those answered by plain comparisons of columns (offered), those ' +
      'that compute on a column first (computed), and those of FHIR that the mappings have no inverse for (none); and ' +
      'the columns without an index that searches and sorts read, which cost a scan where no patient narrows them',
    budget: [
      'SECONDS',
      `time for the rows (default ${BUDGET}), and as long again (10 seconds or more) for the counts before; the ` +
        'report names what was not reached',
    ],
    mapping: ['NAME', 'checks the rows and searches of this mapping only; can be repeated', 'several'],
    all: 'checks every row instead of a sample, without a time limit unless --budget says one',
    seed: ['N', 'repeats the sample of an earlier check, which printed this number'],
    rows: 'also prints the tables of numbers: rows per mapping, values per element, references',
    values: 'messages may contain values of rows; without it they show only the form of a value (9999-99-99)',
    json: 'prints one JSON object instead of text',
    html: ['FILE', 'also writes the report as one page; --html alone prints it instead'],
    sarif: SARIF,
    junit: [
      'FILE',
      'also writes problems and tests as JUnit XML; only errors are failures; --junit alone prints it instead',
    ],
  },
  files: FILES,
  positionals: [0, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal, args.positionals[0]);
    const locked = args.is('locked');
    const text = printsText(args, FILES);
    const seed = args.wholeNumber('seed', [0, 999_999_999]) ?? randomInt(1_000_000);
    const budgetSeconds = args.wholeNumber('budget', [0, 999_999_999]) ?? (args.is('all') ? undefined : BUDGET);
    const names = args.list('mapping');
    const chosenIn = (registry: Registry): readonly Mapping[] =>
      names.length === 0 ? registry.mappings : names.flatMap(name => mappingsNamed(registry, name));
    const options = { seed, budgetSeconds, values: args.is('values'), all: args.is('all'), chosenIn };
    const at = new Date().toISOString();
    const checked = locked ? checkLocked(config) : await checkRows(config, await sections(), options, terminal.note);
    const { pack, catalog } = checked;
    const { registry } = pack;
    const tests = registry && catalog ? await testsOf(config, registry, catalog, terminal) : undefined;
    const problems = [...pack.problems, ...(tests?.problems ?? [])];
    const report = { pack: registry?.pack.name, at, seed, budgetSeconds, problems, sections: checked.sections };
    const page = args.text('html');
    if (page !== undefined) writeFileOf(page, reportPage(report), terminal);
    writePipelineReports(args, { folder: config.mappings, own: pack.problems, tests }, terminal);
    if (args.json) printJson(reportJson(report), terminal);
    if (text) {
      for (const problem of problems) terminal.out(problemLine(problem));
      if (registry && catalog && args.is('parameters')) printParameters(registry, catalog, terminal);
      for (const line of args.is('rows') ? checked.sections.flatMap(({ tables }) => tables.flatMap(tableLines)) : [])
        terminal.out(line);
      if (tests && tests.ran > 0) terminal.out(`${plural(tests.ran, 'test')} of mappings ran`);
      // A table or column may be unknown only because the pack did not use it when the lock was written.
      const against = locked && catalog && !registry ? ', against schema.lock.json, which lintel lock writes anew' : '';
      terminal.out(summary(registry, problems) + against);
    }
    for (const { title, notes } of checked.sections) for (const note of notes) terminal.note(`${title}: ${note}`);
    if (checked.sections.some(({ name }) => name !== 'counts' && name !== 'login'))
      terminal.note(`The sample was drawn with --seed ${seed}.`);
    return registry === undefined || countOf(problems, 'error') > 0 ? 1 : 0;
  },
};

/** Returns a mapping, or all variants of one. Throws ArgumentsError if there is none. */
function mappingsNamed(registry: Registry, name: string): readonly Mapping[] {
  const found = registry.mappings.filter(one => one.name === name || one.group === name);
  if (found.length === 0) throw unknownMapping(registry, name);
  return found;
}

/** Runs the tests of a pack and reports progress. */
export async function testsOf(
  { mappings, schema }: Config,
  registry: Registry,
  catalog: Catalog,
  { note }: Terminal,
): Promise<PackTests> {
  const onTest = nowAndThen<{ number: number; all: number }>(({ number, all }) =>
    note(`Running test ${number} of ${all}`),
  );
  const forRows = forTests(readPackFiles(mappings, schema), catalog) ?? registry;
  return runPackTests(mappings, forRows, catalog, { onTest });
}

interface ForPipelines {
  /** The folder of the pack. */
  readonly folder: string;
  /** Problems of the pack. Undefined: only its tests ran. */
  readonly own: readonly Problem[] | undefined;
  readonly tests: PackTests | undefined;
}

/** Writes or prints the reports of `--sarif` and `--junit`. */
export function writePipelineReports(args: Arguments, { folder, own, tests }: ForPipelines, terminal: Terminal): void {
  const [sarif, junit] = [args.text('sarif'), args.text('junit')];
  const all = [...(own ?? []), ...(tests?.problems ?? [])];
  if (sarif !== undefined) writeFileOf(sarif, sarifText(folder, all), terminal);
  if (junit !== undefined) writeFileOf(junit, junitText(own, tests?.cases ?? []), terminal);
}

/** Loads the sections only if rows are checked, because they load the FHIRPath engine. */
async function sections(): Promise<readonly CheckSection[]> {
  return (await import('../check/sections.ts')).SECTIONS;
}

function summary(registry: Registry | undefined, problems: readonly Problem[]): string {
  const counts = (['error', 'warning', 'notice'] as const).map(one => [one, countOf(problems, one)] as const);
  const shown = counts.filter(([severity, count]) => severity !== 'notice' || count > 0);
  const found = shown.map(([severity, count]) => plural(count, severity)).join(', ');
  if (registry === undefined) return found;
  return `${registry.pack.name}: ${plural(registry.mappings.length, 'mapping')} of ${plural(registry.types.length, 'type')}; ${found}`;
}
