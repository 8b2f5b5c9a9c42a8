/**
 * Reads code maps. In: codes.yaml documents and CSV files. Out: definitions, checked as far as possible without their
 * uses.
 */
import type { Coded, CodeMap, Unmapped } from '../../codecs/code-map.ts';
import type { Position } from '../../model.ts';
import { mapIn } from '../macros/extend.ts';
import { PackMemory } from '../pack/memory.ts';
import { placeText, type Report, visible } from '../problem.ts';
import { readCsv } from '../read/csv.ts';
import type { PackFile } from '../read/files.ts';
import { codesSchema } from '../read/schema.ts';
import { checkShape } from '../read/shape.ts';
import { child, type Entry, entriesOf, type ScalarTree, scalarsOf, type Tree, textOf } from '../read/tree.ts';
import { reportSwapped } from './swapped-codes.ts';
import { reportMalformed, resolveSystem, type Systems } from './system.ts';

interface CodeMapBase {
  readonly name: string;
  /** The code of NULL and blank. */
  readonly blank: Coded | undefined;
  readonly else: Unmapped;
  readonly at: Position;
}

/** A code map whose rows are written in the pack. */
export interface RowsCodeMap extends CodeMapBase {
  readonly kind: 'rows';
  /** True if `else: absent` is written: the author decided that values without a row mean nothing. */
  readonly isComplete: boolean;
  readonly map: CodeMap;
  /** Positions of the rows by raw value. */
  readonly rowsAt: ReadonlyMap<string, Position>;
}

/** A code map in a table of the database. Its parts are resolved where the map is used. */
export interface TableCodeMap extends CodeMapBase {
  readonly kind: 'table';
  readonly table: ScalarTree;
  readonly where: Tree | undefined;
  readonly key: readonly ScalarTree[];
  readonly code: ScalarTree;
  readonly display: ScalarTree | undefined;
  /** A system for all rows, or a binding. */
  readonly system: { readonly constant: string } | { readonly binding: Tree } | undefined;
  readonly pick: Tree | undefined;
  /** Keys are compared without case. */
  readonly fold: boolean;
}

export type LoadedCodeMap = RowsCodeMap | TableCodeMap;

/** A row as read. `coded` is undefined if the raw value is known and stands for no code. */
interface Row {
  readonly coded: Coded | undefined;
  readonly at: Position;
}

/** Reads all code maps of a pack, by name. A CSV file contains the rows of the map of its name. */
export function readCodeMaps(
  documents: readonly Tree[],
  tables: readonly PackFile[],
  systems: Systems,
  report: Report,
  memory: PackMemory = new PackMemory(),
): ReadonlyMap<string, LoadedCodeMap> {
  const maps = new Map<string, LoadedCodeMap>();
  const csv = new Map(tables.map(file => [mapIn(file.path), file]));
  for (const document of documents) {
    const shape = document.kind === 'map' ? document.entries : [document];
    memory.cached(memory.shapes, `codes ${placeText(document.at)}`, shape, report, own =>
      checkShape(document, codesSchema, own),
    );
    for (const entry of entriesOf(document)) {
      if (maps.has(entry.key))
        report.error('written-twice', entry.at, 'name of a code map used twice', { found: entry.key });
      const file = csv.get(entry.key);
      const of = [entry, file?.path, file?.text];
      const map = memory.cachedBySystems(
        systems,
        memory.codeMap,
        `${entry.key} ${placeText(entry.at)}`,
        of,
        report,
        (own, asked) => readCodeMap(entry, file, asked, own),
      );
      if (map) maps.set(entry.key, map);
    }
  }
  for (const [name, file] of csv) {
    if (maps.has(name)) continue;
    const map = memory.cachedBySystems(systems, memory.codeTable, file.path, [name, file.text], report, (own, asked) =>
      readTableAlone(name, file, asked, own),
    );
    maps.set(name, map);
  }
  return maps;
}

/** Reads the map of a CSV file that has no entry in `codes.yaml`. */
function readTableAlone(name: string, file: PackFile, systems: Systems, report: Report): RowsCodeMap {
  const at = { file: file.path, line: 1, column: 1 };
  const rows = readCsvRows(file, undefined, systems, report);
  reportSwapped(rows, report);
  return withRows({ name, blank: undefined, else: { kind: 'absent' }, at }, rows, false, false);
}

function readCodeMap(
  entry: Entry,
  csv: PackFile | undefined,
  systems: Systems,
  report: Report,
): LoadedCodeMap | undefined {
  const { key: name, value, at } = entry;
  const systemTree = child(value, 'system');
  const system = systemTree?.kind === 'scalar' ? resolveSystem(systemTree, systems, report) : undefined;
  const table = child(value, 'table');
  const fold = textOf(child(value, 'fold')) === 'true';
  const rows = new Map<string, Row>();
  if (!table) {
    for (const [raw, row] of csv ? readCsvRows(csv, system, systems, report) : []) rows.set(raw, row);
    for (const e of entriesOf(child(value, 'rows'))) {
      const coded = e.value.kind === 'scalar' ? readCoded(e.value, system, systems, report) : undefined;
      addRow(rows, e.key, { coded, at: e.at }, report);
    }
    if (!csv && !child(value, 'rows')) {
      report.error('wrong-code-map', at, `code map ${name} has no rows`, {
        expected: `\`rows:\` or a file ${name}.csv`,
      });
    }
    if (fold) reportFolded(rows, report);
    reportSwapped(rows, report);
  }
  const known = [...rows.values()].flatMap(row => (row.coded ? [row.coded] : []));
  const blank = child(value, 'blank');
  const base = {
    name,
    blank: blank?.kind === 'scalar' ? displayed(readCoded(blank, system, systems, report), known) : undefined,
    else: readElse(child(value, 'else'), system, known, systems, report),
    at,
  };
  if (!table) {
    const written = withRows(base, rows, fold, textOf(child(value, 'else')) === 'absent');
    return system === undefined ? written : { ...written, map: { ...written.map, system } };
  }
  const code = child(value, 'code');
  if (table.kind !== 'scalar' || code?.kind !== 'scalar') return undefined;
  const display = child(value, 'display');
  return {
    kind: 'table',
    table,
    where: child(value, 'where'),
    key: scalarsOf(child(value, 'key')),
    code,
    display: display?.kind === 'scalar' ? display : undefined,
    system:
      system !== undefined ? { constant: system } : systemTree?.kind === 'map' ? { binding: systemTree } : undefined,
    pick: child(value, 'pick'),
    fold,
    ...base,
  };
}

function withRows(base: CodeMapBase, rows: ReadonlyMap<string, Row>, fold: boolean, isComplete: boolean): RowsCodeMap {
  const { name, blank } = base;
  const coded = new Map([...rows].map(([raw, row]) => [raw, row.coded]));
  const rowsAt = new Map([...rows].map(([raw, row]) => [raw, row.at]));
  return {
    kind: 'rows',
    map: { name, rows: coded, blank, else: base.else, fold, rowsAt },
    rowsAt,
    isComplete,
    ...base,
  };
}

function addRow(rows: Map<string, Row>, key: string, row: Row, report: Report): void {
  const raw = key.replace(/ +$/, '');
  if (raw === '') report.error('wrong-code-map', row.at, 'a blank key is written `blank:`');
  else if (rows.has(raw)) report.error('written-twice', row.at, 'two rows for one raw value', { found: raw });
  else rows.set(raw, row);
}

function readElse(
  tree: Tree | undefined,
  system: string | undefined,
  known: readonly Coded[],
  systems: Systems,
  report: Report,
): Unmapped {
  if (tree?.kind === 'scalar') {
    if (tree.text === 'text') return { kind: 'text' };
    const coded = displayed(readCoded(tree, system, systems, report), known);
    return coded ? { kind: 'code', coded } : { kind: 'absent' };
  }
  const local = child(tree, 'system');
  const uri = local?.kind === 'scalar' ? resolveSystem(local, systems, report) : undefined;
  return uri === undefined ? { kind: 'absent' } : { kind: 'local', system: uri };
}

/** Adds the display of the row with the same code, if the code is written without one. */
function displayed(coded: Coded | undefined, known: readonly Coded[]): Coded | undefined {
  if (!coded || coded.display !== undefined) return coded;
  return known.find(k => k.code === coded.code && k.system === coded.system) ?? coded;
}

/** Parses `absent`, or `code Display text` with `alias#` before the code if its system differs from the map's. */
function readCoded(tree: ScalarTree, system: string | undefined, systems: Systems, report: Report): Coded | undefined {
  if (tree.text === 'absent') return undefined;
  const match = /^(?:([^\s#]+)#)?(\S+)(?:\s+(.*\S))?\s*$/.exec(tree.text);
  if (!match) {
    report.error('wrong-code-map', tree.at, 'no code', {
      expected: 'a code, then an optional display, or `absent`',
      found: tree.text || 'nothing',
    });
    return undefined;
  }
  const [, alias, code = '', display] = match;
  const own = alias === undefined ? system : resolveSystem({ ...tree, text: alias }, systems, report);
  reportMalformed(own, code, tree.at, report);
  return makeCoded(code, own, display);
}

function makeCoded(code: string, system: string | undefined, display: string | undefined): Coded {
  return {
    code,
    ...(system === undefined ? {} : { system }),
    ...(display === undefined || display === '' ? {} : { display }),
  };
}

function reportFolded(rows: ReadonlyMap<string, Row>, report: Report): void {
  const seen = new Map<string, string>();
  for (const [raw, { at }] of rows) {
    // The engines disagree on the case of other letters.
    if (!/^[ -~]*$/.test(raw))
      report.error('wrong-code-map', at, 'a key under `fold` has characters other than ASCII', { found: raw });
    const before = seen.get(raw.toUpperCase());
    if (before !== undefined)
      report.error('wrong-code-map', at, 'two rows differ only in case, which `fold` ignores', {
        found: `${visible(before)} and ${visible(raw)}`,
      });
    seen.set(raw.toUpperCase(), raw);
  }
}

function readCsvRows(
  file: PackFile,
  system: string | undefined,
  systems: Systems,
  report: Report,
): ReadonlyMap<string, Row> {
  const [header, ...records] = readCsv(file.text);
  const rows = new Map<string, Row>();
  const start = { file: file.path, line: 1, column: 1 };
  const names = header?.fields.map(f => f.trim().toLowerCase()) ?? [];
  for (const name of names) {
    if (!COLUMNS.includes(name))
      report.error('unknown-key', start, 'unknown column of a code map', { found: name, among: COLUMNS });
  }
  if (!names.includes('raw') || !names.includes('code')) {
    report.error('wrong-code-map', start, 'not a code map', { expected: 'a first line raw,code,display,system' });
    return rows;
  }
  for (const { line, fields } of records) {
    const at = { file: file.path, line, column: 1 };
    const field = (name: string): string => fields[names.indexOf(name)]?.trim() ?? '';
    const code = field('code');
    const own = field('system');
    const resolved = own === '' ? system : resolveSystem({ kind: 'scalar', text: own, at }, systems, report);
    if (!/^\S+( \S+)*$/.test(code)) {
      report.error('wrong-code-map', at, 'no code', { found: code || 'nothing' });
      continue;
    }
    if (code !== 'absent') reportMalformed(resolved, code, at, report);
    const coded = code === 'absent' ? undefined : makeCoded(code, resolved, field('display'));
    addRow(rows, fields[names.indexOf('raw')] ?? '', { coded, at }, report);
  }
  return rows;
}

const COLUMNS: readonly string[] = ['raw', 'code', 'display', 'system'];
