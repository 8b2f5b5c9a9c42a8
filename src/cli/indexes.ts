/**
 * `lintel indexes`: prints CREATE INDEX statements for the database's administrator, each with what it serves.
 */

import { nowAndThen } from '../common/now-and-then.ts';
import { WIDTH, wrapped } from '../explain/sql-text.ts';
import { wantedIndexes, wantedOnViews } from '../workbench/indexes.ts';
import { type Command, configOf, DATABASE, printJson, SCHEMA, wantsJson } from './command.ts';
import { type LoadedSetup, withPack } from './with-pack.ts';

export const indexes: Command = {
  summary: 'prints CREATE INDEX statements for the searches and joins that lack one',
  help: `Usage: lintel indexes [PACK] [--json] [--database URL] [--schema VERSION]

Prints one CREATE INDEX statement for each index that the database lacks for the searches and sorts that the pack
offers and for the rows that it looks up, with what each serves as a comment. An index on (A, B) stands for one on (A)
too. Lintel executes none: the administrator of the database decides which tables are large enough to need one.

For searches by words, such as those of names, \`lintel words\` prints an index of its own kind.`,
  exits: ['statements, or none', 'the pack cannot be loaded'],
  options: {
    json:
      'prints one JSON object: for each index its table, columns, statement and what it serves, and the columns of ' +
      'views that the tables behind them should have indexes on',
    ...DATABASE,
    ...SCHEMA,
  },
  positionals: [0, 1],
  async run(args, terminal) {
    const print = async ({ registry, catalog }: LoadedSetup): Promise<number> => {
      const onMapping = nowAndThen(name => terminal.note(`Looking for the indexes of ${name}`));
      const wanted = wantedIndexes(registry, catalog, onMapping);
      const views = wantedOnViews(registry, catalog);
      if (wantsJson(args)) {
        const shown = wanted.map(({ instead: unfit, ...one }) => ({ ...one, instead: unfit ?? null }));
        printJson({ engine: catalog.engine, indexes: shown, views }, terminal);
        return 0;
      }
      terminal.out(
        `-- ${wanted.length} ${wanted.length === 1 ? 'index' : 'indexes'} that the pack ${registry.pack.name} would use`,
      );
      for (const { statement, serves, instead: unfit } of wanted) {
        const lines = wrapped(serves.join(', '), WIDTH).map(line => `-- ${line.trim()}`);
        terminal.out(['', ...lines, ...(unfit === undefined ? [] : [`-- instead of ${unfit}`]), statement].join('\n'));
      }
      for (const [view, of] of Map.groupBy(views, ({ table }) => table)) {
        const columns = of.map(one => `(${one.columns.join(', ')})`).join(', ');
        const told = `${view} is a view and takes no index; the tables behind it should have: ${columns}`;
        terminal.out(['', ...wrapped(told, WIDTH).map(line => `-- ${line.trim()}`)].join('\n'));
      }
      return 0;
    };
    return (await withPack(configOf(args, terminal, args.positionals[0]), terminal, print)) ?? 1;
  },
};
