/**
 * Finds the columns that code maps read. In: the parts of the mappings. Out: for each scope, column and map the rows
 * that lack a code by it: the map is reached there, no other alternative has a row for the value, and no other mapping
 * of the table serves the row by its own map.
 */
import { among, and, constant, equals, exists, FALSE, filled, isNull, not, or, TRUE } from '../../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../../sql/expression.ts';
import { tableKey } from '../../sql/identifier.ts';
import { renameExpression, renameRelation } from '../../sql/rename.ts';
import { childrenOf } from '../children.ts';
import { codeMapOf, tableCodeMapOf, tableElseOf } from '../load/codes/origin.ts';
import type { Lookup, Mapping, Node, Position, Registry, Scope, ValueNode } from '../model.ts';
import type { Parts, ScopedValue } from './parts.ts';
import { isOwn, type RowReaders } from './questions.ts';
import { reached } from './way.ts';

/** A column that a code map reads, with the rows whose value the map does not know. */
export interface CodeRead {
  readonly name: string;
  readonly scope: Scope;
  readonly column: ColumnExpression;
  /** Tests for rows whose value the map does not know. */
  readonly where: Predicate;
  /** Tests for rows whose value the map knows. Undefined if the map is a table. */
  readonly known?: Predicate;
  /** False for a text that a code is cut from, because it may hold anything else. */
  readonly isCode: boolean;
  readonly at: Position;
  /** What the map's `else` makes of them, in words. */
  readonly ownElse: string | undefined;
  /** A later alternative replaces values that the map does not know. */
  readonly hasElse: boolean;
  /** The node that reads the map; undefined for a map in a table. */
  readonly node?: ValueNode;
}

/** Returns each scope, column and map, once for its reads with a later alternative and once for those without. */
export function codeReads(parts: Parts, registry: Registry, readers: RowReaders): readonly CodeRead[] {
  const context = contextOf(parts, registry, readers);
  return [...ofRowMaps(parts, context), ...ofTableMaps(parts, context)];
}

interface Context {
  readonly registry: Registry;
  readonly readers: RowReaders;
  readonly ways: ReadonlyMap<ValueNode, ScopedValue>;
  /** Limits child rows to those of the rows that the mapping reads. */
  readonly ofParent: ReadonlyMap<Scope, Predicate>;
}

function contextOf({ values, replaced, children }: Parts, registry: Registry, readers: RowReaders): Context {
  const of = children.flatMap(({ from, parent }) => {
    const { scope, on } = from;
    const isShared = children.some(
      other => other.parent !== parent && tableKey(other.from.scope.table) === tableKey(scope.table),
    );
    const lead = registry.mappings.find(({ source }) => source === parent)?.source.key[0];
    // Other columns of the parent may lack an index.
    const isByKey = on.some(({ ours }) => lead !== undefined && isSame(ours, lead));
    if (!isShared || !isByKey || !on.every(({ ours, theirs }) => isOwn(ours, parent) && theirs.alias === scope.alias))
      return [];
    const ours = on.map(one => one.ours);
    const { relation, aliases } = renameRelation(readers.readScope(parent, TRUE, readers.clock, ours));
    const joined = on.map(one => equals(renameExpression(one.ours, aliases), one.theirs));
    return [[scope, exists({ ...relation, where: and(...joined, relation.where) })] as const];
  });
  return {
    registry,
    readers,
    ways: new Map([...values, ...replaced].map(one => [one.node, one])),
    ofParent: new Map(of),
  };
}

function ofRowMaps({ values, replaced }: Parts, context: Context): readonly CodeRead[] {
  const reads = [
    ...values.map(one => ({ ...one, hasElse: false })),
    ...replaced.map(one => ({ ...one, hasElse: true })),
  ];
  const found = reads.flatMap(one => {
    const origin = codeMapOf(one.node.codec);
    const [column] = one.node.from;
    return origin && column?.kind === 'column' && isOwn(column, one.scope) ? [{ ...one, origin, column }] : [];
  });
  return groupsOf(found, ({ origin }) => origin.name).map(group => {
    const [{ scope, node, column, origin, hasElse }] = group;
    const { name, isWhole: isCode, ownElse } = origin;
    const known = and(filled(column), origin.known(column));
    const where = and(
      ...[filled(column), not(origin.known(column)), notAbsent(column, node)],
      reachedBySome(group, column, context),
    );
    return { name, scope, column, where, known, isCode, at: node.at, ownElse, hasElse, node };
  });
}

/** Groups the lookups of a map's keys on a column, and the values that come from them. */
function ofTableMaps({ values, replaced, lookups }: Parts, context: Context): readonly CodeRead[] {
  const named = lookups.flatMap(({ scope, lookup }) => {
    const name = tableCodeMapOf(lookup);
    const ours = lookup.on[0]?.ours;
    return name === undefined || !ours || !isOwn(ours, scope) ? [] : [{ name, scope, lookup, ours }];
  });
  const places = placesOf(named);
  const groups = Map.groupBy(
    named,
    ({ name, scope, ours }) => `${name}|${places.get(scope)}|${ours.alias}.${ours.column}`,
  );
  const all = [...values, ...replaced];
  return [...groups.values()].flatMap((group): readonly CodeRead[] => {
    const [first] = group;
    if (!first) return [];
    const { name, scope, ours: column, lookup } = first;
    const missed = group.map(one => not(findsRow(one.lookup)));
    const readers = all.filter(one => {
      const read = one.scope === scope ? lookupOf(one.node, scope) : undefined;
      return read !== undefined && group.some(other => other.lookup === read);
    });
    const made = (some: readonly ScopedValue[], hasElse: boolean): CodeRead => {
      const where = and(filled(column), ...missed, reachedBySome(some, column, context));
      return { name, scope, column, where, isCode: true, at: lookup.at, ownElse: tableElseOf(lookup), hasElse };
    };
    // Values of child rows read it too, and are not limited.
    if (readers.length === 0)
      return [{ ...made([], false), where: and(filled(column), ...missed, ofParent(scope, context)) }];
    const [withElse, without] = [readers.filter(hasOtherElse), readers.filter(one => !hasOtherElse(one))];
    return [
      ...(without.length > 0 ? [made(without, false)] : []),
      ...(withElse.length > 0 ? [made(withElse, true)] : []),
    ];
  });
}

/** True if an alternative follows that is not the map's own, which has the position where the map is named. */
function hasOtherElse({ way, node }: ScopedValue): boolean {
  return way.later.some(({ at }) => JSON.stringify(at) !== JSON.stringify(node.at));
}

type Some<T> = readonly [T, ...T[]];

/** Groups the facets of a map on a column of one scope. */
function groupsOf<T extends ScopedValue & { readonly column: ColumnExpression; readonly hasElse: boolean }>(
  reads: readonly T[],
  nameOf: (one: T) => string,
): readonly Some<T>[] {
  const places = placesOf(reads);
  const groups = Map.groupBy(
    reads,
    one => `${nameOf(one)}|${places.get(one.scope)}|${one.column.alias}.${one.column.column}|${one.hasElse}`,
  );
  return [...groups.values()].flatMap(([first, ...more]) => (first ? [[first, ...more] as const] : []));
}

/** Numbers the scopes. */
function placesOf(all: readonly { readonly scope: Scope }[]): ReadonlyMap<Scope, number> {
  return new Map([...new Set(all.map(({ scope }) => scope))].map((scope, i) => [scope, i]));
}

function ofParent(scope: Scope, context: Context): Predicate {
  return context.ofParent.get(scope) ?? TRUE;
}

/** Matches rows for which one of the reads counts. */
function reachedBySome(group: readonly ScopedValue[], column: ColumnExpression, context: Context): Predicate {
  const some = or(...group.map(one => reachedBy(one, column, context)));
  return and(some, ...group.slice(0, 1).map(({ scope }) => ofParent(scope, context)));
}

/** Matches rows for which a read of a code counts: it is reached, and nothing else has a row for the value. */
function reachedBy(one: ScopedValue, column: ColumnExpression, context: Context): Predicate {
  const others = [...one.way.earlier, ...one.way.later].map(node => knownIn(node, column, one.scope, context));
  return and(reached(one, context.readers), not(or(...others)), not(servedElsewhere(one, column, context)));
}

/** Matches rows with a value of the column that a code map within a node knows, and that reach this map. */
function knownIn(node: Node, column: ColumnExpression, scope: Scope, context: Context): Predicate {
  if (node.kind !== 'value') return or(...childrenOf(node).map(child => knownIn(child, column, scope, context)));
  const way = context.ways.get(node);
  const known = way?.scope === scope && knownBy(node, column, scope);
  return known && way ? and(reached(way, context.readers), known) : FALSE;
}

function knownBy(node: ValueNode, column: ColumnExpression, scope: Scope): Predicate | undefined {
  const [from] = node.from;
  const origin = codeMapOf(node.codec);
  if (origin) return from?.kind === 'column' && isSame(from, column) ? origin.known(column) : undefined;
  const lookup = lookupOf(node, scope);
  return lookup?.on[0] && isSame(lookup.on[0].ours, column) ? findsRow(lookup) : undefined;
}

/** Returns the lookup of a code map in a table that a value comes from. */
function lookupOf({ from: [column] }: ValueNode, { lookups }: Scope): Lookup | undefined {
  if (column?.kind !== 'column') return undefined;
  const lookup = lookups.find(({ alias }) => alias === column.alias);
  return lookup && tableCodeMapOf(lookup) !== undefined ? lookup : undefined;
}

function isSame(one: ColumnExpression, other: ColumnExpression): boolean {
  return one.alias === other.alias && one.column === other.column;
}

function findsRow({ on }: Lookup): Predicate {
  // In a left join the lookup's columns can be NULL, whatever the catalog says.
  return and(...on.slice(0, 1).map(({ theirs: { notNull: _, ...theirs } }) => not(isNull(theirs))));
}

/**
 * Matches rows that are no resource of the mapping because this code is missing, and that another mapping of the table
 * serves, for which the same column is needed: the codes tell the kinds of rows apart.
 */
function servedElsewhere({ scope, way, node }: ScopedValue, column: ColumnExpression, context: Context): Predicate {
  const { mapping } = way;
  const { registry, readers } = context;
  const need = mapping?.source === scope && mapping.needs.find(one => isWithin(one, node));
  if (!mapping || !need || column.alias !== scope.alias) return FALSE;
  const others = registry.mappings.filter(
    other =>
      other !== mapping &&
      tableKey(other.source.table) === tableKey(scope.table) &&
      other.needs.some(one => reads(one, other.source, column)),
  );
  const served = others.map(other => servedBy(other, mapping, readers));
  return served.length === 0 ? FALSE : and(not(readers.readPresent(need)), or(...served));
}

function servedBy(
  other: Mapping,
  { group, source }: Mapping,
  { readScope, readPresent, clock }: RowReaders,
): Predicate {
  const needed = and(...other.needs.map(readPresent));
  if (other.group === group) return needed;
  const { key } = other.source;
  const isSameKey = key.length === source.key.length && key.every((one, i) => one.column === source.key[i]?.column);
  if (!isSameKey) return FALSE;
  const { relation, aliases } = renameRelation(readScope(other.source, needed, clock, key));
  const joined = key.flatMap((theirs, i) => {
    const ours = source.key[i];
    return ours ? [equals(renameExpression(theirs, aliases), ours)] : [];
  });
  return exists({ ...relation, where: and(...joined, relation.where) });
}

function isWithin(around: Node, node: Node): boolean {
  return around === node || childrenOf(around).some(child => isWithin(child, node));
}

/** True if a value within a node comes from the same column of the mapping's own rows, or from a map's row for it. */
function reads(node: Node, scope: Scope, column: ColumnExpression): boolean {
  if (node.kind !== 'value') return childrenOf(node).some(child => reads(child, scope, column));
  const columns = [...node.from, ...(lookupOf(node, scope)?.on.map(({ ours }) => ours) ?? [])];
  return columns.some(one => one.kind === 'column' && one.alias === scope.alias && one.column === column.column);
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
