/**
 * Finds the values that a search parameter sorts by. In: a mapping, a path. Out: the nodes at the path, the rows for
 * which each is emitted, and how many of them a resource may have at once.
 * https://hl7.org/fhir/R4/search.html#sort
 */
import type { Mapping, Node } from '../mapping/model.ts';
import type { SearchPath } from '../r4/search-parameters.ts';
import { and, FALSE, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { along } from './walk.ts';

/** What of a data type sorts. */
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

/** Nodes that a path leads to, or that sort in their place. */
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

/** Rows for which this very node is emitted at the end of the path, and `when` holds where it stands. */
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

/** Parts of a constant are made anew each time a path leads there. */
function isSame(a: Node, b: Node): boolean {
  if (a === b) return true;
  return a.kind === 'constant' && b.kind === 'constant' && a.at === b.at && a.json === b.json;
}

/** How many of some values a resource may have at once. */
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
