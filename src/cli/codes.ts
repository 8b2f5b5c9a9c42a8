/**
 * `lintel codes import`: turns a CSV list of codes into a code map of the pack. Without `--write` it only shows what it
 * would write. `lintel codes unmapped` is in unmapped.ts, `lintel codes suggest` in suggest.ts.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { plural } from '../common/plural.ts';
import { readCodeMaps } from '../mapping/load/codes/codes.ts';
import { FIELDS, type ImportedCodes, importCodes, systemNames } from '../mapping/load/codes/import-codes.ts';
import { systemsOf } from '../mapping/load/codes/system.ts';
import { codeMapsOf, settingsOf } from '../mapping/load/pack/pack.ts';
import { createReport, problemLine, type Report } from '../mapping/load/problem.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/read/files.ts';
import { readYaml } from '../mapping/load/read/read.ts';
import { entriesOf } from '../mapping/load/read/tree.ts';
import { DEMO_PACK } from '../start/demo.ts';
import {
  type Arguments,
  ArgumentsError,
  type Command,
  configOf,
  DATABASE,
  printJson,
  refuse,
  type Terminal,
} from './command.ts';
import { suggest } from './suggest.ts';
import { unmapped } from './unmapped.ts';

const SHOWN = 5;
const NAME = /^[A-Za-z][A-Za-z0-9-]*$/;

export const codes: Command = {
  summary: 'makes a code map from a CSV list, and lists the values without a code',
  help: `Usage: lintel codes import FILE.csv [--name NAME] [--write [--replace]] [options]
       lintel codes unmapped [--name NAME] [--csv | --json] [--values] [options]
       lintel codes suggest [--name NAME] [--least SCORE] [--csv | --json] [--values] [options]

lintel codes unmapped lists the raw values of rows that no code map of the pack has, most rows first.

lintel codes suggest lists the same values with codes that may be meant, each with a score from 0 to 1 and the reason.
They come from the code systems of the map, as far as Lintel lists their codes, and from what code maps of the pack
have. A person reviews them. As CSV, the rows of one map (--name) are then a list for lintel codes import.

lintel codes import reads a list of codes and prints the code map that it becomes:
NAME.csv with the columns raw,code,display,system, and the lines of codes.yaml for it. Only with --write is
anything written. Blank keys, rows without a code and two codes for one key are reported with their lines, and then
nothing is written.

It looks for columns by usual headings, for the codes also by the name of their system; the only column left is the
raw value. The options --raw, --code, --display and --system name other headings, or numbers of columns.`,
  exits: [
    'a list, even an empty one; or what would be written, or is',
    'the pack or the list has errors, or NAME.csv is there already',
  ],
  options: {
    csv:
      'raw,code,display,system,map,table,column,rows: to be filled in; of suggest raw,code,display,system,score,reason,' +
      'others,map,table,column,rows: the best suggestion of each value',
    json: 'prints one JSON object; messages of an import go to standard error then',
    values: "also lists values of columns that hold more than a code, which may be a patient's",
    least: ['SCORE', 'suggestions with a lower score are omitted; default 0.4'],
    ...DATABASE,
    mappings: ['FOLDER', 'folder of the pack (default: MAPPINGS)'],
    name: ['NAME', 'the code map; of an import default: that of the file'],
    raw: ['HEADING', 'the column of the raw values'],
    code: ['HEADING', 'the column of the codes'],
    display: ['HEADING', 'the column of the displays'],
    system: [
      'HEADING',
      'the column with the system of each row; or an alias of pack.yaml, or an address, for all rows',
    ],
    'no-header': 'the first line is a row; columns are numbers: 1 is raw, 2 is code unless told otherwise',
    delimiter: [
      'C',
      'the character between columns (tab for a tab); without it , ; tab or |, whichever the first line has most of',
    ],
    encoding: ['NAME', 'such as windows-1252; without it what the file shows'],
    write: 'writes NAME.csv, and appends the map to codes.yaml where it has none of the name',
    replace: 'with --write: an existing NAME.csv is replaced',
  },
  positionals: [1, 2],
  async run(args, terminal) {
    const [action, file = ''] = args.positionals;
    if (action === 'unmapped' && args.positionals.length === 1) return unmapped(args, terminal);
    if (action === 'suggest' && args.positionals.length === 1) return suggest(args, terminal);
    const name = args.text('name') ?? basename(file, extname(file));
    const delimiter = args.text('delimiter')?.replace(/^(?:tab|\\t)$/, '\t');
    if (action !== 'import' || file === '' || !NAME.test(name) || (delimiter !== undefined && delimiter.length !== 1)) {
      throw new ArgumentsError([
        action === 'import' && file !== ''
          ? '--name: expected letters, digits and hyphens; --delimiter: expected one character, or the word tab.'
          : 'Expected lintel codes import FILE.csv, lintel codes unmapped or lintel codes suggest.',
      ]);
    }
    const config = configOf(args, terminal);
    if (config.mappings === DEMO_PACK)
      return refuse(['The list goes into a pack of your own: --mappings FOLDER, or MAPPINGS, names it.'], terminal);
    const files = readPackFiles(config.mappings, config.schema);
    const settings = settingsOf(files);
    if (!('deny' in settings)) return refuse(settings.map(problemLine), terminal);
    if (!existsSync(file)) return refuse([`There is no file ${file}.`], terminal);
    const report = createReport();
    const all = systemOfAll(args.text('system'), settings.pack.systems);
    const columns = Object.fromEntries(
      FIELDS.flatMap(field => {
        const heading = args.text(field);
        return heading === undefined || (field === 'system' && all !== undefined) ? [] : [[field, heading]];
      }),
    );
    const { systems } = settings.pack;
    const system = all === undefined ? ownSystem(name, files) : (systemsOf(systems).get(all) ?? all);
    const imported = importCodes(
      readFileSync(file),
      {
        file,
        columns,
        systemNames: systemNames(system ?? '', systems),
        ...{ delimiter, encoding: args.text('encoding'), headless: args.is('no-header') },
      },
      report,
    );
    const csv = imported?.csv;
    if (imported && csv !== undefined) checkMap({ name, csv, system: all }, files, report);
    const print = args.json ? terminal.note : terminal.out;
    for (const problem of report.problems()) print(problemLine(problem));
    if (imported === undefined || csv === undefined || report.problems().some(({ severity }) => severity === 'error')) {
      return refuse(['Nothing was imported.'], terminal);
    }
    return finish({ imported, csv, name, system: all, folder: config.mappings, files }, args, terminal);
  },
};

/** Returns the system that `--system` gives for all rows; undefined if the option names a column or is missing. */
function systemOfAll(text: string | undefined, systems: Readonly<Record<string, string>>): string | undefined {
  return text !== undefined && (Object.hasOwn(systems, text) || /^[a-z][a-z0-9+.-]*:\S+$/i.test(text))
    ? text
    : undefined;
}

/** Returns the system URI of a code map that the pack already has. */
function ownSystem(name: string, files: PackFiles): string | undefined {
  const map = codeMapsOf(files)?.get(name);
  return map?.kind === 'rows' ? map.map.system : undefined;
}

interface NewMap {
  readonly name: string;
  readonly csv: string;
  readonly system: string | undefined;
}

/** Returns the entry of the map in codes.yaml. */
function declaration({ name, system }: Pick<NewMap, 'name' | 'system'>): string {
  return system === undefined ? '' : `${name}:\n  system: ${system}\n`;
}

/** Checks the map as the pack would read it: for systems and codes that are not allowed. */
function checkMap(map: NewMap, files: PackFiles, report: Report): void {
  const settings = settingsOf(files);
  if (!('deny' in settings)) return;
  const own = ownEntry(map.name, files);
  const text = declaration(map);
  const document = own ?? (text === '' ? [] : readYaml('codes.yaml', text, report));
  readCodeMaps(document, [{ path: `${map.name}.csv`, text: map.csv }], systemsOf(settings.pack.systems), report);
}

/** Returns the entry of this name in a codes.yaml of the pack, as a document of its own. */
function ownEntry(name: string, files: PackFiles): ReturnType<typeof readYaml> | undefined {
  // Among packs on top of each other, the uppermost decides.
  for (const { path, text } of files.codes.toReversed()) {
    for (const document of readYaml(path, text, createReport())) {
      const entries = entriesOf(document).filter(({ key }) => key === name);
      if (entries.length > 0) return [{ kind: 'map', entries, at: document.at }];
    }
  }
  return undefined;
}

interface Import extends NewMap {
  readonly imported: ImportedCodes;
  readonly folder: string;
  readonly files: PackFiles;
}

/** Describes the map, and writes it if `--write` was given. Returns the exit code. */
function finish({ imported, csv, name, system, folder, files }: Import, args: Arguments, terminal: Terminal): number {
  const { rows, repeated, encoding, delimiter, taken } = imported;
  const out = args.json ? terminal.note : terminal.out;
  const finished = (written: readonly string[]): number => {
    if (args.json) printJson({ name, rows, repeated, encoding, delimiter, taken, written }, terminal);
    return 0;
  };
  const left = repeated === 0 ? '' : `, ${repeated} repeated left out`;
  out(
    `${name}.csv: ${plural(rows, 'row')}${left}; ${encoding}, separated by ${delimiter === '\t' ? 'tab' : delimiter}`,
  );
  out(
    Object.entries(taken)
      .map(([field, heading]) => `${field} from ${heading}`)
      .join(', '),
  );
  for (const line of csv.split('\n').slice(0, SHOWN + 1)) if (line !== '') out(`  ${line}`);
  if (rows > SHOWN) out('  …');
  const isDeclared = ownEntry(name, files) !== undefined;
  const declared = isDeclared ? '' : declaration({ name, system });
  if (declared !== '') out(`codes.yaml:\n${declared.replace(/^(?=.)/gm, '  ')}`.trimEnd());
  if (isDeclared)
    out(
      `codes.yaml has a map ${name} already: its system, blank and else are used, and its rows are added to those of the file.`,
    );
  else if (system === undefined && !imported.hasSystems)
    out('The codes have no system: enough for a code, not for a Coding. --system names one.');
  const before = files.tables.find(
    ({ path, level }) => level === undefined && path.replace(/^.*\//, '') === `${name}.csv`,
  );
  if (!args.is('write')) {
    out(`Nothing is written; --write${before ? ' --replace' : ''} does it.`);
    return finished([]);
  }
  const path = join(folder, before?.path ?? `${name}.csv`);
  if (before && !args.is('replace')) return refuse([`${path} is there already; --replace replaces it.`], terminal);
  writeFileSync(path, csv);
  out(`Written: ${path}`);
  if (declared !== '') {
    const file = join(folder, 'codes.yaml');
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    writeFileSync(file, `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${declared}`);
    out(`Written: ${file}, with the map ${name} at its end`);
    return finished([path, file]);
  }
  return finished([path]);
}
