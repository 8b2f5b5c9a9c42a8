/**
 * Counts raw values that no code map knows. In: the parts of the mappings. Out: warnings with the most
 * frequent values: they are codes of the system, not a patient's data.
 */
import { plural } from '../../common/plural.ts';
import type { Predicate } from '../../sql/expression.ts';
import { printTable } from '../../sql/identifier.ts';
import { namesTo } from '../children.ts';
import type { Node, Position, Registry } from '../model.ts';
import { type CodeRead, codeReads } from './code-reads.ts';
import { type Parts, partsOf } from './parts.ts';
import { type Asking, askedAt, type Checking, MOST_GROUPS, type RowReaders, tallyOf, valuesOf } from './questions.ts';

const SHOWN = 10;

/** Reports values without a row, once per column and map; not those that an `else` replaces. */
export async function checkCodes(parts: Parts, registry: Registry, asking: Checking): Promise<void> {
  const reads = codeReads(parts, registry, asking);
  await reportUnknown(
    reads.filter(({ hasElse }) => !hasElse),
    registry,
    asking,
  );
}

/** The values of one column for which a code map has no row. */
export interface UnmappedColumn {
  readonly map: string;
  readonly table: string;
  readonly column: string;
  /** The column holds only the code. A text that a code is cut from may hold anything else. */
  readonly isCode: boolean;
  readonly at: Position;
  /** Exact, however many values are listed. */
  readonly total: { readonly values: number; readonly rows: number };
  /** Most rows first. */
  readonly values: readonly { readonly value: string; readonly rows: number }[];
  /** An alternative replaces values that the map does not know. */
  readonly hasElse: boolean;
  /** What the map's own `else` makes of them, in words. */
  readonly ownElse: string | undefined;
}

/**
 * Lists the values that no code map knows, by column. Calls `onColumn` before each column. Rejects with DatabaseError.
 */
export async function unmappedColumns(
  registry: Registry,
  asking: Asking,
  limit: number,
  onColumn: (place: string) => void = () => {},
): Promise<readonly UnmappedColumn[]> {
  const found: UnmappedColumn[] = [];
  for (const [first, ...more] of byColumn(readsOf(registry, asking))) {
    onColumn(`${tableOf(first)}.${first.column.column}`);
    const column = await unmappedIn([first, ...more], asking, limit);
    if (column) found.push({ ...column, hasElse: first.hasElse });
  }
  return found;
}

type Some<T> = readonly [T, ...T[]];

/** Groups the reads of each column of a table by a code map, however many mappings and lookups read it. */
function byColumn(reads: readonly CodeRead[]): readonly Some<CodeRead>[] {
  const keyOf = (one: CodeRead): string =>
    [one.name, tableOf(one).toLowerCase(), one.column.column.toLowerCase(), one.isCode, one.hasElse].join('|');
  return [...Map.groupBy(reads, keyOf).values()].flatMap(([first, ...more]) => (first ? [[first, ...more]] : []));
}

/** Undefined if the map has a row for every value. */
async function unmappedIn(
  [first, ...more]: Some<CodeRead>,
  asking: Asking,
  limit: number,
): Promise<Omit<UnmappedColumn, 'hasElse'> | undefined> {
  const held: ColumnValues[] = [];
  for (const one of [first, ...more])
    held.push(await heldBy(one, asking, one.where, more.length > 0 ? MOST_GROUPS : limit));
  const { values, total } = merged(held, limit);
  if (total.values === 0) return undefined;
  const { name, column, isCode, at, ownElse } = first;
  return { map: name, table: tableOf(first), column: column.column, isCode, at, total, values, ownElse };
}

/** Values of a column, most rows first, and their total number. */
type ColumnValues = Pick<UnmappedColumn, 'values' | 'total'>;

async function heldBy(
  { scope, column }: Pick<CodeRead, 'scope' | 'column'>,
  asking: Asking,
  where: Predicate,
  limit: number,
): Promise<ColumnValues> {
  if (where.kind === 'false') return NOTHING;
  const total = await tallyOf(asking, scope, column, where);
  if (total.values === 0 || limit === 0) return { values: [], total };
  const groups = await valuesOf(asking, scope, column, where, limit);
  return { values: groups.map(group => ({ value: String(group.values[0]).trimEnd(), rows: group.rows })), total };
}

const NOTHING: ColumnValues = { values: [], total: { values: 0, rows: 0 } };

/** Merges what several places hold of one column. */
function merged(all: readonly ColumnValues[], limit: number): ColumnValues {
  const rows = new Map<string, number>();
  for (const { values } of all) for (const one of values) rows.set(one.value, (rows.get(one.value) ?? 0) + one.rows);
  const values = [...rows].map(([value, of]) => ({ value, rows: of })).toSorted((a, b) => b.rows - a.rows);
  const total = {
    values: Math.max(all.length > 1 ? values.length : 0, ...all.map(one => one.total.values)),
    rows: all.reduce((sum, one) => sum + one.total.rows, 0),
  };
  return { values: values.slice(0, limit), total };
}

/** Returns the table of the column: that of the scope, or of a lookup. */
function tableOf({ scope, column }: Pick<CodeRead, 'scope' | 'column'>): string {
  const lookup = scope.lookups.find(({ alias }) => alias === column.alias);
  return printTable(lookup?.table ?? scope.table);
}

/** Returns the columns that read each code map: `PERSON.SEX`. */
export function codeMapReaders(
  registry: Registry,
  readers: RowReaders,
): readonly { readonly map: string; readonly column: string }[] {
  return byColumn(readsOf(registry, readers)).map(([one]) => ({
    map: one.name,
    column: `${tableOf(one)}.${one.column.column}`,
  }));
}

/** The values of a column that a code map reads. */
export interface HeldColumn extends Omit<UnmappedColumn, 'map'> {
  /** Values for which the map has a row, most rows first. Empty for a map in a table. */
  readonly known: UnmappedColumn['values'];
}

/** Returns every column that a code map reads. */
function readsOf(registry: Registry, readers: RowReaders): readonly CodeRead[] {
  return codeReads(partsOf(registry), registry, readers);
}

/**
 * Returns the values of the columns that one code map reads. `limit`: listed values per column. Rejects with
 * DatabaseError.
 */
export async function heldColumns(
  registry: Registry,
  map: string,
  asking: Asking,
  limit: { readonly known: number; readonly unknown: number },
): Promise<readonly HeldColumn[]> {
  const found: HeldColumn[] = [];
  for (const reads of byColumn(readsOf(registry, asking).filter(({ name }) => name === map))) {
    const [{ column, isCode, at, hasElse, ownElse }] = reads;
    const unmapped = await unmappedIn(reads, asking, limit.unknown);
    const known: ColumnValues[] = [];
    for (const one of reads) if (one.known) known.push(await heldBy(one, asking, one.known, limit.known));
    found.push({
      ...{ table: tableOf(reads[0]), column: column.column, isCode, at, hasElse, ownElse },
      total: unmapped?.total ?? NOTHING.total,
      values: unmapped?.values ?? [],
      known: merged(known, limit.known).values,
    });
  }
  return found;
}

/** Reports one warning per column, at its first place. Totals are exact; the most frequent values are named. */
async function reportUnknown(all: readonly CodeRead[], registry: Registry, asking: Checking): Promise<void> {
  const { report } = asking;
  for (const group of byColumn(all)) {
    const places: { readonly unknown: CodeRead; readonly held: ColumnValues }[] = [];
    for (const unknown of group) {
      await askedAt(unknown.at, asking, async () => {
        const held = await heldBy(unknown, asking, unknown.where, unknown.isCode ? MOST_GROUPS : 0);
        if (held.total.values > 0) places.push({ unknown, held });
      });
    }
    const [first] = places;
    if (!first) continue;
    const { name, column, isCode, at, ownElse } = first.unknown;
    const { values, total } = merged(
      places.map(({ held }) => held),
      SHOWN,
    );
    const shown = values.map(({ value, rows }) => `${value} (${rows})`).join(', ');
    const stands = ownElse === undefined ? '' : `; its else makes ${total.values === 1 ? 'it' : 'them'} ${ownElse}`;
    const lacks = `code map ${name} has no row for ${plural(total.values, 'value')} of ${column.column}`;
    report.warning(
      'unmapped-code',
      at,
      `${lacks}${inElements(places, registry) ?? ` in ${plural(total.rows, 'row')}`}${stands}`,
      isCode ? { found: total.values > SHOWN ? `${shown}, …` : shown } : {},
    );
  }
}

/** Lists elements: `: Patient.gender in 3 rows, …`. Undefined for a single element, which the position shows. */
function inElements(
  places: readonly { readonly unknown: CodeRead; readonly held: ColumnValues }[],
  registry: Registry,
): string | undefined {
  const rows = new Map<string, number>();
  for (const { unknown, held } of places) {
    const element = unknown.node && elementOf(unknown.node, registry);
    if (element) rows.set(element, (rows.get(element) ?? 0) + held.total.rows);
  }
  if (rows.size < 2) return undefined;
  const texts = [...rows].map(([element, of]) => `${element} in ${plural(of, 'row')}`);
  const more = texts.length > SHOWN ? ` and ${texts.length - SHOWN} more elements` : '';
  return `: ${texts.slice(0, SHOWN).join(', ')}${more}`;
}

/** Returns `Patient.gender`; undefined if the node is no element of a mapping, such as one of deleted rows. */
function elementOf(node: Node, registry: Registry): string | undefined {
  for (const { resource, root } of registry.mappings) {
    const names = namesTo(root, node);
    if (names) return [resource, ...names].join('.');
  }
  return undefined;
}
