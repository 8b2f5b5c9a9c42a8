/** `lintel keys`: manages the keys of the authorization server. */
import { join } from 'node:path';
import { readKeys, rotateKeys } from '../smart/keys.ts';
import { FILES } from '../smart/server.ts';
import { ArgumentsError, type Command, configOf, printJson } from './command.ts';
import { isRecorded } from './recorded.ts';

export const keys: Command = {
  summary: 'rotates the keys of the authorization server',
  help: `Usage: lintel keys list [--json]
       lintel keys rotate [--json]

list     names the keys that sign id_tokens, the newest first
rotate   makes a new key that signs from now on; older ones still verify, so that no session ends

Keys are kept in ${FILES.keys} in DATA_DIR, which only its owner can read; a running server sees changes.`,
  exits: ['done', 'the file of keys cannot be used, or the audit takes no record'],
  options: { json: 'prints one JSON object: keys, the newest first' },
  positionals: [1, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal);
    const file = join(config.dataDir, FILES.keys);
    const [action] = args.positionals;
    if (action !== 'list' && action !== 'rotate') throw new ArgumentsError(['Expected list or rotate.']);
    if (action === 'rotate' && !isRecorded(['keys', action], true, config, terminal)) return 1;
    const found = action === 'rotate' ? await rotateKeys(file) : readKeys(file);
    const names = (found?.signing ?? []).map(({ kid }) => kid ?? '');
    if (args.json) printJson({ keys: names }, terminal);
    else for (const name of names) terminal.out(name);
    if (found === undefined) terminal.note('There are no keys; the server makes them when it starts.');
    return 0;
  },
};
