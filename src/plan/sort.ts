/**
 * Plans `_sort` for a mapping. In: a search parameter. Out: the rows of the mapping, split so that one value sorts each
 * part, with the SQL expressions that order them; undefined if the mapping cannot be sorted by it (repeating elements,
 * a codec without an order).
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

/** Limit of alternatives of one value that can be sorted by: each is a statement of its own. */
const PARTS_AT_MOST = 6;

/**
 * Splits the rows into parts; every row is in exactly one. Each of several alternatives makes a part, and pages merge
 * parts as they merge mappings. So no expression has to compare a packed date with a DATETIME.
 */
export function sortParts(
  mapping: Mapping,
  parameter: SearchParameter,
  env: Environment,
  descending = false,
): readonly SortPart[] | undefined {
  // Its components sort differently.
  if (parameter.type === 'composite') return undefined;
  if (mapping.source.key.length === 0) return [{ where: TRUE, face: ownFace(mapping, parameter, env, descending) }];
  const parts = parameter.code === '_id' ? idParts(mapping) : valuesOf(mapping, parameter, env, descending);
  if (!parts || parts.length > PARTS_AT_MOST) return undefined;
  return [...parts, { where: and(...parts.map(({ where }) => not(where))), face: null }];
}

/** Returns the values that a row may sort by, each with the rows that sort by it. */
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

/** Returns the parts of a boolean that says whether an element exists: every row has one of two values. */
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

/** Returns the ways in which the values of a node sort: several if they refer to ids of several forms. */
function candidatesOf(
  mapping: Mapping,
  path: SearchPath,
  leaf: Node,
  parameter: SearchParameter,
  env: Environment,
): readonly Candidate[] | undefined {
  const isInRows = atOnce(mapping.root, [leaf]) > 1;
  const faces = leaf.kind === 'ref' ? referenceFaces(leaf, env) : faceOf(leaf, parameter);
  // Each form would search the target of every child row anew: seconds for a thousand patients.
  if (isInRows && faces && faces.length > 1) return undefined;
  const found = faces?.map(({ when, face }) => {
    const where = emitted(mapping, path, leaf, when, env);
    return where && { where, face: isInRows ? ofPieces(face, mapping.root) : face, isInRows };
  });
  return found?.every(one => one !== undefined) ? found.filter(({ where }) => where.kind !== 'false') : undefined;
}

/** True for text in place of a date or reference. Rows with nothing else count as without a value. */
function isNoValue(leaf: Node, { type }: SearchParameter): boolean {
  if (type === 'date') return isPrimitive(leaf.type) && !MOMENTS.has(leaf.type);
  if (type !== 'reference') return false;
  if (leaf.kind === 'constant')
    return typeof leaf.json === 'object' && leaf.json !== null && !Object.hasOwn(leaf.json, 'reference');
  if (leaf.kind !== 'object') return false;
  return !leaf.members.flatMap(namedNodesOf).some(({ name }) => name === 'reference');
}

/** Rewrites parts of pieces as expressions on the text that they are cut from. */
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
  return [{ when: TRUE, face: { by, order: leaf.codec.order, statementKey: by.map(expressionKey).join() } }];
}

/** A sort of values, and the condition on the rows or pieces that sort so, evaluated where the value stands. */
export interface FaceWhen {
  readonly when: Predicate;
  readonly face: SortFace;
}

/** The expressions that order the rows of one part. */
export interface SortFace {
  readonly by: readonly Expression[];
  readonly order: OrderFace;
  /** Rows with different texts here cannot be ordered by one statement. */
  readonly statementKey: string;
  /** Prefix of all keys of these rows, which no key of rows with other sort expressions has. */
  readonly begin?: string;
  /** For a key that is none of these rows': on which side of it all rows are. Undefined if `by` decides. */
  readonly side?: (key: number | string) => 'below' | 'above' | undefined;
}

/** Rows of a mapping whose value comes from the same columns, or that have none. */
export interface SortPart {
  readonly where: Predicate;
  /** Null: none of these rows has a value. */
  readonly face: SortFace | null;
}

/** One source of values: the rows that have one, and how they sort. */
export interface Candidate {
  readonly where: Predicate;
  readonly face: SortFace;
  /** True if the source is child rows or pieces of a text. */
  readonly isInRows: boolean;
}
