/**
 * Counts raw values that no code map knows. In: the values and lookups of the mappings. Out: warnings with the
 * commonest values: they are codes of the system and not a patient's data.
 */
import { plural } from '../../common/plural.ts';
import { among, and, constant, filled, isNull, not } from '../../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../../sql/expression.ts';
import { printTable } from '../../sql/identifier.ts';
import { codeMapOf, tableCodeMapOf, tableElseOf } from '../load/codes/origin.ts';
import type { Report } from '../load/problem.ts';
import type { Lookup, Pieces, Position, Registry, Scope, ValueNode } from '../model.ts';
import { partsOf, type ScopedLookup, type ScopedPieces, type ScopedValue } from './parts.ts';
import { type Asking, askedAt, type Checking, countRows, isOwn, tallyOf, valuesOf } from './questions.ts';

const SHOWN = 10;

/** Asked once per scope, column and map, however many facets are bound. */
export async function checkCodes(values: readonly ScopedValue[], asking: Checking): Promise<void> {
  const codesOnPieces = new Map<string, readonly CodeOnPiece[]>();
  for (const { scope, node, pieces, column, origin } of codesRead(values)) {
    if (pieces && column.alias === pieces.alias) {
      const split = `${scope.table.name}|${scope.alias}|${pieces.column.alias}.${pieces.column.column}|${pieces.by}|${column.column}`;
      codesOnPieces.set(split, [...(codesOnPieces.get(split) ?? []), { scope, node, pieces, column, origin }]);
    }
  }
  for (const unknown of unknownCodes(values)) await askedAt(unknown.at, asking, () => reportUnknown(unknown, asking));
  for (const group of codesOnPieces.values()) await reportUnknownPieces(group, asking);
}

interface CodeRead extends ScopedValue {
  readonly column: ColumnExpression;
  readonly origin: NonNullable<ReturnType<typeof codeMapOf>>;
}

/** Each scope, column and map once, however many facets are bound. */
function codesRead(values: readonly ScopedValue[]): readonly CodeRead[] {
  const found = new Map<string, CodeRead>();
  for (const { scope, node, pieces } of values) {
    const origin = codeMapOf(node.codec);
    const [column] = node.from;
    if (!origin || column?.kind !== 'column') continue;
    const key = `${origin.name}|${scope.table.name}|${scope.alias}|${column.alias}.${column.column}`;
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
    return [{ name, scope, column, where, known, isCode, at: node.at, ownElse }];
  });
}

interface CodeOnPiece {
  readonly scope: Scope;
  readonly node: ValueNode;
  readonly pieces: Pieces;
  readonly column: ColumnExpression;
  readonly origin: NonNullable<ReturnType<typeof codeMapOf>>;
}

/**
 * Pieces that no code map knows which reads the pieces of the column: one map may have the groups, another the details.
 */
async function reportUnknownPieces(group: readonly CodeOnPiece[], asking: Checking): Promise<void> {
  const { report } = asking;
  const [first] = group;
  if (!first || !isOwn(first.pieces.column, first.scope)) return;
  const { scope, node, pieces, column } = first;
  const known = group.map(({ origin }) => not(origin.known(column)));
  const where = and(filled(column), notAbsent(column, node), ...known);
  const names = [...new Set(group.map(({ origin }) => origin.name))];
  const name =
    names.length === 1 ? `code map ${names[0]} has no row` : `none of the code maps ${names.join(', ')} has a row`;
  await askedAt(node.at, asking, async () => {
    const rows = await countRows(asking, scope, asking.readPiece(pieces, where, asking.clock));
    tellPieces(rows, { name, pieces, at: node.at }, report);
  });
}

/** The raw values for which none of the lookups of a map finds a row. */
export async function checkTableCodes(lookups: readonly ScopedLookup[], asking: Checking): Promise<void> {
  for (const unknown of unknownTableCodes(lookups))
    await askedAt(unknown.at, asking, () => reportUnknown(unknown, asking));
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
  for (const unknown of readsOf(registry)) {
    onColumn(`${tableOf(unknown)}.${unknown.column.column}`);
    const column = await unmappedIn(unknown, asking, limit);
    if (column) found.push({ ...column, hasElse: unknown.hasElse });
  }
  return found;
}

/** Undefined: the map has a row for every value. */
async function unmappedIn(
  { name, scope, column, where, isCode, at, ownElse }: Unknown,
  asking: Asking,
  limit: number,
): Promise<Omit<UnmappedColumn, 'hasElse'> | undefined> {
  if (where.kind === 'false') return undefined;
  const total = await tallyOf(asking, scope, column, where);
  if (total.values === 0) return undefined;
  const values = await listed({ scope, column }, asking, where, limit);
  const table = tableOf({ scope, column });
  return { map: name, table, column: column.column, isCode, at, total, values, ownElse };
}

async function listed(
  { scope, column }: Pick<Unknown, 'scope' | 'column'>,
  asking: Asking,
  where: Predicate,
  limit: number,
): Promise<UnmappedColumn['values']> {
  const groups = where.kind === 'false' || limit === 0 ? [] : await valuesOf(asking, scope, column, where, limit);
  return groups.map(group => ({ value: String(group.values[0]).trimEnd(), rows: group.rows }));
}

/** The table that has the column: that of the scope, or of a lookup. */
function tableOf({ scope, column }: Pick<Unknown, 'scope' | 'column'>): string {
  const lookup = scope.lookups.find(({ alias }) => alias === column.alias);
  return printTable(lookup?.table ?? scope.table);
}

/** Which columns read which code map: `PERSON.SEX`. */
export function codeMapReaders(registry: Registry): readonly { readonly map: string; readonly column: string }[] {
  return readsOf(registry).map(({ name, scope, column }) => ({
    map: name,
    column: `${tableOf({ scope, column })}.${column.column}`,
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
  for (const one of readsOf(registry).filter(({ name }) => name === map)) {
    const { column, isCode, at, known, hasElse, ownElse } = one;
    const unmapped = await unmappedIn(one, asking, limit.unknown);
    found.push({
      ...{ table: tableOf(one), column: column.column, isCode, at, hasElse, ownElse },
      total: unmapped?.total ?? { values: 0, rows: 0 },
      values: unmapped?.values ?? [],
      known: known === undefined ? [] : await listed(one, asking, known, limit.known),
    });
  }
  return found;
}

/** Pieces for which a lookup, or none of those of a code map, finds a row; by the rows that have such a piece. */
export async function checkPieces(all: readonly ScopedPieces[], asking: Checking): Promise<void> {
  const { report } = asking;
  for (const { scope, pieces, lookups, codeMap, at } of all) {
    if (!isOwn(pieces.column, scope)) continue;
    const where = and(
      ...lookups.flatMap(({ on }) => [
        ...on.map(({ ours }) => filled(ours)),
        ...on.slice(0, 1).map(({ theirs: { notNull: _, ...theirs } }) => isNull(theirs)),
      ]),
    );
    const rows = await countRows(asking, scope, asking.readPiece({ ...pieces, lookups }, where, asking.clock));
    tellPieces(
      rows,
      {
        name: codeMap === undefined ? `lookup ${lookups[0]?.alias} has no row` : `code map ${codeMap} has no row`,
        pieces,
        at,
      },
      report,
    );
  }
}

function tellPieces(
  rows: number,
  { name, pieces, at }: { readonly name: string; readonly pieces: Pieces; readonly at: Position },
  report: Report,
): void {
  if (rows > 0)
    report.warning('unmapped-code', at, `${name} for a piece of ${pieces.column.column} in ${plural(rows, 'row')}`);
}

function missed({ on }: Lookup): readonly Predicate[] {
  return on.slice(0, 1).map(({ theirs }) => isNull(theirs));
}

function notAbsent(column: ColumnExpression, { absent }: ValueNode): Predicate {
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
}

interface UnknownCode extends Unknown {
  /** Holds for the rows whose value the map knows. */
  readonly known: Predicate;
}

/** Totals are exact; of the values the most frequent are named. */
async function reportUnknown(
  { name, scope, column, where, isCode, at, ownElse }: Unknown,
  asking: Checking,
): Promise<void> {
  const { report } = asking;
  if (where.kind === 'false') return;
  const { values, rows } = await tallyOf(asking, scope, column, where);
  if (values === 0) return;
  const commonest = isCode ? await valuesOf(asking, scope, column, where, SHOWN) : [];
  const shown = commonest.map(group => `${String(group.values[0]).trimEnd()} (${group.rows})`).join(', ');
  const stands = ownElse === undefined ? '' : `; its else makes ${values === 1 ? 'it' : 'them'} ${ownElse}`;
  report.warning(
    'unmapped-code',
    at,
    `code map ${name} has no row for ${plural(values, 'value')} of ${column.column} in ${plural(rows, 'row')}${stands}`,
    isCode ? { found: values > SHOWN ? `${shown}, …` : shown } : {},
  );
}
