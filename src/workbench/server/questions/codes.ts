/**
 * Answers the questions of the view *Codes*: the code maps of the pack, the values in the database, likely codes, and
 * the texts of files with changed rows. Suggestions are computed here and sent nowhere.
 */

import { Buffer } from 'node:buffer';
import { z } from 'zod';
import { codeMapReaders, type HeldColumn, heldColumns } from '../../../mapping/check/unmapped.ts';
import type { Coded } from '../../../mapping/codecs/code-map.ts';
import { type CodeEdit, CodeEditError } from '../../../mapping/load/codes/code-edit.ts';
import type { LoadedCodeMap } from '../../../mapping/load/codes/codes.ts';
import { editCodeMap } from '../../../mapping/load/codes/edit-codes.ts';
import { importCodes, systemNames } from '../../../mapping/load/codes/import-codes.ts';
import { codeMapsOf, settingsOf } from '../../../mapping/load/pack/pack.ts';
import { createReport, problemLine } from '../../../mapping/load/problem.ts';
import { csvField, readCsv } from '../../../mapping/load/read/csv.ts';
import type { PackFiles } from '../../../mapping/load/read/files.ts';
import type { Registry } from '../../../mapping/model.ts';
import { rowReaders } from '../../../plan/row-readers.ts';
import { wasEnded, within } from '../../../sql/database.ts';
import { suggestedLines } from '../../codes-csv.ts';
import { type CodeList, listsOf } from '../../init/lists.ts';
import { suggestionsFor, vocabularyOf } from '../../suggest.ts';
import type {
  WireCodeMaps,
  WireCodeRows,
  WireCodeTexts,
  WireCsv,
  WireHeld,
  WireNewMap,
  WireSuggestion,
  WireUnmapped,
} from '../../wire/codes.ts';
import type { Unsaved } from '../../wire/mapping.ts';
import type { Desk } from '../desk.ts';
import { placeOf } from '../to-wire.ts';
import { type Asked, type Question, question, Refusal, unsaved } from './question.ts';

/** Maximum number of values of a column, and of rows of a map, that are shown. */
const SHOWN = 1000;
/** Time limits in seconds for counting the values of one map, and of all maps. */
const SECONDS = { one: 20, all: 20 } as const;
/** Maximum number of rows of an imported list. */
const IMPORTED = 50_000;

const codeText = z.strictObject({
  code: z.string().max(1000),
  display: z.string().max(2000).optional(),
  system: z.string().max(1000).optional(),
});
const edit = z.strictObject({
  raw: z.string().max(1000),
  rename: z.string().max(1000).optional(),
  to: codeText.nullable(),
});

export const CODES_QUESTIONS: readonly Question[] = [
  question('codes', { unsaved }, async (asked, { desk }) => codeMaps(desk, asked.unsaved)),
  question('codes/unmapped', { unsaved }, async (asked, asking) => unmapped(asking, asked.unsaved)),
  question('codes/rows', { unsaved, map: z.string() }, (asked, { desk }) => {
    const { map, names } = mapOf(desk.files(asked.unsaved), asked.map);
    const rows = map.kind === 'rows' ? [...map.map.rows] : [];
    const own = map.kind === 'rows' ? map.map.system : undefined;
    return {
      rows: rows.slice(0, SHOWN).map(([raw, coded]) => ({
        raw,
        ...textsOf(coded, own, names),
        place: placeOf((map.kind === 'rows' ? map.rowsAt.get(raw) : undefined) ?? map.at),
      })),
      total: rows.length,
    } satisfies WireCodeRows;
  }),
  question('codes/held', { unsaved, map: z.string() }, async (asked, { desk, signal }) => {
    const { map, names } = mapOf(desk.files(asked.unsaved), asked.map);
    const { columns, registry, lists, late } = await heldOf(desk, asked.unsaved, asked.map, signal);
    const known = registry.codeMaps.find(({ name }) => name === asked.map);
    const vocabulary = known && vocabularyOf(known, registry);
    const own = map.kind === 'rows' ? map.map.system : undefined;
    return {
      columns: columns.map(({ table, column, at, isCode, hasElse, ownElse, total, values, known: withRow }, i) => ({
        ...{ table, column, isCode, hasElse, ownElse, total, place: placeOf(at), known: withRow },
        unknown: values.map(one => ({
          ...one,
          suggestions: (vocabulary && isCode ? suggestionsFor(one.value, vocabulary, lists[i]) : []).map(
            ({ score, reason, ...coded }): WireSuggestion => ({ ...textsOf(coded, own, names), score, reason }),
          ),
        })),
      })),
      late,
    } satisfies WireHeld;
  }),
  question('codes/edit', { unsaved, map: z.string(), edits: z.array(edit).max(SHOWN) }, (asked, { desk }) =>
    textsWith(desk.files(asked.unsaved), asked.map, asked.edits),
  ),
  question('codes/import', { unsaved, map: z.string(), file: z.string(), base64: z.string() }, (asked, { desk }) => {
    const files = desk.files(asked.unsaved);
    const { imported, problems } = read(asked, systemNamesOf(files, asked.map));
    if (imported?.csv === undefined) return { texts: [], changed: 0, problems } satisfies WireCodeTexts;
    const edits = editsOf(imported.csv);
    if (edits.length > IMPORTED) throw new Refusal(400, `The list has more than ${IMPORTED} rows`);
    return textsWith(files, asked.map, edits);
  }),
  question('codes/new', { unsaved, file: z.string(), base64: z.string() }, (asked, { desk }) => {
    const name = asked.file.replace(/\.[^.]*$/, '');
    if (!NAME.test(name)) {
      throw new Refusal(400, `${asked.file}: expected a name of letters, digits and hyphens, which is that of the map`);
    }
    const files = desk.files(asked.unsaved);
    const path = `${name}.csv`;
    if (codeMapsOf(files)?.has(name) || files.tables.some(one => one.path === path)) {
      throw new Refusal(409, `There is a code map ${name} already; *Rows from CSV* adds to it`);
    }
    const { imported, problems } = read(asked, []);
    const { csv, rows = 0 } = imported ?? {};
    return { map: csv === undefined ? undefined : { name, path, text: csv, rows }, problems } satisfies WireNewMap;
  }),
  question(
    'codes/csv',
    { unsaved, map: z.string(), of: z.enum(['rows', 'unmapped']) },
    async (asked, { desk, signal }) => {
      const name = `${asked.map}${asked.of === 'rows' ? '' : '-unmapped'}.csv`;
      const lines = asked.of === 'rows' ? rowLines(desk, asked) : await unmappedLines(desk, asked, signal);
      return { name, text: `${lines.join('\n')}\n` } satisfies WireCsv;
    },
  ),
];

/** Allowed names of a new code map. */
const NAME = /^[A-Za-z][A-Za-z0-9-]*$/;

/** Reads a list of codes in any supported form. */
function read(
  { file, base64 }: { readonly file: string; readonly base64: string },
  names: readonly string[],
): {
  readonly imported: ReturnType<typeof importCodes>;
  readonly problems: readonly string[];
} {
  const report = createReport();
  const options = { columns: {}, delimiter: undefined, encoding: undefined, headless: false, unnamed: true };
  const list = { file, ...options, systemNames: names };
  const imported = importCodes(Buffer.from(base64, 'base64'), list, report);
  return { imported, problems: report.problems().map(problemLine) };
}

/** Returns headings that may stand for the system of a map. */
function systemNamesOf(files: PackFiles, name: string): readonly string[] {
  const [map, settings] = [codeMapsOf(files)?.get(name), settingsOf(files)];
  const system = map?.kind === 'rows' ? map.map.system : undefined;
  return system !== undefined && 'pack' in settings ? systemNames(system, settings.pack.systems) : [];
}

interface OfMap {
  readonly unsaved: Unsaved;
  readonly map: string;
}

/** Aliases of systems in the pack, by URI. */
type Names = ReadonlyMap<string, string>;

function mapOf(files: PackFiles, name: string): { readonly map: LoadedCodeMap; readonly names: Names } {
  const map = codeMapsOf(files)?.get(name);
  if (!map) throw new Refusal(409, 'The code map is not there, or its file cannot be read');
  return { map, names: namesOf(files) };
}

function namesOf(files: PackFiles): Names {
  const settings = settingsOf(files);
  const systems = 'deny' in settings ? settings.pack.systems : {};
  return new Map(Object.entries(systems).map(([alias, address]) => [address, alias]));
}

/** Writes a code as the pack does; omits the system if it is the map's. */
function textsOf(
  coded: ({ readonly [part in keyof Coded]: Coded[part] | undefined } & { readonly code: string }) | undefined,
  own: string | undefined,
  names: Names,
) {
  if (!coded) return { code: 'absent', display: '', system: '' };
  const { code, display = '', system = own } = coded;
  return { code, display, system: system === undefined || system === own ? '' : (names.get(system) ?? system) };
}

async function codeMaps(desk: Desk, texts: Unsaved): Promise<WireCodeMaps> {
  const files = desk.files(texts);
  const maps = codeMapsOf(files);
  const names = namesOf(files);
  const levels = new Map([...files.codes, ...files.tables].map(({ path, level = 0 }) => [path, level]));
  const readers = Map.groupBy(await readersOf(desk, texts), ({ map }) => map);
  return {
    maps:
      maps &&
      [...maps.values()].map(map => {
        const system = map.kind === 'rows' ? map.map.system : undefined;
        return {
          ...{ name: map.name, kind: map.kind, place: placeOf(map.at) },
          fixed: (levels.get(map.at.file) ?? 0) > 0,
          rows: map.kind === 'rows' ? map.map.rows.size : 0,
          system: system === undefined ? '' : (names.get(system) ?? system),
          fold: map.kind === 'rows' && map.map.fold,
          readers: [...new Set((readers.get(map.name) ?? []).map(({ column }) => column))],
        };
      }),
    systems: [...names.values()],
  };
}

/**
 * Returns the readers of code maps in the pack, or in its last version without errors; none if there is no such
 * version.
 */
async function readersOf(desk: Desk, texts: Unsaved): Promise<ReturnType<typeof codeMapReaders>> {
  const served = await desk.served(texts);
  return served ? codeMapReaders(served.registry, rowReaders(served.registry, Date.now())) : [];
}

function textsWith(files: PackFiles, name: string, edits: readonly CodeEdit[]): WireCodeTexts {
  const { map, names } = mapOf(files, name);
  if (map.kind === 'table') throw new Refusal(409, `Code map ${name} is a table of the database, which is read-only`);
  const own = map.map.system;
  // Omits the system if it is the map's; writes others by their alias.
  const shortly = (system: string | undefined): string | undefined => {
    const alias = system === undefined || own === undefined ? undefined : names.get(own);
    return system === own || system === alias ? undefined : system && (names.get(system) ?? system);
  };
  const written = edits.map(one => (one.to ? { ...one, to: { ...one.to, system: shortly(one.to.system) } } : one));
  try {
    const texts = [...editCodeMap(files, name, written)].map(([path, text]) => ({ path, text }));
    return { texts, changed: edits.length, problems: [] };
  } catch (error) {
    if (error instanceof CodeEditError) throw new Refusal(409, error.message);
    throw error;
  }
}

/** Parses the rows of a list as `importCodes` writes them. */
function editsOf(csv: string): readonly CodeEdit[] {
  const [header, ...records] = readCsv(csv);
  const names = header?.fields ?? [];
  return records.map(({ fields }) => {
    const field = (name: string): string => fields[names.indexOf(name)] ?? '';
    const system = field('system');
    return {
      raw: field('raw').replace(/ +$/, ''),
      to: { code: field('code'), display: field('display'), ...(system === '' ? {} : { system }) },
    };
  });
}

function rowLines(desk: Desk, asked: OfMap): readonly string[] {
  const { map, names } = mapOf(desk.files(asked.unsaved), asked.map);
  const rows = map.kind === 'rows' ? [...map.map.rows] : [];
  const lines = rows.map(([raw, coded]) => {
    // A list alone has no default system, so each row gets its system.
    const { code, display, system } = textsOf(coded, undefined, names);
    return [raw, code, display, system].map(csvField).join(',');
  });
  return ['raw,code,display,system', ...lines];
}

async function unmappedLines(desk: Desk, asked: OfMap, signal: AbortSignal): Promise<readonly string[]> {
  const { columns, registry, lists } = await heldOf(desk, asked.unsaved, asked.map, signal);
  const known = registry.codeMaps.find(({ name }) => name === asked.map);
  const vocabulary = known && vocabularyOf(known, registry);
  return suggestedLines(
    columns.map(({ table, column, values, isCode }, i) => ({
      ...{ map: asked.map, table, column },
      values: values.map(one => ({
        ...one,
        suggestions: vocabulary && isCode ? suggestionsFor(one.value, vocabulary, lists[i]) : [],
      })),
    })),
  );
}

interface Held {
  readonly columns: readonly HeldColumn[];
  readonly registry: Registry;
  /** The database's own code list for each column. */
  readonly lists: readonly (CodeList | undefined)[];
  readonly late: boolean;
}

async function heldOf(desk: Desk, texts: Unsaved, map: string, signal: AbortSignal): Promise<Held> {
  const registry = await soundRegistry(desk, texts);
  const held = await inTime(signal, SECONDS.one, async own => {
    const columns = await heldColumns(registry, map, askingOf(desk, registry, own), { known: SHOWN, unknown: SHOWN });
    const reader = { database: desk.database, signal: own };
    return { columns, lists: await listsOf(reader, await desk.catalog(), columns) };
  });
  return { columns: held?.columns ?? [], registry, lists: held?.lists ?? [], late: held === undefined };
}

async function unmapped({ desk, signal }: Asked, texts: Unsaved): Promise<WireUnmapped> {
  const registry = await soundRegistry(desk, texts);
  const names = [...new Set(codeMapReaders(registry, rowReaders(registry, Date.now())).map(({ map }) => map))];
  const maps: { name: string; values: number; rows: number }[] = [];
  await inTime(signal, SECONDS.all, async own => {
    for (const name of names) {
      const held = await heldColumns(registry, name, askingOf(desk, registry, own), { known: 0, unknown: SHOWN });
      // Values with an `else` or alternative are handled, so they do not count.
      const columns = held.filter(({ hasElse }) => !hasElse);
      // A value in several columns counts once. If there are too many to list, use the largest count of one column.
      const listed = new Set(columns.flatMap(({ values }) => values.map(({ value }) => value)));
      maps.push({
        name,
        values: Math.max(listed.size, ...columns.map(({ total }) => total.values)),
        rows: columns.reduce((all, { total }) => all + total.rows, 0),
      });
    }
  });
  return { maps, late: names.filter(name => !maps.some(one => one.name === name)) };
}

async function soundRegistry(desk: Desk, texts: Unsaved): Promise<Registry> {
  const served = await desk.served(texts);
  if (!served) throw new Refusal(409, 'The pack has errors: correct them to count the values');
  return served.registry;
}

function askingOf({ database }: Desk, registry: Registry, signal: AbortSignal) {
  return { database, ...rowReaders(registry, Date.now()), signal };
}

/** Returns undefined if the time is over; rejects if the page cancelled the request. */
async function inTime<T>(
  signal: AbortSignal,
  seconds: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work(within(seconds * 1000, signal));
  } catch (error) {
    if (wasEnded(error) && !signal.aborted) return undefined;
    throw error;
  }
}
