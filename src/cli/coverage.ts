/** `lintel coverage`: reports how much of US Core a pack covers, and which parts of the database it does not read. */

import { nowAndThen } from '../common/now-and-then.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { type Coverage, coverageOf } from '../coverage/coverage.ts';
import { type Guide, GuideError, guideIn, guidesIn, usCore, VERSIONS } from '../coverage/guide.ts';
import { coveragePage } from '../coverage/page.ts';
import { coverageLines } from '../coverage/text.ts';
import { readLock } from '../mapping/load/pack/lock.ts';
import { createReport, problemLine } from '../mapping/load/problem.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import { loadWhole } from '../start/setup.ts';
import {
  type Arguments,
  ArgumentsError,
  type Command,
  configOf,
  DATABASE,
  printJson,
  printsText,
  refuse,
  SCHEMA,
  type Terminal,
  writeFileOf,
} from './command.ts';
import { withPack } from './with-pack.ts';

const FILES = ['html'];
/** Default number of resources that are read per profile. */
const SAMPLE = 1000;
/** Maximum of both `--sample` and `--budget`. */
const MOST = 999_999;
/** Default time limit for reading resources, and again for counting rows of tables. */
const SECONDS = 60;

export const coverage: Command = {
  summary: 'reports how much of US Core a pack covers, and which tables it does not read',
  help: `Usage: lintel coverage [PACK] [--database URL | --locked] [options]

For each profile of US Core: whether mappings claim it, each must-support element (mapped or not, and the share of
sampled resources that have it), each search that a server SHALL or SHOULD answer. For each group of the (g)(10)
certification tests a verdict, with what is missing. Then the tables and columns that no mapping reads, those with the
most rows first.

Verdicts: ready; no data (everything is mapped, and the sample does not show all of it); gaps; not mapped.`,
  exits: ['a report, whatever it says', 'the pack cannot be loaded'],
  options: {
    guide: ['GUIDE', 'us-core-6.1.0 (default), us-core-7.0.0, or NAME of a NAME.guide.json in the folder of the pack'],
    ...DATABASE,
    ...SCHEMA,
    locked: 'uses no database, only the pack and its schema.lock.json',
    sample: ['N', `reads N resources for each profile, the first by the keys of its mappings (default ${SAMPLE})`],
    budget: [
      'SECONDS',
      `time for reading resources, and for counting rows of tables (default ${SECONDS} each); the report names what ` +
        'was not reached',
    ],
    json: 'prints one JSON object, which docs/coverage.md describes',
    html: ['FILE', 'also writes the report as one page; --html alone prints it, as --json prints JSON'],
  },
  files: FILES,
  positionals: [0, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal, args.positionals[0]);
    const text = printsText(args, FILES);
    const { guide, sample, seconds } = optionsOf(args, config.mappings);
    const found = args.is('locked')
      ? await withoutRows(config, guide, terminal)
      : await withRows(config, guide, { sample, seconds }, terminal);
    if (found === undefined) return 1;
    const page = args.text('html');
    if (page !== undefined) writeFileOf(page, coveragePage(found), terminal);
    if (args.json) printJson(found, terminal);
    if (text) for (const line of coverageLines(found)) terminal.out(line);
    return 0;
  },
};

interface Limits {
  readonly sample: number;
  readonly seconds: number;
}

function optionsOf(args: Arguments, folder: string): Limits & { readonly guide: Guide } {
  const name = args.text('guide') ?? 'us-core-6.1.0';
  const version = VERSIONS.find(one => name === `us-core-${one}`);
  const names = [...VERSIONS.map(one => `us-core-${one}`), ...guidesIn(folder)];
  const sample = args.wholeNumber('sample', [1, MOST]) ?? SAMPLE;
  const seconds = args.wholeNumber('budget', [1, MOST]) ?? SECONDS;
  if (!names.includes(name)) throw new ArgumentsError([`--guide takes ${names.join(' or ')}`]);
  return { guide: version === undefined ? ownGuide(folder, name) : usCore(version), sample, seconds };
}

function ownGuide(folder: string, name: string): Guide {
  try {
    return guideIn(folder, name);
  } catch (error) {
    if (error instanceof GuideError) throw new ConfigError([error.message]);
    throw error;
  }
}

async function withoutRows(config: Config, guide: Guide, terminal: Terminal): Promise<Coverage | undefined> {
  const files = readPackFiles(config.mappings, config.schema);
  const { lock } = files;
  const catalog = lock && readLock(lock.path, lock.text, createReport());
  const { registry, problems } = loadWhole(files, undefined).pack;
  if (registry === undefined || catalog === undefined) {
    refuse(problems.map(problemLine), terminal);
    return undefined;
  }
  return coverageOf({ registry, catalog, guide, rows: undefined });
}

function withRows(config: Config, guide: Guide, limits: Limits, terminal: Terminal): Promise<Coverage | undefined> {
  return withPack(config, terminal, async ({ registry, database }) => {
    const rows = { database, now: Date.now(), ...limits };
    const onProfile = nowAndThen(profile => terminal.note(`Reading resources of ${profile}`));
    return coverageOf({ registry, catalog: await database.catalog(), guide, rows, onProfile });
  });
}
