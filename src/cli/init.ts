/**
 * `lintel init`: starts a pack from a live schema. Candidates are written as comments, each with its score and reasons.
 */

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { nowAndThen } from '../common/now-and-then.ts';
import { plural } from '../common/plural.ts';
import { countOf } from '../profile/rows.ts';
import { within } from '../sql/database.ts';
import { isZone } from '../time/zone.ts';
import { type SeenElement, type SeenProposal, unseen, withEvidence } from '../workbench/init/evidence.ts';
import { packFiles } from '../workbench/init/pack-text.ts';
import type { Step } from '../workbench/init/parents.ts';
import { missingIn, namesIn, proposalsFor } from '../workbench/init/propose.ts';
import { rowsInWords } from '../workbench/wire/numbers.ts';
import { ArgumentsError, type Command, configOf, DATABASE, printJson, refuse } from './command.ts';
import { withDatabase } from './with-pack.ts';

/** Time limit in seconds for examining the rows of all candidates. */
const SECONDS = 60;

export const init: Command = {
  summary: 'starts a pack from a live schema, with candidates for patients and other types as comments',
  help: `Usage: lintel init [FOLDER] [options]

Looks for tables of patients, practitioners, organizations, locations, encounters, conditions, allergies, results, vital
signs, medications, immunizations and procedures. It goes by the names, types and keys of tables and columns, and by a
sample of the rows of likely tables. A table of several kinds of records, told apart by a column such as \`type\`, gives
a candidate for each kind that a value names. It prints each candidate with its score and reasons. The only values that
it prints are codes: few, short, and each in three rows or more.

With FOLDER, which must be new or empty, it also writes a pack: pack.yaml, a file for each kind with its candidates as
comments, and, if rows hold codes, codes.yaml with these as comments too. The pack loads unchanged, and serves nothing
until you uncomment the right candidates.`,
  exits: ['candidates, or none', 'FOLDER is not empty'],
  options: {
    ...DATABASE,
    zone: ['ZONE', 'IANA zone of the local times in the database, such as America/New_York'],
    name: ['NAME', 'name of the pack; default: that of the folder'],
    'no-rows': 'uses only names, types and keys',
    budget: [
      'SECONDS',
      `time for reading rows; default ${SECONDS}. The other candidates are scored by names, types and keys alone`,
    ],
    json: 'prints one JSON object',
  },
  positionals: [0, 1],
  async run(args, terminal) {
    const [folder] = args.positionals;
    const zone = args.text('zone');
    if (zone !== undefined && !isZone(zone))
      throw new ArgumentsError(['--zone takes an IANA zone, such as America/New_York']);
    const budget = args.wholeNumber('budget', [1, 99_999]) ?? SECONDS;
    if (folder !== undefined && existsSync(folder) && readdirSync(folder).length > 0)
      return refuse([`FOLDER: expected a new or an empty folder; ${folder} has files. Nothing is written.`], terminal);
    return await withDatabase(configOf(args, terminal), terminal, async database => {
      const catalog = await database.catalog();
      const names = namesIn(catalog, (await database.survey?.(catalog)) ?? new Map());
      const named = proposalsFor(names);
      const signal = within(1000 * budget);
      const candidates = plural(named.length, 'candidate');
      const onDone = nowAndThen<number>(done => terminal.note(`Rows of ${done} of ${candidates} are read`));
      const looked = args.is('no-rows')
        ? unseen(named, names)
        : await withEvidence(database, named, names, signal, onDone);
      if (signal.aborted) terminal.note(`The rows of some candidates were not read within ${budget} seconds.`);
      const { proposals, undecided } = looked;
      if (args.json) printJson({ proposals: proposals.map(plainOf), undecided }, terminal);
      else {
        for (const proposal of proposals) for (const line of linesOf(proposal)) terminal.out(line);
        for (const line of undecided) terminal.out(line);
        terminal.out(`${plural(proposals.length, 'candidate')} in ${plural(catalog.tables.size, 'table')}`);
      }
      if (folder === undefined) return 0;
      mkdirSync(folder, { recursive: true });
      const name = args.text('name') ?? basename(resolve(folder));
      for (const [file, text] of packFiles(looked, { name, zone })) {
        writeFileSync(join(folder, file), text);
        terminal.note(`Written: ${join(folder, file)}`);
      }
      if (zone === undefined) terminal.note('The zone of the database is not known: write it into pack.yaml.');
      return 0;
    });
  },
};

function linesOf(proposal: SeenProposal): readonly string[] {
  const { kind, table, rows, score, reasons, elements } = proposal;
  const missing = missingIn(proposal);
  const head = [
    ...(rows === undefined ? [] : [rowsInWords(rows)]),
    ...reasons,
    ...(missing.length > 0 ? [`no column found for ${missing.join(', ')}`] : []),
  ];
  return [
    `${kind}: ${table}, score ${score.toFixed(2)}; ${head.join('; ')}`,
    ...elements.map(one => {
      return `  ${one.path}  ${placeOf(one)}  ${one.score.toFixed(2)}  ${one.why}${one.seen ? `; ${one.seen.note}` : ''}`;
    }),
  ];
}

/**
 * Returns `BORN`; for another table `ACCESSION.PATIENT_ID by NO`, with each further step; for child rows `NAMES.LAST of
 * each PID`.
 */
function placeOf({ column, join = [], child }: SeenElement): string {
  if (child) return `${child.table.name}.${column} of each ${child.on.map(([theirs]) => theirs).join(' and ')}`;
  const end = join.at(-1)?.table.name;
  const by = join.map(({ on }) => on.map(([, ours]) => ours).join(' and ')).join(', then ');
  return end === undefined ? column : `${end}.${column} by ${by}`;
}

/** Removes objects of the catalog, for JSON. */
function plainOf({ info: _, named: _named, factor: _factor, elements, rows, ...rest }: SeenProposal) {
  return {
    ...rest,
    ...(rows === undefined ? {} : countOf(rows)),
    elements: elements.map(({ join: joined, child, otherwise: _others, type: _type, reference, ...element }) => ({
      ...element,
      ...(child && { child: stepOf(child) }),
      ...(reference && { reference: { mapping: reference.mapping, on: reference.on.map(plainPair) } }),
      ...(joined && {
        join: joined.map(stepOf),
      }),
    })),
  };
}

function stepOf({ table, on, isDeclared: declared }: Step) {
  return { table: table.name, declared, on: on.map(plainPair) };
}

function plainPair([theirs, ours]: readonly [string, string]) {
  return { theirs, ours };
}
