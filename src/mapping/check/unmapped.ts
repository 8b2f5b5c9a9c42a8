/**
 * Counts raw values that no code map knows. In: the values and lookups of the mappings. Out: warnings with the most
 * frequent values: they are codes of the system, not a patient's data.
 */
import { plural } from '../../common/plural.ts';
import { among, and, constant, filled, isNull, not } from '../../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../../sql/expression.ts';
import { printTable } from '../../sql/identifier.ts';
import { namesTo } from '../children.ts';
import { codeMapOf, tableCodeMapOf, tableElseOf } from '../load/codes/origin.ts';
import type { Lookup, Node, Position, Registry, Scope, ValueNode } from '../model.ts';
import { partsOf, type ScopedLookup, type ScopedValue } from './parts.ts';
import { type Asking, askedAt, type Checking, isOwn, MOST_GROUPS, tallyOf, valuesOf } from './questions.ts';

const SHOWN = 10;

/** Checks each scope, column and map once, however many facets are bound. Reports once per column and map. */
export async function checkCodes(values: readonly ScopedValue[], registry: Registry, asking: Checking): Promise<void> {
  await reportUnknown(unknownCodes(values), registry, asking);
}

/** A value that a code map reads from a column. */
export interface CodeRead extends ScopedValue {
  readonly column: ColumnExpression;
  readonly origin: NonNullable<ReturnType<typeof codeMapOf>>;
}

/** Returns each scope, column and map once, however many facets are bound. */
export function codesRead(values: readonly ScopedValue[]): readonly CodeRead[] {
  const found = new Map<string, CodeRead>();
  const scopes = [...new Set(values.map(({ scope }) => scope))];
  const places = new Map(scopes.map((scope, i) => [scope, i]));
  for (const { scope, node, pieces } of values) {
    const origin = codeMapOf(node.codec);
    const [column] = node.from;
    if (!origin || column?.kind !== 'column') continue;
    const key = `${origin.name}|${places.get(scope)}|${column.alias}.${column.column}`;
    if (!found.has(key)) found.set(key, { scope, node, pieces, column, origin });
  }
  return [...found.values()];
}

/** Returns the unknown values of code maps with rows in the pack, by where they are read. */
function unknownCodes(values: readonly ScopedValue[]): readonly UnknownCode[] {
  return codesRead(values).flatMap(({ scope, node, column, origin }) => {
    if (!isOwn(column, scope)) return [];
    const where = and(filled(column), not(origin.known(column)), notAbsent(column, node));
    const known = and(filled(column), origin.known(column));
    const { name, isWhole: isCode, ownElse } = origin;
    return [{ name, scope, column, where, known, isCode, at: node.at, ownElse, node }];
  });
}

/** Checks raw values for which none of the lookups of a map finds a row. */
export async function checkTableCodes(
  lookups: readonly ScopedLookup[],
  registry: Registry,
  asking: Checking,
): Promise<void> {
  await reportUnknown(unknownTableCodes(lookups), registry, asking);
}

function unknownTableCodes(lookups: readonly ScopedLookup[]): readonly Unknown[] {
  const named = lookups.flatMap(({ scope, lookup }) => {
    const name = tableCodeMapOf(lookup);
    const ours = lookup.on[0]?.ours;
    return name === undefined || !ours || !isOwn(ours, scope) ? [] : [{ name, scope, lookup, ours }];
  });
  const groups = Map.groupBy(
    named,
    ({ name, scope, ours }) => `${name}|${scope.alias}|${scope.table.name}|${ours.alias}.${ours.column}`,
  );
  return [...groups.values()].flatMap(group => {
    const [first] = group;
    if (!first) return [];
    const { name, scope, ours: column, lookup } = first;
    const where = and(filled(column), ...group.flatMap(one => missed(one.lookup)));
    return [{ name, scope, column, where, isCode: true, at: lookup.at, ownElse: tableElseOf(lookup) }];
  });
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
  for (const [first, ...more] of byColumn(readsOf(registry))) {
    onColumn(`${tableOf(first)}.${first.column.column}`);
    const column = await unmappedIn([first, ...more], asking, limit);
    if (column) found.push({ ...column, hasElse: first.hasElse });
  }
  return found;
}

type Some<T> = readonly [T, ...T[]];

/** Groups the reads of each column of a table by a code map, however many mappings and lookups read it. */
function byColumn<T extends Unknown & { readonly hasElse?: boolean }>(reads: readonly T[]): readonly Some<T>[] {
  const keyOf = (one: T): string =>
    [one.name, tableOf(one).toLowerCase(), one.column.column.toLowerCase(), one.isCode, one.hasElse].join('|');
  return [...Map.groupBy(reads, keyOf).values()].flatMap(([first, ...more]) => (first ? [[first, ...more]] : []));
}

/** Undefined if the map has a row for every value. */
async function unmappedIn(
  [first, ...more]: Some<Unknown>,
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
  { scope, column }: Pick<Unknown, 'scope' | 'column'>,
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
function tableOf({ scope, column }: Pick<Unknown, 'scope' | 'column'>): string {
  const lookup = scope.lookups.find(({ alias }) => alias === column.alias);
  return printTable(lookup?.table ?? scope.table);
}

/** Returns the columns that read each code map: `PERSON.SEX`. */
export function codeMapReaders(registry: Registry): readonly { readonly map: string; readonly column: string }[] {
  return byColumn(readsOf(registry)).map(([one]) => ({
    map: one.name,
    column: `${tableOf(one)}.${one.column.column}`,
  }));
}

/** The values of a column that a code map reads. */
export interface HeldColumn extends Omit<UnmappedColumn, 'map'> {
  /** Values for which the map has a row, most rows first. Empty for a map in a table. */
  readonly known: UnmappedColumn['values'];
}

interface Read extends Unknown {
  /** Undefined if the map is a table. */
  readonly known?: Predicate;
  readonly hasElse: boolean;
}

/** Returns every column that a code map reads. */
function readsOf(registry: Registry): readonly Read[] {
  const { values, replaced, lookups } = partsOf(registry);
  return [
    ...unknownCodes(values).map(one => ({ ...one, hasElse: false })),
    ...unknownCodes(replaced).map(one => ({ ...one, hasElse: true })),
    ...unknownTableCodes(lookups).map(one => ({ ...one, hasElse: false })),
  ];
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
  for (const reads of byColumn(readsOf(registry).filter(({ name }) => name === map))) {
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

function missed({ on }: Lookup): readonly Predicate[] {
  return on.slice(0, 1).map(({ theirs }) => isNull(theirs));
}

/** Tests that the value is none of those that mean "no value". */
export function notAbsent(column: ColumnExpression, { absent }: ValueNode): Predicate {
  return not(
    among(
      column,
      absent.map(raw => constant(raw, column.type)),
    ),
  );
}

interface Unknown {
  readonly name: string;
  readonly scope: Scope;
  readonly column: ColumnExpression;
  /** Tests for rows whose value the map does not know. */
  readonly where: Predicate;
  /** False for a text that a code is cut from, because it may hold anything else. */
  readonly isCode: boolean;
  readonly at: Position;
  /** What the map's `else` makes of them, in words. */
  readonly ownElse: string | undefined;
  /** The node that reads the map; undefined for a map in a table. */
  readonly node?: ValueNode;
}

interface UnknownCode extends Unknown {
  /** Tests for rows whose value the map knows. */
  readonly known: Predicate;
}

/** Reports one warning per column, at its first place. Totals are exact; the most frequent values are named. */
async function reportUnknown(all: readonly Unknown[], registry: Registry, asking: Checking): Promise<void> {
  const { report } = asking;
  for (const group of byColumn(all)) {
    const places: { readonly unknown: Unknown; readonly held: ColumnValues }[] = [];
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
  places: readonly { readonly unknown: Unknown; readonly held: ColumnValues }[],
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
