/**
 * `lintel lock`: keeps what a pack needs of the schema beside it, so that it can be checked where the database is not.
 */
import type { Command } from './command.ts';

export const lock: Command = {
  summary: 'keeps the schema of the database beside the pack, to check it elsewhere',
  help: 'Usage: lintel lock [PACK] [--database URL]',
  options: { database: { type: 'string' } },
  positionals: [0, 1],
  async run(_args, terminal) {
    terminal.note('lintel lock is not there yet');
    return 1;
  },
};
