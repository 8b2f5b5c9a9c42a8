/** `lintel test`: runs the tests of a pack, each on its own rows. */
import { checkLocked } from '../check/check.ts';
import { countOf } from '../check/report.ts';
import { plural } from '../common/plural.ts';
import { problemCode, problemLine } from '../mapping/load/problem.ts';
import { setUp } from '../start/setup.ts';
import { SARIF, testsOf, writePipelineReports } from './check.ts';
import { ArgumentsError, type Command, configOf, DATABASE, printJson, printsText, refuse, SCHEMA } from './command.ts';
import { recordTest } from './record.ts';

const FILES = ['sarif', 'junit'];

export const test: Command = {
  summary: 'runs the tests of a pack (*.test.yaml) on rows of their own',
  help: `Usage: lintel test [PACK] [--database URL | --locked] [options]
       lintel test --record MAPPING KEY... [--write] [options]

Runs each test beside the mappings of the folder PACK (default: MAPPINGS, or the demo pack) on a database of its own,
which has the tables of the schema and the rows of the test. The configured database is used only for its
schema.

With --record it makes a test of the row whose key columns hold KEY: the rows that its resource is made of, with
invented names, numbers, dates and texts, and the resource that they become. Codes, sentinels and NULL are kept; what
cannot be replaced is omitted and reported. Nothing is written without --write.`,
  exits: [
    'all tests passed, or there are none; --record: the test was made',
    'a test failed, or the pack has errors; --record: none can be made of the row, or there is no such row',
  ],
  options: {
    record: ['MAPPING', 'makes a test of a row of this mapping'],
    write: 'appends the test to the file beside that of the mapping (NAME.test.yaml)',
    mappings: ['FOLDER', 'folder of the pack, with --record'],
    ...DATABASE,
    locked: "reads the schema from the pack's schema.lock.json, without a database",
    ...SCHEMA,
    json:
      'prints one JSON object: ran, failed, and each test with its problems; with --record file, test, leftOut, ' +
      'notMade and written',
    sarif: SARIF,
    junit: ['FILE', 'also writes the tests as JUnit XML; --junit alone prints it instead'],
  },
  files: FILES,
  positionals: [0, 20],
  async run(args, terminal) {
    const recorded = args.text('record');
    if (recorded !== undefined) return recordTest(recorded, args, terminal);
    if (args.positionals.length > 1 || args.is('write') || args.values['mappings'] !== undefined) {
      throw new ArgumentsError(['lintel test takes one PACK; --write and --mappings go with --record.']);
    }
    const text = printsText(args, FILES);
    const config = configOf(args, terminal, args.positionals[0]);
    const { pack, catalog } = args.is('locked') ? checkLocked(config) : await schemaOf();
    const { registry, problems } = pack;
    if (registry === undefined || catalog === undefined) {
      refuse(problems.map(problemLine), terminal);
      if (catalog === undefined) terminal.note('The pack has no schema.lock.json; `lintel lock` writes it.');
      writePipelineReports(args, { folder: config.mappings, own: problems, tests: undefined }, terminal);
      return 1;
    }
    const tests = await testsOf(config, registry, catalog, terminal);
    const failed = tests.cases.filter(one => countOf(one.problems, 'error') > 0).length;
    writePipelineReports(args, { folder: config.mappings, own: undefined, tests }, terminal);
    if (args.json) {
      const cases = tests.cases.map(({ name, at, problems: own }) => ({
        mapping: name,
        place: at,
        problems: own.map(({ kind, ...problem }) => ({ code: problemCode({ kind }), ...problem })),
      }));
      printJson({ ran: tests.ran, failed, tests: cases }, terminal);
    }
    if (text) {
      for (const problem of tests.problems) terminal.out(problemLine(problem));
      terminal.out(`${plural(tests.ran, 'test')}, ${failed} failed`);
    }
    return failed > 0 ? 1 : 0;

    async function schemaOf(): Promise<Pick<Awaited<ReturnType<typeof setUp>>, 'pack' | 'catalog'>> {
      const { database, pack: loaded, catalog: live } = await setUp(config, terminal.note);
      await database.close();
      return { pack: loaded, catalog: live };
    }
  },
};
