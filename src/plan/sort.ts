/**
 * Sorting, per mapping. In: a search parameter. Out: the parts of a mapping's rows that one value each sorts, each with
 * the SQL expressions that order it; undefined where the mapping cannot (repeating elements, a codec without an order).
 * https://hl7.org/fhir/R4/search.html#sort
 */
import type { OrderFace } from '../mapping/codecs/codec.ts';
import type { Mapping, Node } from '../mapping/model.ts';
import { isPrimitive } from '../r4/definitions.ts';
import type { SearchParameter, SearchPath } from '../r4/search-parameters.ts';
import { and, type Expression, FALSE, not, type Predicate, TRUE } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { idParts } from './sort-ids.ts';
import { referenceFace } from './sort-references.ts';
import { type Candidate, partsOfSeveral } from './sort-several.ts';
import { along } from './walk.ts';

export interface SortFace {
  readonly by: readonly Expression[];
  readonly order: OrderFace;
  /** Rows that differ in this text cannot be ordered by one statement. */
  readonly apart: string;
  /** What all keys of these rows begin with, and none of rows that sort by other expressions. */
  readonly begin?: string;
  /** Where a key is none of these rows': on which side of it all of them are. Undefined: `by` tells. */
  readonly side?: (key: number | string) => 'below' | 'above' | undefined;
}

/** Rows of a mapping whose value comes from the same columns, or that have none. */
export interface SortPart {
  readonly where: Predicate;
  /** Null: none of these rows has a value. */
  readonly face: SortFace | null;
}

/** The primitive types that a date parameter compares. https://hl7.org/fhir/R4/search.html#date */
const MOMENTS: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant']);

/** More than these alternatives for one value are not sorted by: each is a statement of its own. */
const PARTS_AT_MOST = 6;

/**
 * Every row is in exactly one part. An element that is the first of several alternatives makes a part of each, which pages
 * merge as they merge mappings; so no expression has to compare a packed date with a DATETIME.
 */
export function sortParts(
  mapping: Mapping,
  parameter: SearchParameter,
  env: Environment,
  descending = false,
): readonly SortPart[] | undefined {
  // The server's own resources have no rows.
  if (mapping.source.key.length === 0) return undefined;
  const parts = parameter.code === '_id' ? idParts(mapping) : valuesOf(mapping, parameter, env, descending);
  if (!parts || parts.length > PARTS_AT_MOST) return undefined;
  return [...parts, { where: and(...parts.map(({ where }) => not(where))), face: null }];
}

/** The values that a row may sort by, each in the rows where it is the one. */
function valuesOf(
  mapping: Mapping,
  parameter: SearchParameter,
  env: Environment,
  descending: boolean,
): readonly SortPart[] | undefined {
  const parts = new Map<Node, readonly Candidate[]>();
  for (const path of parameter.paths ?? []) {
    const leaves = leavesOf(mapping, path, env);
    if (!leaves) return undefined;
    for (const leaf of leaves) {
      if (isNoValue(leaf, parameter)) continue;
      const where = emitted(mapping, path, leaf, env);
      if (where?.kind === 'false') continue;
      const face = faceOf(leaf, parameter, env);
      if (!where || !face) return undefined;
      const isInRows = atOnce(mapping.root, [leaf]) > 1;
      const { others, first } = othersOf(leaf);
      parts.set(leaf, [
        { where: and(first, where), face, isInRows },
        ...(others ? [{ where: and(not(first), where), face: others, isInRows }] : []),
      ]);
    }
  }
  const found = [...parts.values()].flat();
  return atOnce(mapping.root, [...parts.keys()]) > 1 ? partsOfSeveral(found, descending) : found;
}

/** Words where a moment or a reference is asked for: rows that have no more count as without a value. */
function isNoValue(leaf: Node, { type }: SearchParameter): boolean {
  if (type === 'date') return isPrimitive(leaf.type) && !MOMENTS.has(leaf.type);
  if (type !== 'reference') return false;
  if (leaf.kind === 'constant')
    return typeof leaf.json === 'object' && leaf.json !== null && !Object.hasOwn(leaf.json, 'reference');
  if (leaf.kind !== 'object') return false;
  return !leaf.members.some(one => (one.kind === 'element' ? [one] : one.alternatives.flat()).some(isReference));
}

function isReference({ name }: { readonly name: string }): boolean {
  return name === 'reference';
}

/** Parameters whose values are sorted as texts, so that a constant may stand among them. */
const TEXTS: ReadonlySet<string> = new Set(['token', 'string']);

function faceOf(leaf: Node, { type }: SearchParameter, env: Environment): SortFace | undefined {
  if (leaf.kind === 'ref') return referenceFace(leaf, env);
  if (leaf.kind === 'constant')
    return TEXTS.has(type) && typeof leaf.json !== 'object' ? constantFace(String(leaf.json)) : undefined;
  if (leaf.kind !== 'value' || !leaf.codec.order) return undefined;
  return valueFace(leaf.codec.order, leaf.from);
}

function valueFace(order: OrderFace, from: readonly Expression[]): SortFace {
  const by = order.by(from);
  return { by, order, apart: by.map(expressionKey).join() };
}

/** Of a value that no one expression sorts: in which rows the first does, and what sorts the others. */
function othersOf(leaf: Node): { readonly first: Predicate; readonly others?: SortFace } {
  if (leaf.kind !== 'value' || !leaf.codec.others) return { first: TRUE };
  const { are, order } = leaf.codec.others;
  return { first: not(are(leaf.from)), others: valueFace(order, leaf.from) };
}

/** Rows that all have one value. */
function constantFace(text: string): SortFace {
  return {
    by: [],
    order: { by: () => [], toKey: () => text, fromKey: () => [] },
    apart: text,
    side: key => (text === key ? undefined : text < String(key) ? 'below' : 'above'),
  };
}

/** What of a data type sorts. */
const SORTED_BY: ReadonlyMap<string, SearchPath> = new Map([
  ['Period', [{ element: 'start' }]],
  ['CodeableConcept', [{ element: 'coding' }, { element: 'code' }]],
  ['Coding', [{ element: 'code' }]],
  ['Identifier', [{ element: 'value' }]],
  ['ContactPoint', [{ element: 'value' }]],
  ['HumanName', [{ element: 'family' }]],
  ['Quantity', [{ element: 'value' }]],
]);

/** Nodes that a path leads to, or that sort in their place. */
function leavesOf(mapping: Mapping, path: SearchPath, env: Environment): readonly Node[] | undefined {
  const found: Node[] = [];
  const collect = (node: Node): Predicate | undefined => {
    const inner = SORTED_BY.get(node.type);
    if (inner) return along(node, inner, collect, env);
    if (!found.some(one => isSame(one, node))) found.push(node);
    return TRUE;
  };
  return along(mapping.root, path, collect, env) && found;
}

/** Rows for which this very node is emitted at the end of the path. */
function emitted(mapping: Mapping, path: SearchPath, leaf: Node, env: Environment): Predicate | undefined {
  const itself = (node: Node): Predicate | undefined => {
    const inner = SORTED_BY.get(node.type);
    if (inner) return along(node, inner, itself, env);
    return isSame(node, leaf) ? presentPredicate(node, env) : FALSE;
  };
  return along(mapping.root, path, itself, env);
}

/** Parts of a constant are made anew each time a path leads there. */
function isSame(a: Node, b: Node): boolean {
  if (a === b) return true;
  return a.kind === 'constant' && b.kind === 'constant' && a.at === b.at && a.json === b.json;
}

/** How many of some values a resource may have at once. */
function atOnce(node: Node, values: readonly Node[]): number {
  const sum = (nodes: readonly Node[]): number => nodes.reduce((n, one) => n + atOnce(one, values), 0);
  switch (node.kind) {
    case 'value':
    case 'ref':
      return values.includes(node) ? 1 : 0;
    case 'constant':
      return values.filter(one => one.kind === 'constant' && one.at === node.at).length;
    case 'object':
      return node.members.reduce(
        (n, member) =>
          n +
          (member.kind === 'element'
            ? atOnce(member.node, values)
            : Math.max(0, ...member.alternatives.map(named => sum(named.map(one => one.node))))),
        0,
      );
    case 'list':
      return sum(node.items);
    case 'first':
      return Math.max(0, ...node.alternatives.map(one => atOnce(one, values)));
    case 'each':
      return atOnce(node.item, values) > 0 ? Number.POSITIVE_INFINITY : 0;
    default:
      return 0;
  }
}
