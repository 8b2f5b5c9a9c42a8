/**
 * `lintel init`: begins a pack from a live schema. Candidates are written as comments, each with its score and reasons.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { plural } from '../common/plural.ts';
import { readConfig } from '../config/config.ts';
import { ADDRESS_FORMS } from '../sql/engines.ts';
import { openDatabase } from '../start/setup.ts';
import { packFiles, proposalsFor } from '../workbench/init.ts';
import { type Command, overrides, textOf } from './command.ts';

export const init: Command = {
  summary: 'begins a pack from a live schema, with candidates for patients and others as comments',
  help: `Usage: lintel init [FOLDER] [--database URL] [--zone ZONE] [--name NAME] [--json]

Looks for tables of patients, practitioners, encounters, conditions, allergies, results, vital signs, medications, immunizations and
procedures by the names, types and keys of tables and columns. It reads no row. Prints each candidate with its score and reasons.

With FOLDER, which must be new or empty, it also writes a pack: pack.yaml, and a file for each kind with its candidates as comments.
The pack loads as it is, and serves nothing until a person has written its mappings.

  --database URL   ${ADDRESS_FORMS}
  --zone ZONE      IANA zone of the local times in the database, such as America/New_York
  --name NAME      of the pack; default: that of the folder
  --json           prints one JSON object

Exit code: 0 with candidates or none; 1 where FOLDER is not empty; 2 not understood.`,
  options: {
    database: { type: 'string' },
    json: { type: 'boolean' },
    name: { type: 'string' },
    zone: { type: 'string' },
  },
  positionals: [0, 1],
  async run(args, terminal) {
    const [folder] = args.positionals;
    const zone = textOf(args, 'zone');
    if (zone !== undefined && !isZone(zone)) {
      terminal.note('--zone takes an IANA zone, such as America/New_York; lintel init --help explains it.');
      return 2;
    }
    if (folder !== undefined && existsSync(folder) && readdirSync(folder).length > 0) {
      terminal.note(`FOLDER: expected a new or an empty folder; ${folder} has files. Nothing is written.`);
      return 1;
    }
    const config = readConfig(terminal.environment, overrides({ DATABASE_URL: textOf(args, 'database') }));
    const database = await openDatabase(config, terminal.note);
    const catalog = await database.catalog().finally(() => database.close());
    const proposals = proposalsFor(catalog);
    if (args.values['json'] === true) terminal.out(JSON.stringify({ proposals }, undefined, 2));
    else {
      for (const { kind, table, score, reasons, elements } of proposals) {
        terminal.out(`${kind}: ${table}, score ${score.toFixed(2)}; ${reasons.join('; ')}`);
        for (const one of elements) terminal.out(`  ${one.path}  ${one.column}  ${one.score.toFixed(2)}`);
      }
      terminal.out(`${plural(proposals.length, 'candidate')} in ${plural(catalog.tables.size, 'table')}`);
    }
    if (folder === undefined) return 0;
    mkdirSync(folder, { recursive: true });
    const name = textOf(args, 'name') ?? basename(resolve(folder));
    for (const [file, text] of packFiles(proposals, { name, zone })) {
      writeFileSync(join(folder, file), text);
      terminal.note(`Written: ${join(folder, file)}`);
    }
    if (zone === undefined) terminal.note('The zone of the database is not known: write it into pack.yaml.');
    return 0;
  },
};

function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false;
  }
}
