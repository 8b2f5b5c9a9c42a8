/**
 * `lintel lock`: writes the part of the schema that a pack uses, so that the pack can be checked without the database
 * and schema changes become visible as changes of a file. It also writes a JSON Schema for editors.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { writeLock } from '../mapping/load/pack/lock.ts';
import { settingsOf } from '../mapping/load/pack/pack.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/read/files.ts';
import { namesSchema } from '../mapping/load/read/names-schema.ts';
import { type Command, configOf, DATABASE, printJson, refuse, SCHEMA } from './command.ts';
import { databaseText, subjectLines } from './subject.ts';
import { type LoadedSetup, withPack } from './with-pack.ts';

const FILE = 'schema.lock.json';
/** JSON Schema for editors. */
const NAMES = 'mapping.schema.json';

/** Reads the pack without its lock, because a lock that will be replaced must not cause problems. */
function withoutLock({ mappings, schema }: Config): PackFiles {
  return { ...readPackFiles(mappings, schema), lock: undefined };
}

/** Writes a file; returns whether its content changed. */
function replaced(file: string, text: string): { readonly file: string; readonly changed: boolean } {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  writeFileSync(file, text);
  return { file, changed: text !== before };
}

export const lock: Command = {
  summary: 'stores the schema that a pack uses, to check the pack without the database',
  help: `Usage: lintel lock [PACK] [--json] [--database URL] [--schema VERSION]

Writes ${FILE} into the folder PACK (default: MAPPINGS, or the demo pack): the tables that its mappings use,
with columns, keys and indexes, as the database has them now. \`lintel check --locked\` then needs no database.

Also writes ${NAMES}: the JSON Schema of mappings with all tables and columns of the database but those under
\`deny\`. A mapping whose first line is \`# yaml-language-server: $schema=./${NAMES}\` have them completed by its
editor.`,
  exits: ['both files are written', 'the pack has errors; neither is written'],
  options: {
    json: 'prints one JSON object: pack, database, and the files with whether each changed',
    ...DATABASE,
    ...SCHEMA,
  },
  positionals: [0, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal, args.positionals[0]);
    const files = withoutLock(config);
    const write = async ({ registry, database }: LoadedSetup): Promise<number> => {
      const whole = await database.catalog();
      const settings = settingsOf(files);
      if (!('deny' in settings)) throw new TypeError('the settings of a pack that was loaded are sound');
      const written = [
        replaced(join(config.mappings, FILE), writeLock(registry, whole)),
        replaced(join(config.mappings, NAMES), namesSchema(whole, settings.deny)),
      ];
      if (args.json) {
        const { name } = registry.pack;
        printJson({ pack: name, database: databaseText(config.database), files: written }, terminal);
        return 0;
      }
      for (const line of subjectLines(config, registry.pack)) terminal.out(line);
      for (const { file } of written) terminal.out(`Written: ${file}`);
      return 0;
    };
    const code = await withPack(config, terminal, write, files);
    return code ?? refuse(['The pack has errors, so schema.lock.json was not written. Mend them first.'], terminal);
  },
};
