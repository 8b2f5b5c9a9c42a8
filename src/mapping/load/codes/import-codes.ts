/**
 * Imports a code list as a code map of the pack. In: the bytes of a CSV file, and the meaning of its columns. Out: the
 * text of `name.csv` (`raw,code,display,system`), and problems of the list by line.
 * https://www.rfc-editor.org/rfc/rfc4180
 */

import type { Report } from '../problem.ts';
import { type CsvRecord, csvField, readCsv } from '../read/csv.ts';
import { nearest } from '../read/spelling.ts';

export const FIELDS = ['raw', 'code', 'display', 'system'] as const;
export type Field = (typeof FIELDS)[number];

export interface ImportOptions {
  /** Name of the file, for problems. */
  readonly file: string;
  /** The heading, or the number from 1, of each column. Missing ones are found by usual headings. */
  readonly columns: Readonly<Partial<Record<Field, string>>>;
  /** Undefined: whichever of `,`, `;`, tab and `|` is most frequent in the first line. */
  readonly delimiter: string | undefined;
  /** Undefined: detected from the bytes. */
  readonly encoding: string | undefined;
  /** The first line is a row too; columns are named by numbers. */
  readonly headless: boolean;
  /** Names of the codes' system (`systemNames`). A heading of such a name is the column of the codes. */
  readonly systemNames?: readonly string[];
  /** Columns cannot be named: a list without the usual headings is rejected. */
  readonly unnamed?: boolean;
}

export interface ImportedCodes {
  /** Undefined if the list has errors. */
  readonly csv: string | undefined;
  readonly rows: number;
  /** Number of rows that repeat an earlier row. */
  readonly repeated: number;
  readonly encoding: string;
  readonly delimiter: string;
  /** True if rows have systems of their own. */
  readonly hasSystems: boolean;
  /** The headings that were recognized. */
  readonly taken: Readonly<Partial<Record<Field, string>>>;
}

/** Headings that are recognized if no column is named, reduced to lower-case letters and digits. */
const HEADINGS: Readonly<Record<Field, readonly string[]>> = {
  raw: [
    'raw',
    'key',
    'local',
    'localcode',
    'source',
    'sourcecode',
    'from',
    'internalcode',
    'oldcode',
    'rawvalue',
    'value',
  ],
  code: ['code', 'target', 'targetcode', 'standardcode', 'stdcode', 'to', 'concept', 'conceptcode', 'newcode'],
  display: [
    'display',
    'description',
    'descr',
    'desc',
    'name',
    'text',
    'label',
    'term',
    'targetdisplay',
    'preferredterm',
    'descripcion',
    'denominacion',
    'beschreibung',
    'bezeichnung',
  ],
  system: ['system', 'codesystem', 'codesystemuri', 'targetsystem', 'vocabulary', 'codingsystem'],
};

/**
 * Returns names of a system that a heading may contain: its aliases in pack.yaml, and parts of its URI (`loinc`,
 * `rxnorm`).
 */
export function systemNames(address: string, systems: Readonly<Record<string, string>>): readonly string[] {
  const aliases = Object.keys(systems).filter(alias => systems[alias] === address);
  const [, host = '', path = ''] = /^\w+:\/\/([^/]+)(.*)$/.exec(address) ?? [];
  const known = [host.split('.').at(-2), path.split('/').at(-1)];
  return [...aliases, ...known].map(name => plainName(name ?? '')).filter(name => name !== '');
}

/** Number of usual headings that a message lists. */
const USUAL = 4;

/** Reads a list. Reports blank keys and codes, keys with two codes, and missing columns. */
export function importCodes(bytes: Uint8Array, options: ImportOptions, report: Report): ImportedCodes | undefined {
  const { file } = options;
  const at = (line: number) => ({ file, line, column: 1 });
  const decoded = decode(bytes, options.encoding);
  if (decoded === undefined) {
    report.error('wrong-code-map', at(1), `the bytes are not ${options.encoding ?? 'a text'}`, {
      expected: '--encoding with the name of one, such as windows-1252',
    });
    return undefined;
  }
  const delimiter = options.delimiter ?? delimiterOf(decoded.text);
  const records = readCsv(decoded.text, delimiter);
  const [first] = records;
  if (first === undefined) {
    report.error('wrong-code-map', at(1), 'the file has no rows');
    return undefined;
  }
  const headings = options.headless ? [] : first.fields.map(field => field.trim());
  const places = placesOf(headings, first, options, report);
  if (places === undefined) return undefined;
  const read = readRows(options.headless ? records : records.slice(1), places, file, report);
  const isSound = report.problems().every(({ severity }) => severity !== 'error');
  const used = FIELDS.filter(field => field === 'raw' || field === 'code' || read.rows.some(row => row[field] !== ''));
  const lines = [used, ...read.rows.map(row => used.map(field => row[field]))];
  return {
    csv:
      isSound && read.rows.length > 0 ? `${lines.map(line => line.map(csvField).join(',')).join('\n')}\n` : undefined,
    rows: read.rows.length,
    repeated: read.repeated,
    encoding: decoded.encoding,
    delimiter,
    hasSystems: used.includes('system'),
    taken: Object.fromEntries(
      FIELDS.flatMap(field => {
        const place = places[field];
        return place === undefined ? [] : [[field, headings[place] ?? `column ${place + 1}`]];
      }),
    ),
  };
}

/** Decodes by the byte order mark, else as UTF-8 if valid, else as Windows-1252, which old tools write. */
function decode(
  bytes: Uint8Array,
  encoding: string | undefined,
): { readonly text: string; readonly encoding: string } | undefined {
  const [a, b] = bytes;
  const marked = a === 0xff && b === 0xfe ? 'utf-16le' : a === 0xfe && b === 0xff ? 'utf-16be' : undefined;
  const tried = encoding === undefined ? [...(marked ? [marked] : []), 'utf-8', 'windows-1252'] : [encoding];
  for (const name of tried) {
    try {
      return { text: new TextDecoder(name, { fatal: true }).decode(bytes), encoding: name };
    } catch (error) {
      // An unknown encoding throws a RangeError, invalid bytes a TypeError.
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}

function delimiterOf(text: string): string {
  const line = text.split('\n', 1)[0]?.replace(/"[^"]*"/g, '') ?? '';
  const counts = [',', ';', '\t', '|'].map(delimiter => ({ delimiter, count: line.split(delimiter).length }));
  return counts.sort((a, b) => b.count - a.count)[0]?.delimiter ?? ',';
}

type Places = Readonly<Partial<Record<Field, number>>>;

function placesOf(
  headings: readonly string[],
  first: CsvRecord,
  { file, columns, headless, systemNames: names = [], unnamed = false }: ImportOptions,
  report: Report,
): Places | undefined {
  const at = { file, line: first.line, column: 1 };
  const places: Partial<Record<Field, number>> = {};
  for (const field of FIELDS) {
    const named = columns[field];
    if (named !== undefined) {
      const place = headings.findIndex(heading => heading.toLowerCase() === named.toLowerCase());
      const number = /^[1-9]\d?$/.test(named) && Number(named) <= first.fields.length ? Number(named) - 1 : -1;
      if (place >= 0 || number >= 0) places[field] = place >= 0 ? place : number;
      else
        report.error('wrong-code-map', at, `no column for --${field}`, {
          found: named,
          expected: expectedIn(headings),
          among: headings,
        });
      continue;
    }
    const usual = headings.findIndex(heading => HEADINGS[field].includes(plainName(heading)));
    if (usual >= 0) places[field] = usual;
    else if (headless && (field === 'raw' || field === 'code')) places[field] = field === 'raw' ? 0 : 1;
  }
  takeBySystem(headings, columns, names, places);
  for (const field of ['raw', 'code'] as const) {
    if (places[field] !== undefined || columns[field] !== undefined) continue;
    const near = nearest(field, headings);
    report.error('wrong-code-map', at, `which column is the ${field === 'raw' ? 'raw value' : 'code'} is not known`, {
      expected: unnamed
        ? `a heading such as ${HEADINGS[field].slice(0, USUAL).join(', ')}`
        : `--${field} with one of ${expectedIn(headings)}`,
      ...(unnamed ? { found: headings.join(', ') } : {}),
      ...(near === undefined ? {} : { suggestion: near }),
    });
  }
  return places.raw === undefined || places.code === undefined ? undefined : places;
}

/** Takes the column named after the system for the codes, and the only remaining column for the raw values. */
function takeBySystem(
  headings: readonly string[],
  named: ImportOptions['columns'],
  names: readonly string[],
  places: Partial<Record<Field, number>>,
): void {
  const code = headings.findIndex(heading => names.includes(plainName(heading).replace(CODE, '')));
  if (code < 0 || places.code !== undefined || named.code !== undefined) return;
  places.code = code;
  const taken = Object.values(places);
  const [only, ...others] = headings.flatMap((_, place) => (taken.includes(place) ? [] : [place]));
  if (named.raw === undefined && only !== undefined && others.length === 0) places.raw ??= only;
}

/** As in `LOINC code` and `Código LOINC`. */
const CODE = /^(?:code|codigo)|(?:code|codigo)$/;

function plainName(heading: string): string {
  return heading
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

function expectedIn(headings: readonly string[]): string {
  return headings.length === 0 ? 'a number of a column, counted from 1' : headings.join(', ');
}

type CodeRow = Readonly<Record<Field, string>>;

function readRows(
  records: readonly CsvRecord[],
  places: Places,
  file: string,
  report: Report,
): { readonly rows: readonly CodeRow[]; readonly repeated: number } {
  const byKey = new Map<string, { readonly row: CodeRow; readonly line: number }>();
  let repeated = 0;
  for (const { line, fields } of records) {
    const at = { file, line, column: 1 };
    const field = (name: Field): string => {
      const place = places[name];
      return place === undefined ? '' : (fields[place] ?? '').replace(/\s+/g, ' ').trim();
    };
    const raw = places.raw === undefined ? '' : (fields[places.raw] ?? '').trimEnd();
    const row: CodeRow = { raw, code: field('code'), display: field('display'), system: field('system') };
    if (raw.trim() === '')
      report.error('wrong-code-map', at, 'blank key', {
        expected: 'a raw value; what a blank means is `blank:` in codes.yaml',
      });
    else if (row.code === '')
      report.error('wrong-code-map', at, 'no code', { expected: 'a code, or `absent` where the value means none' });
    else {
      const before = byKey.get(raw);
      if (before === undefined) byKey.set(raw, { row, line });
      else if (before.row.code === row.code && before.row.system === row.system) repeated++;
      else
        report.error('wrong-code-map', at, `two codes for one key, the other in line ${before.line}`, {
          found: `${raw}: ${before.row.code} and ${row.code}`,
        });
    }
  }
  const lower = Map.groupBy(byKey.entries(), ([key]) => key.toLowerCase());
  for (const [[first], second] of [...lower.values()].flatMap(of =>
    of[0] && of[1] ? [[of[0], of[1]] as const] : [],
  )) {
    report.warning('wrong-code-map', { file, line: second[1].line, column: 1 }, 'two keys that differ in case alone', {
      found: `${first} and ${second[0]}`,
    });
  }
  return { rows: [...byKey.values()].map(({ row }) => row), repeated };
}
