/**
 * Plans `_sort` for a mapping. In: a search parameter. Out: the rows of the mapping, split so that one value each
 * sorts them, with the SQL expressions that order them; undefined if the mapping cannot be sorted by it (repeating
 * elements, a codec without an order).
 * https://hl7.org/fhir/R4/search.html#sort
 */
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import type { OrderFace } from '../mapping/codecs/codec.ts';
import type { Mapping, Node, Pieces } from '../mapping/model.ts';
import { isPrimitive } from '../r4/definitions.ts';
import type { SearchParameter, SearchPath } from '../r4/search-parameters.ts';
import type { TypedValue } from '../search/query.ts';
import { and, not, TRUE } from '../sql/construct.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Environment } from './environment.ts';
import { filterPredicate } from './filter.ts';
import { pieceExpression } from './presence.ts';
import { idParts, referenceFaces } from './sort-ids.ts';
import { atOnce, constantFace, constantsAsOne, constantText, emitted, ownFace, sortLeaves } from './sort-leaves.ts';
import { partsOfSeveral } from './sort-several.ts';

/** The primitive types that a date parameter compares. https://hl7.org/fhir/R4/search.html#date */
const MOMENTS: ReadonlySet<string> = new Set(['date', 'dateTime', 'instant']);

/** The most alternatives of one value that can be sorted by: each is a statement of its own. */
const PARTS_AT_MOST = 6;

/**
 * Every row is in exactly one part. An element that is the first of several alternatives makes a part of each, which
 * pages merge as they merge mappings; so no expression has to compare a packed date with a DATETIME.
 */
export function sortParts(
  mapping: Mapping,
  parameter: SearchParameter,
  env: Environment,
  descending = false,
): readonly SortPart[] | undefined {
  // Its parts have an order, each its own.
  if (parameter.type === 'composite') return undefined;
  if (mapping.source.key.length === 0) return [{ where: TRUE, face: ownFace(mapping, parameter, env, descending) }];
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
  const [path = [], ...more] = parameter.paths ?? [];
  const last = path.at(-1);
  if (last && 'exists' in last) return more.length > 0 ? undefined : flagParts(mapping, parameter, env);
  const places = new Map<Node, readonly Candidate[]>();
  for (const one of [path, ...more]) {
    const leaves = sortLeaves(mapping, one, env);
    if (!leaves) return undefined;
    for (const leaf of leaves) {
      const found = isNoValue(leaf, parameter) ? [] : candidatesOf(mapping, one, leaf, parameter, env);
      if (!found) return undefined;
      if (found.length > 0) places.set(leaf, found);
    }
  }
  const all = [...places.values()].flat();
  const found = all.length > PARTS_AT_MOST ? constantsAsOne(all, descending) : all;
  return atOnce(mapping.root, [...places.keys()]) > 1 ? partsOfSeveral(found, descending) : found;
}

/** Whether an element is there: all rows have one of two values. */
function flagParts(mapping: Mapping, parameter: SearchParameter, env: Environment): readonly SortPart[] | undefined {
  const is: TypedValue = { kind: 'token', system: undefined, code: 'true' };
  const holds = filterPredicate(mapping, { kind: 'match', parameter, modifier: undefined, values: [is] }, env);
  return (
    holds && [
      { where: holds, face: constantFace('true') },
      { where: not(holds), face: constantFace('false') },
    ]
  );
}

/** The ways in which the values of a node sort: several where they refer to ids of several forms. */
function candidatesOf(
  mapping: Mapping,
  path: SearchPath,
  leaf: Node,
  parameter: SearchParameter,
  env: Environment,
): readonly Candidate[] | undefined {
  const isInRows = atOnce(mapping.root, [leaf]) > 1;
  const faces = leaf.kind === 'ref' ? referenceFaces(leaf, env) : faceOf(leaf, parameter);
  // Each form would look for the target of every child row anew: seconds for a thousand patients.
  if (isInRows && faces && faces.length > 1) return undefined;
  const found = faces?.map(({ when, face }) => {
    const where = emitted(mapping, path, leaf, when, env);
    return where && { where, face: isInRows ? ofPieces(face, mapping.root) : face, isInRows };
  });
  const known = found?.filter(one => one !== undefined);
  return known && known.length === found?.length ? known.filter(({ where }) => where.kind !== 'false') : undefined;
}

/** Words where a moment or a reference is asked for: rows that have no more count as without a value. */
function isNoValue(leaf: Node, { type }: SearchParameter): boolean {
  if (type === 'date') return isPrimitive(leaf.type) && !MOMENTS.has(leaf.type);
  if (type !== 'reference') return false;
  if (leaf.kind === 'constant')
    return typeof leaf.json === 'object' && leaf.json !== null && !Object.hasOwn(leaf.json, 'reference');
  if (leaf.kind !== 'object') return false;
  return !leaf.members.flatMap(namedNodesOf).some(({ name }) => name === 'reference');
}

/** The parts of pieces, where a value is made of them, as what they are cut from. */
function ofPieces(face: SortFace, root: Node): SortFace {
  const pieces = piecesIn(root);
  const by = face.by.map(one => pieces.reduce((of, from) => pieceExpression(from, of), one));
  return { ...face, by };
}

function piecesIn(node: Node): readonly Pieces[] {
  const own = node.kind === 'each' && node.from.kind === 'pieces' ? [node.from] : [];
  return [...own, ...childrenOf(node).flatMap(piecesIn)];
}

function faceOf(leaf: Node, parameter: SearchParameter): readonly FaceWhen[] | undefined {
  if (leaf.kind === 'constant') {
    const text = constantText(leaf, parameter);
    return text === undefined ? undefined : [{ when: TRUE, face: constantFace(text) }];
  }
  if (leaf.kind !== 'value' || !leaf.codec.order) return undefined;
  const by = leaf.codec.order.by(leaf.from);
  return [{ when: TRUE, face: { by, order: leaf.codec.order, apart: by.map(expressionKey).join() } }];
}

/** How values sort, and the rows or pieces at which they do so, asked where they stand. */
export interface FaceWhen {
  readonly when: Predicate;
  readonly face: SortFace;
}

/** A part of a sort: the expressions that order rows. */
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

/** One place that values come from: the rows that have one, and how they sort. */
export interface Candidate {
  readonly where: Predicate;
  readonly face: SortFace;
  /** The place is in child rows, or in pieces of a text. */
  readonly isInRows: boolean;
}
