/**
 * `lintel indexes`: prints CREATE INDEX statements for the database's administrator, each with the searches it serves.
 */

import { performance } from 'node:perf_hooks';
import { nowAndThen } from '../common/now-and-then.ts';
import { WIDTH, wrapped } from '../explain/sql-text.ts';
import { engineNamed } from '../sql/engines.ts';
import { facadeOf } from '../start/setup.ts';
import { indexTrial, type TriedIndex } from '../workbench/index-trial.ts';
import { type WantedIndex, wantedIndexes, wantedOnViews } from '../workbench/indexes.ts';
import { type Command, configOf, DATABASE, printJson, SCHEMA, type Terminal } from './command.ts';
import { type LoadedSetup, withPack } from './with-pack.ts';

/** Default time limit for trying indexes on the engine. */
const SECONDS = 10;

export const indexes: Command = {
  summary: 'prints CREATE INDEX statements for the searches and joins that lack one',
  help: `Usage: lintel indexes [PACK] [options]

Prints one CREATE INDEX statement for each index that the database lacks for the searches and sorts that the pack
offers, for the rows that it looks up, and for the pages of mappings that divide the rows of a table by a column (the
column, then the key), with what each serves as a comment. An index on (A, B) stands for one on (A) too. Lintel
executes none: the administrator of the database decides which tables are large enough to need one.

Below each statement is the change that the engine's own plan predicts for the index, for one of the searches that
it serves: on SQLite the lines of the plan now and with the index, tried on a copy of the schema; on SQL Server its
estimated cost and the share that the index would save. No value of a row is read for it.

For searches by words, such as those of names, \`lintel words\` prints an index of its own kind.`,
  exits: ['statements, or none', 'the pack cannot be loaded'],
  options: {
    json:
      'prints one JSON object: for each index its table, columns, statement, what it serves and what it would change ' +
      '(tried), and the columns of ' +
      'views that the tables behind them should have indexes on',
    budget: ['SECONDS', `time for what the engine says of each; default ${SECONDS}`],
    ...DATABASE,
    ...SCHEMA,
  },
  positionals: [0, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal, args.positionals[0]);
    const seconds = args.wholeNumber('budget', [0, 99_999]) ?? SECONDS;
    const print = async ({ registry, catalog, database, changed }: LoadedSetup): Promise<number> => {
      const onMapping = nowAndThen(name => terminal.note(`Looking for the indexes of ${name}`));
      const wanted = wantedIndexes(registry, catalog, onMapping);
      const views = wantedOnViews(registry, catalog);
      const facade = facadeOf(registry, database, changed, config);
      const tryIndex = indexTrial(wanted, { facade, database, now: Date.now() });
      const tried = await allTried(wanted, tryIndex, seconds, terminal);
      if (args.json) {
        const shown = wanted.map(({ instead: unfit, ...one }, i) => ({
          ...{ ...one, instead: unfit ?? null, tried: tried[i] ?? null },
        }));
        printJson({ engine: catalog.engine, indexes: shown, views }, terminal);
        return 0;
      }
      terminal.out(
        `-- ${wanted.length} ${wanted.length === 1 ? 'index' : 'indexes'} that the pack ${registry.pack.name} would use`,
      );
      for (const [i, { statement, serves, instead: unfit }] of wanted.entries()) {
        const lines = [serves.join(', '), ...(unfit === undefined ? [] : [`instead of ${unfit}`])].flatMap(asRemark);
        terminal.out(['', ...lines, statement, ...triedLines(tried[i], catalog.engine).flatMap(asRemark)].join('\n'));
      }
      for (const [view, of] of Map.groupBy(views, ({ table }) => table)) {
        const columns = of.map(one => `(${one.columns.join(', ')})`).join(', ');
        const remark = `${view} is a view and cannot have an index; the tables behind it should have: ${columns}`;
        terminal.out(['', ...asRemark(remark)].join('\n'));
      }
      return 0;
    };
    return (await withPack(config, terminal, print)) ?? 1;
  },
};

function asRemark(text: string): readonly string[] {
  return wrapped(text, WIDTH).map(line => `-- ${line.trim()}`);
}

/** Tries each index on the engine, until the time is over. */
async function allTried(
  wanted: readonly WantedIndex[],
  tryIndex: ReturnType<typeof indexTrial>,
  seconds: number,
  { note }: Terminal,
): Promise<readonly (TriedIndex | undefined)[]> {
  const ends = performance.now() + seconds * 1000;
  const onIndex = nowAndThen<number>(done => note(`${done} of ${wanted.length} indexes are tried`));
  const tried: (TriedIndex | undefined)[] = [];
  for (const index of wanted) {
    if (performance.now() > ends) break;
    onIndex(tried.length);
    tried.push(await tryIndex(index));
  }
  if (tried.length < wanted.length)
    note(`${tried.length} of ${wanted.length} indexes were tried in ${seconds} s; --budget gives more time`);
  return tried;
}

function triedLines(tried: TriedIndex | undefined, engine: string): readonly string[] {
  if (!tried) return [];
  const { search, effects } = tried;
  const [first] = effects;
  if (!first) return [`${engineNamed(engine).title} would not use it for ${search}, by its own plan`];
  const { purpose, before, after } = first;
  return [`${search}, ${purpose}, now: ${before.join('; ') || 'the same'}`, `with it: ${after.join('; ')}`];
}
