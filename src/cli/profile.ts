/**
 * `lintel profile`: describes the tables of a database before they are mapped. In: a database, with or without a pack.
 * Out: a line per table, or a table column by column: forms and counts, and values only if they are codes or mean "no
 * value".
 */

import { plural } from '../common/plural.ts';
import { settingsOf } from '../mapping/load/pack/pack.ts';
import { problemLine } from '../mapping/load/problem.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import { namesOf } from '../mapping/load/rows/tables-used.ts';
import type { Mapping } from '../mapping/model.ts';
import { isPersonal, type Showing } from '../profile/column.ts';
import { countOf, sizeOf } from '../profile/rows.ts';
import { type ProfiledColumn, profileTable, type TableProfile } from '../profile/table.ts';
import { type Catalog, type ColumnInfo, findTable, type TableInfo, tableNameOf, tableText } from '../sql/catalog.ts';
import type { Database } from '../sql/database.ts';
import { DEMO_PACK } from '../start/demo.ts';
import { checkAgainst } from '../start/setup.ts';
import { countInWords, grouped, listText, rowsInWords, share } from '../workbench/wire/numbers.ts';
import { type Command, configOf, DATABASE, printJson, refuse, type Terminal, withNearest } from './command.ts';
import { withDatabase } from './with-pack.ts';

const ROWS = 20_000;
const MOST_ROWS = 1_000_000;
const SECONDS = 60;
const WIDTH = 100;
/** With so many tables, reading their sizes takes a while. */
const MANY = 500;

export const profile: Command = {
  summary: 'shows what the tables of a database contain, before they are mapped',
  help: `Usage: lintel profile [TABLE] [--database URL] [--mappings FOLDER] [--json]

Without TABLE one line per table of the database: rows, columns, key, and which mappings read it. With it each column
of the table: NULLs, blanks, distinct values, lengths, range (of dates the years), forms of its values, the most
frequent codes, impossible dates (02-30), and values that probably mean "no value", such as 1753-01-01, 99999999
or N/A. It needs no pack. The form "dd/mm/yyyy or mm/dd/yyyy" is ambiguous: no row decides between both, or rows have
both.

Tables of up to 10,000 rows are counted. Of larger ones the engine's own number is shown: "about" by its statistics,
"at most" by row numbers.

Values are shown only if they are codes (few, short, each in three rows or more) or mean "no value". No value is shown
of columns that look like names, addresses or notes. Columns under deny in pack.yaml are not read.`,
  exits: ['a profile', 'there is no such table, or the pack cannot be read'],
  options: {
    rows: ['N', `rows of the table that are read, spread over its key; default ${ROWS}`],
    values: ['COLUMN', "shows the most frequent values of this column, which may be a patient's; several with commas"],
    budget: ['SECONDS', `ends after this time with what was read until then; default ${SECONDS}`],
    json: 'the same as JSON',
    ...DATABASE,
    mappings: ['FOLDER', 'folder of the pack: its deny rules hold, and its mappings are named'],
  },
  positionals: [0, 1],
  async run(args, terminal) {
    const config = configOf(args, terminal);
    const rows = args.wholeNumber('rows', [1, MOST_ROWS]) ?? ROWS;
    const seconds = args.wholeNumber('budget', [1, 86_400]) ?? SECONDS;
    const files =
      config.mappings === DEMO_PACK && config.database !== undefined
        ? undefined
        : readPackFiles(config.mappings, config.schema);
    const settings = files && settingsOf(files);
    if (settings !== undefined && !('deny' in settings)) {
      const why = 'The pack cannot be read, so its deny rules are not known. Mend the pack, or leave --mappings out.';
      return refuse([...settings.map(problemLine), why], terminal);
    }
    return await withDatabase(config, terminal, async database => {
      const catalog = await database.catalog();
      const mappings = files ? ((await checkAgainst(database, files, {})).pack.registry?.mappings ?? []) : [];
      const asked = args.positionals[0];
      const json = args.json;
      if (asked === undefined) return await listTables({ database, catalog, mappings, json }, terminal);
      const info = findTable(catalog, asked);
      const [schema] = asked.includes('.') ? asked.split('.') : [];
      const name = info && tableNameOf(info, schema);
      if (!info || !name) {
        const known = [...catalog.tables.values()].map(tableText);
        return refuse([withNearest(`There is no table ${asked}`, asked, known)], terminal);
      }
      const always = (args.text('values') ?? '').split(',').map(column => column.trim().toLowerCase());
      const unknown = always.filter(column => column !== '' && !info.columns.has(column));
      if (unknown.length > 0)
        return refuse([`--values names no column of ${info.name}: ${unknown.join(', ')}`], terminal);
      const showing = (column: ColumnInfo): Showing => {
        if (column.denied || settings?.deny(name.schema, info.name, column.name) !== undefined) return 'never';
        if (always.includes(column.name.toLowerCase())) return 'always';
        return isPersonal(column.name) ? 'forms' : 'codes';
      };
      const size = await sizeOf(database, info);
      const milliseconds = seconds * 1000;
      const signal = new AbortController().signal;
      const found = await profileTable(database, name, info, { rows, size, milliseconds, signal, showing });
      const used = mappingsOf(mappings, info);
      if (json) printJson({ ...found, ...countOf(found.rows), mappings: used }, terminal);
      else printTable(found, used, terminal.out);
      if (found.cut) terminal.note(`Ended after ${plural(seconds, 'second')}; --budget gives more time.`);
      return 0;
    });
  },
};

function mappingsOf(mappings: readonly Mapping[], { name, schema }: TableInfo): readonly string[] {
  const full = `${schema?.name ?? ''}.${name}`.toLowerCase();
  const isIt = (text: string): boolean => text === full || (!schema?.needed && text === name.toLowerCase());
  const using = mappings.filter(mapping => [...namesOf({ mappings: [mapping] })].some(isIt));
  return [...new Set(using.map(({ group }) => group))];
}

interface Listing {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly mappings: readonly Mapping[];
  readonly json: boolean;
}

/** Prints a line per table. */
async function listTables({ database, catalog, mappings, json }: Listing, terminal: Terminal): Promise<number> {
  if (catalog.tables.size > MANY) terminal.note(`Looking at ${plural(catalog.tables.size, 'table')} …`);
  const surveys = await database.survey?.(catalog);
  const tables = [...catalog.tables].map(([at, info]) => {
    const { columns, primaryKey: key } = info;
    const size = surveys?.get(at)?.rows;
    return { table: tableText(info), size, columns: columns.size, key, mappings: mappingsOf(mappings, info) };
  });
  if (json) {
    const shown = tables.map(({ size, ...one }) => ({ ...one, ...countOf(size) }));
    printJson({ tables: shown }, terminal);
    return 0;
  }
  const name = Math.min(40, Math.max(5, ...tables.map(({ table }) => table.length)));
  terminal.out(`${'table'.padEnd(name)}  ${'rows'.padStart(12)}  columns  key; read by`);
  for (const one of tables) {
    const rows = one.size ? countInWords(one.size) : '?';
    const key = one.key.length > 0 ? one.key.join(', ') : 'no key';
    const by = one.mappings.length > 0 ? `; ${one.mappings.join(', ')}` : '';
    const line = `${one.table.padEnd(name)}  ${rows.padStart(12)}  ${String(one.columns).padStart(7)}  ${key}${by}`;
    terminal.out(cut(line));
  }
  terminal.out(`${plural(tables.length, 'table')}; lintel profile TABLE lists its columns`);
  const unknown = tables.filter(({ size }) => size === undefined).length;
  if (unknown > 0)
    terminal.note(`The rows of ${plural(unknown, 'table')}, views among them, are not known without counting.`);
  return 0;
}

function printTable(table: TableProfile, mappings: readonly string[], out: Terminal['out']): void {
  const { rows, read, sample, key } = table;
  const which =
    read === 0
      ? 'nothing to read'
      : sample === undefined
        ? 'all read'
        : `${grouped(read)} read, ${sample}: shares are estimates`;
  out(`${table.table}: ${rows ? rowsInWords(rows) : 'rows not counted'} (${which})`);
  out(
    `key ${key.length > 0 ? key.join(', ') : 'none'}; read by ${mappings.length > 0 ? mappings.join(', ') : 'no mapping'}`,
  );
  const name = Math.min(30, Math.max(6, ...table.columns.map(column => column.name.length)));
  const type = Math.min(18, Math.max(4, ...table.columns.map(column => column.declared.length)));
  out(`\n${'column'.padEnd(name)}  ${'type'.padEnd(type)}   NULL  blank  distinct  length`);
  for (const column of table.columns) for (const line of columnLines(column, name, type)) out(line);
}

function columnLines(
  { name, declared, profile: of, why }: ProfiledColumn,
  width: number,
  type: number,
): readonly string[] {
  const head = `${name.padEnd(width)}  ${cut(declared, type).padEnd(type)}`;
  if (!of) return [cut(`${head}   not read: ${why ?? ''}`)];
  const distinct = `${of.distinct.atLeast ? '> ' : ''}${grouped(of.distinct.count)}`;
  const length = of.length ? span(String(of.length.least), lengthText(of.length.most)) : '';
  const first = `${head}  ${share(of.nulls, of.values).padStart(5)}  ${share(of.blanks, of.values).padStart(5)}  ${distinct.padStart(8)}  ${length}`;
  const details = [
    ['forms', of.forms.length > 0 ? listText(of.forms, of.values, 5) : undefined],
    ['range', of.range && span(of.range.least, of.range.most)],
    ['codes', of.frequent && of.frequent.length > 0 ? listText(of.frequent, of.values, 12) : undefined],
    ['begin with', of.prefixes && of.prefixes.length > 0 ? listText(of.prefixes, of.values, 12) : undefined],
    ['impossible date', of.impossible.length > 0 ? listText(of.impossible, of.values, 6) : undefined],
    ['none?', of.sentinels.length > 0 ? listText(of.sentinels, of.values, 6) : undefined],
    ['leading blanks', of.indented > 0 ? share(of.indented, of.values) : undefined],
    ['trailing blanks', of.padded > 0 ? share(of.padded, of.values) : undefined],
    ...of.damaged.map(({ what, rows }) => [what, share(rows, of.values)]),
  ].flatMap(([what, text]) => (text === undefined ? [] : [`    ${what}  ${text}`]));
  return [first.trimEnd(), ...details].map(line => cut(line));
}

/** Returns the maximum length as text; longer texts are read only up to 200 characters. */
function lengthText(most: number): string {
  return most >= 200 ? '200+' : String(most);
}

function span(least: string, most: string): string {
  return least === most ? least : `${least} to ${most}`;
}

function cut(line: string, width = WIDTH): string {
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}
