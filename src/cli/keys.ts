/**
 * `lintel keys`: keys of the authorization server.
 */
import { join } from 'node:path';
import { readConfig } from '../config/config.ts';
import { readKeys, rotateKeys } from '../smart/keys.ts';
import { FILES } from '../smart/server.ts';
import type { Command } from './command.ts';

export const keys: Command = {
  summary: 'rotates the keys of the authorization server',
  help: `Usage: lintel keys list
       lintel keys rotate

list     names the keys that sign id_tokens, the newest first
rotate   makes a new key that signs from now on; older ones still verify, so that no session ends

Keys are kept in ${FILES.keys} in DATA_DIR, which only its owner can read; a running server sees changes.`,
  options: {},
  positionals: [1, 1],
  async run(args, terminal) {
    const file = join(readConfig(terminal.environment).dataDir, FILES.keys);
    const [action] = args.positionals;
    if (action !== 'list' && action !== 'rotate') {
      terminal.note('Expected list or rotate; lintel keys --help explains it.');
      return 2;
    }
    const found = action === 'rotate' ? await rotateKeys(file) : readKeys(file);
    for (const { kid } of found?.signing ?? []) terminal.out(kid ?? '');
    if (found === undefined) terminal.note('There are no keys; the server makes them when it starts.');
    return 0;
  },
};
