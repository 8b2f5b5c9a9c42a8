/** `lintel workbench`: serves the page for writing a pack, on this machine only. */
import { statSync } from 'node:fs';
import { ConfigError } from '../config/config.ts';
import { listen } from '../http/server/server.ts';
import { printError } from '../start/print-error.ts';
import { openDatabase } from '../start/setup.ts';
import { stopSignal } from '../start/signals.ts';
import { Arguments, type Command, configOf, DATABASE, SCHEMA } from './command.ts';
import { databaseText } from './subject.ts';

/** Milliseconds for running requests to finish when the workbench stops. */
const DRAIN = 1000;

export const workbench: Command = {
  summary: 'opens an editor page for a pack, with the rows that it maps',
  help: `Usage: lintel workbench [PACK] [--database URL] [--schema VERSION] [--port PORT]

Serves a page on 127.0.0.1 and prints a link to it, which works once and in one browser. The page shows the files of
the pack in the folder PACK (default: MAPPINGS, or the demo pack), problems as you type, and rows beside the resources
that the mappings make of them. It shows patients' data to anyone who opens the link. It writes files of PACK and
nothing else, and connects to no other address. It ends with Ctrl+C.`,
  exits: ['it was stopped', 'it could not start'],
  options: { ...DATABASE, ...SCHEMA, port: ['PORT', 'default: a free one'] },
  positionals: [0, 1],
  async run(args, terminal) {
    const config = configOf(new Arguments({ port: '0', ...args.values }, []), terminal, args.positionals[0]);
    if (!statSync(config.mappings, { throwIfNoEntry: false })?.isDirectory()) {
      throw new ConfigError([`PACK: expected a folder; found ${config.mappings}`]);
    }
    const [{ createWorkbench }, { bundlePage }, { Desk }] = await Promise.all([
      import('../workbench/server/app.ts'),
      import('../workbench/server/bundle.ts'),
      import('../workbench/server/desk.ts'),
    ]);
    const stop = stopSignal();
    const database = await openDatabase(config, terminal.note);
    try {
      const desk = new Desk(database, config);
      const bench = createWorkbench({
        ...{ desk, bundle: await bundlePage(), database: databaseText(config.database) },
        failed: error => printError(error, terminal.note),
      });
      const server = await listen(bench, { host: '127.0.0.1', port: config.port, drain: DRAIN });
      terminal.out(`Open this link in a browser on this machine; it works once:\n\n  ${server.url}${bench.link}\n`);
      terminal.out('The page shows patients’ data. Ctrl+C ends it.');
      await stop.signalled;
      await server.close();
      return 0;
    } finally {
      stop.forget();
      await database.close();
    }
  },
};
