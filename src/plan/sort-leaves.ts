/**
 * Finds the values that a search parameter sorts by. In: a mapping, a path. Out: the nodes at the path, the rows for
 * which each is emitted, and how many of them a resource may have at once.
 * https://hl7.org/fhir/R4/search.html#sort
 */

import { CODE_ORDER } from '../mapping/codecs/code.ts';
import { upperAscii } from '../mapping/codecs/text.ts';
import type { ConstantNode, Mapping, Node } from '../mapping/model.ts';
import type { SearchParameter, SearchParameterType, SearchPath } from '../r4/search-parameters.ts';
import { UNICODE } from '../sql/column-type.ts';
import { and, constant, FALSE, or, TRUE } from '../sql/construct.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import type { Candidate, SortFace } from './sort.ts';
import { idParts } from './sort-ids.ts';
import { along } from './walk.ts';

/** The element of each data type that it sorts by. */
const SORTED_BY: ReadonlyMap<string, SearchPath> = new Map([
  ['Period', [{ element: 'start' }]],
  ['CodeableConcept', [{ element: 'coding' }, { element: 'code' }]],
  ['Coding', [{ element: 'code' }]],
  ['Identifier', [{ element: 'value' }]],
  ['ContactPoint', [{ element: 'value' }]],
  ['HumanName', [{ element: 'family' }]],
  ['Address', [{ element: 'city' }]],
  ['Quantity', [{ element: 'value' }]],
]);

/** Returns the nodes that a path leads to, or the elements that they sort by. */
export function sortLeaves(mapping: Mapping, path: SearchPath, env: Environment): readonly Node[] | undefined {
  const found: Node[] = [];
  const collect = (node: Node): Predicate | undefined => {
    const inner = SORTED_BY.get(node.type);
    if (inner) return along(node, inner, collect, env);
    if (!found.some(one => isSame(one, node))) found.push(node);
    return TRUE;
  };
  return along(mapping.root, path, collect, env) && found;
}

/** Returns the rows for which this very node is emitted at the end of the path, and for which `when` holds there. */
export function emitted(
  mapping: Mapping,
  path: SearchPath,
  leaf: Node,
  when: Predicate,
  env: Environment,
): Predicate | undefined {
  const itself = (node: Node): Predicate | undefined => {
    const inner = SORTED_BY.get(node.type);
    if (inner) return along(node, inner, itself, env);
    return isSame(node, leaf) ? and(presentPredicate(node, env), when) : FALSE;
  };
  return along(mapping.root, path, itself, env);
}

/** Compares nodes. Parts of a constant are new objects each time that a path leads there. */
function isSame(a: Node, b: Node): boolean {
  if (a === b) return true;
  return a.kind === 'constant' && b.kind === 'constant' && a.at === b.at && a.json === b.json;
}

/** Returns how many of some values a resource may have at once. */
export function atOnce(node: Node, values: readonly Node[]): number {
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

/** Parameters whose values sort as texts, so that a constant can be among them. */
const TEXTS: ReadonlySet<SearchParameterType> = new Set(['token', 'string', 'uri', 'reference']);

/**
 * Returns the one sort key of all rows with a constant, as it sorts among the values of other mappings; undefined if it
 * cannot be sorted by.
 */
export function constantText({ json }: ConstantNode, { type }: SearchParameter): string | undefined {
  if (!TEXTS.has(type) || typeof json === 'object') return undefined;
  return type === 'string' ? upperAscii(String(json)) : String(json);
}

/** Returns the sort of rows that all have one value. */
export function constantFace(text: string): SortFace {
  return {
    by: [],
    order: { by: () => [], toKey: () => text, fromKey: () => [] },
    statementKey: text,
    side: key => (text === key ? undefined : text < String(key) ? 'below' : 'above'),
  };
}

/** Merges all constants into one choice, in the order asked for, so that the first of several in a row counts. */
export function constantsAsOne(candidates: readonly Candidate[], descending: boolean): readonly Candidate[] {
  const isConstant = ({ face }: Candidate): boolean => face.by.length === 0 && face.begin === undefined;
  const constants = candidates.filter(isConstant).map(({ where, face }) => ({ when: where, text: face.statementKey }));
  if (constants.length < 2) return candidates;
  constants.sort((a, b) => (a.text < b.text === descending ? 1 : -1));
  const of = constants.map(({ when, text }) => ({ when, give: constant(text, UNICODE) }));
  const by: Expression = { kind: 'choice', of, type: UNICODE };
  const face = { by: [by], order: CODE_ORDER, statementKey: expressionKey(by) };
  const one = { where: or(...of.map(({ when }) => when)), face, isInRows: false };
  return [...candidates.filter(candidate => !isConstant(candidate)), one];
}

/** Returns the sort of a resource without rows; null: it has no value. */
export function ownFace(
  mapping: Mapping,
  parameter: SearchParameter,
  env: Environment,
  descending: boolean,
): SortFace | null {
  if (parameter.code === '_id') return idParts(mapping)[0]?.face ?? null;
  const leaves = (parameter.paths ?? []).flatMap(path => sortLeaves(mapping, path, env) ?? []);
  const texts = leaves.flatMap(leaf => (leaf.kind === 'constant' ? (constantText(leaf, parameter) ?? []) : []));
  const [first, ...others] = texts;
  if (first === undefined) return null;
  return constantFace(others.reduce((least, text) => (text < least !== descending ? text : least), first));
}
