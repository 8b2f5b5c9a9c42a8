/**
 * Counts raw values that no code map knows. In: the values and lookups of the mappings. Out: warnings with the
 * commonest values: they are codes of the system and not a patient's data.
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

/** Asked once per scope, column and map, however many facets are bound; told once per column and map. */
export async function checkCodes(values: readonly ScopedValue[], registry: Registry, asking: Checking): Promise<void> {
  await reportUnknown(unknownCodes(values), registry, asking);
}

/** A value that a code map reads from a column. */
export interface CodeRead extends ScopedValue {
  readonly column: ColumnExpression;
  readonly origin: NonNullable<ReturnType<typeof codeMapOf>>;
}

/** Each scope, column and map once, however many facets are bound. */
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

/** What a code map with rows in the pack does not know, by where it is read. */
function unknownCodes(values: readonly ScopedValue[]): readonly UnknownCode[] {
  return codesRead(values).flatMap(({ scope, node, column, origin }) => {
    if (!isOwn(column, scope)) return [];
    const where = and(filled(column), not(origin.known(column)), notAbsent(column, node));
    const known = and(filled(column), origin.known(column));
    const { name, isWhole: isCode, ownElse } = origin;
    return [{ name, scope, column, where, known, isCode, at: node.at, ownElse, node }];
  });
}

/** The raw values for which none of the lookups of a map finds a row. */
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

/** What a code map has no row for, in one column. */
export interface UnmappedColumn {
  readonly map: string;
  readonly table: string;
  readonly column: string;
  /** The column holds the code and nothing else. A text that a code is cut out of may hold anything besides. */
  readonly isCode: boolean;
  readonly at: Position;
  /** Exact, however many values are listed. */
  readonly total: { readonly values: number; readonly rows: number };
  /** Most rows first. */
  readonly values: readonly { readonly value: string; readonly rows: number }[];
  /** Something else stands in for what the map does not know. */
  readonly hasElse: boolean;
  /** What the `else` of the map itself makes of them, in words. */
  readonly ownElse: string | undefined;
}

/**
 * Lists what no code map knows, column by column; `onColumn` hears of each before it is asked. Rejects with
 * DatabaseError.
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

/** The reads of each column of a table by a code map, however many mappings and lookups read it. */
function byColumn<T extends Unknown & { readonly hasElse?: boolean }>(reads: readonly T[]): readonly Some<T>[] {
  const keyOf = (one: T): string =>
    [one.name, tableOf(one).toLowerCase(), one.column.column.toLowerCase(), one.isCode, one.hasElse].join('|');
  return [...Map.groupBy(reads, keyOf).values()].flatMap(([first, ...more]) => (first ? [[first, ...more]] : []));
}

/** Undefined: the map has a row for every value. */
async function unmappedIn(
  [first, ...more]: Some<Unknown>,
  asking: Asking,
  limit: number,
): Promise<Omit<UnmappedColumn, 'hasElse'> | undefined> {
  const held: Held[] = [];
  for (const one of [first, ...more])
    held.push(await heldBy(one, asking, one.where, more.length > 0 ? MOST_GROUPS : limit));
  const { values, total } = together(held, limit);
  if (total.values === 0) return undefined;
  const { name, column, isCode, at, ownElse } = first;
  return { map: name, table: tableOf(first), column: column.column, isCode, at, total, values, ownElse };
}

/** Values of a column, most rows first, and how many there are in all. */
type Held = Pick<UnmappedColumn, 'values' | 'total'>;

async function heldBy(
  { scope, column }: Pick<Unknown, 'scope' | 'column'>,
  asking: Asking,
  where: Predicate,
  limit: number,
): Promise<Held> {
  if (where.kind === 'false') return NOTHING;
  const total = await tallyOf(asking, scope, column, where);
  if (total.values === 0 || limit === 0) return { values: [], total };
  const groups = await valuesOf(asking, scope, column, where, limit);
  return { values: groups.map(group => ({ value: String(group.values[0]).trimEnd(), rows: group.rows })), total };
}

const NOTHING: Held = { values: [], total: { values: 0, rows: 0 } };

/** What several places hold of one column. */
function together(all: readonly Held[], limit: number): Held {
  const rows = new Map<string, number>();
  for (const { values } of all) for (const one of values) rows.set(one.value, (rows.get(one.value) ?? 0) + one.rows);
  const values = [...rows].map(([value, of]) => ({ value, rows: of })).toSorted((a, b) => b.rows - a.rows);
  const total = {
    values: Math.max(all.length > 1 ? values.length : 0, ...all.map(one => one.total.values)),
    rows: all.reduce((sum, one) => sum + one.total.rows, 0),
  };
  return { values: values.slice(0, limit), total };
}

/** The table that has the column: that of the scope, or of a lookup. */
function tableOf({ scope, column }: Pick<Unknown, 'scope' | 'column'>): string {
  const lookup = scope.lookups.find(({ alias }) => alias === column.alias);
  return printTable(lookup?.table ?? scope.table);
}

/** Which columns read which code map: `PERSON.SEX`. */
export function codeMapReaders(registry: Registry): readonly { readonly map: string; readonly column: string }[] {
  return byColumn(readsOf(registry)).map(([one]) => ({
    map: one.name,
    column: `${tableOf(one)}.${one.column.column}`,
  }));
}

/** A column that reads a code map: what it holds. */
export interface HeldColumn extends Omit<UnmappedColumn, 'map'> {
  /** Values for which the map has a row, most rows first; of a map in a table none are listed. */
  readonly known: UnmappedColumn['values'];
}

interface Read extends Unknown {
  /** Undefined: the map is a table. */
  readonly known?: Predicate;
  readonly hasElse: boolean;
}

/** Every column that reads a code map. */
function readsOf(registry: Registry): readonly Read[] {
  const { values, replaced, lookups } = partsOf(registry);
  return [
    ...unknownCodes(values).map(one => ({ ...one, hasElse: false })),
    ...unknownCodes(replaced).map(one => ({ ...one, hasElse: true })),
    ...unknownTableCodes(lookups).map(one => ({ ...one, hasElse: false })),
  ];
}

/**
 * What the columns hold that read one code map. `limit`: values of each column that are listed. Rejects with
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
    const known: Held[] = [];
    for (const one of reads) if (one.known) known.push(await heldBy(one, asking, one.known, limit.known));
    found.push({
      ...{ table: tableOf(reads[0]), column: column.column, isCode, at, hasElse, ownElse },
      total: unmapped?.total ?? NOTHING.total,
      values: unmapped?.values ?? [],
      known: together(known, limit.known).values,
    });
  }
  return found;
}

function missed({ on }: Lookup): readonly Predicate[] {
  return on.slice(0, 1).map(({ theirs }) => isNull(theirs));
}

/** The value is none of those that mean none. */
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
  /** Holds for the rows whose value the map does not know. */
  readonly where: Predicate;
  /** A text that a code is cut out of may hold anything besides. */
  readonly isCode: boolean;
  readonly at: Position;
  /** What the `else` of the map makes of them, in words. */
  readonly ownElse: string | undefined;
  /** What reads the map; none of a map in a table. */
  readonly node?: ValueNode;
}

interface UnknownCode extends Unknown {
  /** Holds for the rows whose value the map knows. */
  readonly known: Predicate;
}

/** Totals are exact; of the values the most frequent are named. One warning for each column, at its first place. */
async function reportUnknown(all: readonly Unknown[], registry: Registry, asking: Checking): Promise<void> {
  const { report } = asking;
  for (const group of byColumn(all)) {
    const places: { readonly unknown: Unknown; readonly held: Held }[] = [];
    for (const unknown of group) {
      await askedAt(unknown.at, asking, async () => {
        const held = await heldBy(unknown, asking, unknown.where, unknown.isCode ? MOST_GROUPS : 0);
        if (held.total.values > 0) places.push({ unknown, held });
      });
    }
    const [first] = places;
    if (!first) continue;
    const { name, column, isCode, at, ownElse } = first.unknown;
    const { values, total } = together(
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

/** `: Patient.gender in 3 rows, …`; undefined: one element alone, which the place of the problem is. */
function inElements(
  places: readonly { readonly unknown: Unknown; readonly held: Held }[],
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

/** `Patient.gender`; undefined: no element of a mapping, such as where a deleted row stands. */
function elementOf(node: Node, registry: Registry): string | undefined {
  for (const { resource, root } of registry.mappings) {
    const names = namesTo(root, node);
    if (names) return [resource, ...names].join('.');
  }
  return undefined;
}
