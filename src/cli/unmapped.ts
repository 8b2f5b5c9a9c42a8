/** `lintel codes unmapped`: lists the raw values that no code map of the pack has, with the number of rows of each. */

import { escapeInLine } from '../common/markup.ts';
import { nowAndThen } from '../common/now-and-then.ts';
import { plural } from '../common/plural.ts';
import { type UnmappedColumn, unmappedColumns } from '../mapping/check/unmapped.ts';
import { placeText } from '../mapping/load/problem.ts';
import { csvField } from '../mapping/load/read/csv.ts';
import type { Registry } from '../mapping/model.ts';
import { rowReaders } from '../plan/row-readers.ts';
import { within } from '../sql/database.ts';
import { type CodeList, listsOf } from '../workbench/init/lists.ts';
import { type Arguments, configOf, printJson, type Terminal } from './command.ts';
import { withPack } from './with-pack.ts';

/** At most so many values per column are listed. */
const LISTED = 1000;
/** Time limit in milliseconds for reading code lists of the database. */
const LISTS_LAST = 10_000;

/** Runs the action `unmapped` of `lintel codes`. Resolves to the exit code. */
export async function unmapped(args: Arguments, terminal: Terminal): Promise<number> {
  const found = await unmappedOf(args, terminal);
  if (found === undefined) return 1;
  print(found.columns, args, terminal);
  return 0;
}

export interface Unmapped {
  readonly registry: Registry;
  readonly columns: readonly UnmappedColumn[];
  /** The database's own code list for each column, if requested (`withLists`). */
  readonly lists: readonly (CodeList | undefined)[];
}

/**
 * Returns the values that no code map has, most rows first; with `--name` for one map. Undefined if the pack has
 * errors, which are reported.
 */
export function unmappedOf(
  args: Arguments,
  terminal: Terminal,
  { withLists = false } = {},
): Promise<Unmapped | undefined> {
  return withPack(configOf(args, terminal), terminal, async ({ registry, database }) => {
    const asking = { database, ...rowReaders(registry, Date.now()) };
    const onColumn = nowAndThen(column => terminal.note(`Counting values of ${column}`));
    const found = await unmappedColumns(registry, asking, LISTED, onColumn);
    const name = args.text('name');
    const columns = found
      .filter(({ map }) => name === undefined || map === name)
      .toSorted((a, b) => b.total.rows - a.total.rows);
    if (!withLists) return { registry, columns, lists: [] };
    const reader = { database, signal: within(LISTS_LAST) };
    return { registry, columns, lists: await listsOf(reader, await database.catalog(), columns) };
  });
}

function print(columns: readonly UnmappedColumn[], args: Arguments, terminal: Terminal): void {
  const { exactly, out } = terminal;
  const shown = columns.map(one => (one.isCode || args.is('values') ? one : { ...one, values: [] }));
  if (args.json) {
    const json = shown.map(({ at, total, ...one }) => ({ ...one, place: at, total }));
    printJson({ columns: json }, terminal);
    return;
  }
  if (args.is('csv')) {
    exactly('raw,code,display,system,map,table,column,rows');
    for (const { map, table, column, values } of shown)
      for (const { value, rows } of values)
        exactly([value, '', '', '', map, table, column, `${rows}`].map(csvField).join(','));
    return;
  }
  for (const column of shown) {
    const { total, values } = column;
    out(columnLine(column));
    for (const { value, rows } of values) out(`  ${escapeInLine(value)}  ${rows}`);
    if (values.length === 0) out('  not listed: the column holds more than a code; --values lists them');
    else if (values.length < total.values) out(`  … and ${total.values - values.length} more`);
  }
  if (shown.length === 0) out('Every value that a code map reads has a row.');
}

/** Returns `sex: 3 values of PERSON.SEX in 4 rows; an else stands in for them  (person.yaml:7:11)`. */
export function columnLine({
  map,
  table,
  column,
  at,
  total,
  hasElse,
  ownElse,
}: Omit<UnmappedColumn, 'values'>): string {
  const counted = `${plural(total.values, 'value')} of ${table}.${column} in ${plural(total.rows, 'row')}`;
  const them = total.values === 1 ? 'it' : 'them';
  const own = ownElse === undefined ? '' : `; the else of the map makes ${them} ${ownElse}`;
  const stands = hasElse ? `; an else stands in for ${them}` : own;
  return `${map}: ${counted}${stands}  (${placeText(at)})`;
}
