/**
 * `lintel lock`: keeps what a pack uses of the schema beside it, so that it can be checked where the database is not,
 * and so that a change of the schema shows as a change of a file.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/files.ts';
import { writeLock } from '../mapping/load/lock.ts';
import { formatProblem } from '../mapping/load/problem.ts';
import { setUp } from '../setup.ts';
import { type Command, overrides, textOf } from './command.ts';
import { subjectLines } from './subject.ts';

const FILE = 'schema.lock.json';

/** A lock that is about to be replaced is not held against the database. */
function withoutLock({ mappings, schema }: Config): PackFiles {
  return { ...readPackFiles(mappings, schema), lock: undefined };
}

export const lock: Command = {
  summary: 'keeps the schema that a pack uses beside it, to check it without the database',
  help: `Usage: lintel lock [PACK] [--database URL] [--schema VERSION]

Writes ${FILE} into the folder PACK (default: MAPPINGS, or the demo pack): the tables that its mappings use, with
columns, keys and indexes, as the database has them now. \`lintel check --locked\` then needs no database.

  --database URL   sqlite:<file> or mssql://<user>:<password>@<host>/<database>
  --schema VERSION version of the database's schema, instead of the pack's`,
  options: { database: { type: 'string' }, schema: { type: 'string' } },
  positionals: [0, 1],
  async run(args, terminal) {
    const instead = overrides({
      MAPPINGS: args.positionals[0],
      DATABASE_URL: textOf(args, 'database'),
      SCHEMA: textOf(args, 'schema'),
    });
    const config = readConfig(terminal.environment, instead);
    const { database, pack, catalog } = await setUp(config, terminal.note, withoutLock(config));
    await database.close();
    if (pack.registry === undefined) {
      for (const problem of pack.problems) terminal.note(formatProblem(problem));
      terminal.note('A pack with errors is not locked.');
      return 1;
    }
    for (const line of subjectLines(config, pack.registry.pack)) terminal.out(line);
    const file = join(config.mappings, FILE);
    writeFileSync(file, writeLock(pack.registry, catalog));
    terminal.out(`Written: ${file}`);
    return 0;
  },
};
