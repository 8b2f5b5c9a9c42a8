/**
 * `lintel lock`: writes the part of the schema that a pack uses, so that the pack can be checked without the database
 * and a change of the schema shows as a change of a file. It also writes a JSON Schema for editors.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { writeLock } from '../mapping/load/pack/lock.ts';
import { settingsOf } from '../mapping/load/pack/pack.ts';
import { problemLine } from '../mapping/load/problem.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/read/files.ts';
import { namesSchema } from '../mapping/load/read/names-schema.ts';
import { ADDRESS_FORMS } from '../sql/engines.ts';
import { setUp } from '../start/setup.ts';
import { type Command, configOf, printJson, wantsJson } from './command.ts';
import { databaseText, subjectLines } from './subject.ts';

const FILE = 'schema.lock.json';
/** For editors. */
const NAMES = 'mapping.schema.json';

/** A lock that is about to be replaced is not held against the database. */
function withoutLock({ mappings, schema }: Config): PackFiles {
  return { ...readPackFiles(mappings, schema), lock: undefined };
}

/** Writes a file, and says whether that changed it. */
function replaced(file: string, text: string): { readonly file: string; readonly changed: boolean } {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  writeFileSync(file, text);
  return { file, changed: text !== before };
}

export const lock: Command = {
  summary: 'keeps the schema that a pack uses beside it, to check it without the database',
  help: `Usage: lintel lock [PACK] [--json] [--database URL] [--schema VERSION]

Writes ${FILE} into the folder PACK (default: MAPPINGS, or the demo pack): the tables that its mappings use, with
columns, keys and indexes, as the database has them now. \`lintel check --locked\` then needs no database.

Also writes ${NAMES}: the JSON Schema of mappings with all tables and columns of the database but those under
\`deny\`. A mapping whose first line is \`# yaml-language-server: $schema=./${NAMES}\` has them completed by its
editor.

  --json           prints one JSON object: pack, database, and the files with whether each changed
  --database URL   ${ADDRESS_FORMS}
  --schema VERSION version of the database's schema, instead of the pack's`,
  exits: ['both files are written', 'the pack has errors; neither is written'],
  options: { database: { type: 'string' }, json: { type: 'boolean' }, schema: { type: 'string' } },
  positionals: [0, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal, args.positionals[0]);
    const files = withoutLock(config);
    const { database, pack } = await setUp(config, terminal.note, files);
    const whole = await database.catalog().finally(() => database.close());
    if (pack.registry === undefined) {
      for (const problem of pack.problems) terminal.note(problemLine(problem));
      terminal.note('The pack has errors, so schema.lock.json was not written. Mend them first.');
      return 1;
    }
    const settings = settingsOf(files);
    if (!('deny' in settings)) throw new TypeError('the settings of a pack that was loaded are sound');
    const written = [
      replaced(join(config.mappings, FILE), writeLock(pack.registry, whole)),
      replaced(join(config.mappings, NAMES), namesSchema(whole, settings.deny)),
    ];
    if (wantsJson(args)) {
      const { name } = pack.registry.pack;
      printJson({ pack: name, database: databaseText(config.database), files: written }, terminal);
      return 0;
    }
    for (const line of subjectLines(config, pack.registry.pack)) terminal.out(line);
    for (const { file } of written) terminal.out(`Written: ${file}`);
    return 0;
  },
};
