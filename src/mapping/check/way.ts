/**
 * Finds the rows in which a node is evaluated, and the alternatives that replace it where it is missing. In: the nodes
 * from the root of the rows down to it. Out: its conditions, its alternatives in each `first`, and their predicates.
 */
import { and, not, or, TRUE } from '../../sql/construct.ts';
import type { Predicate } from '../../sql/expression.ts';
import { isDynamic, namedNodesOf } from '../children.ts';
import type { Condition, Mapping, Node, Scope } from '../model.ts';
import { aliasesIn, freeAliases, freeAliasesOf, type RowReaders } from './questions.ts';

export interface Way {
  /** Each `if` from the root of the scope's rows to the node. */
  readonly conditions: readonly Condition[];
  /** Alternatives before the node, or before a node around it: it is evaluated if none of them is present. */
  readonly earlier: readonly Node[];
  /** Alternatives after it, which replace a missing value. */
  readonly later: readonly Node[];
  /** Nodes of objects around it that are there without it: if one is missing, a later alternative is taken instead. */
  readonly beside: readonly Node[];
  /** The mapping that the node belongs to; undefined for the time of deleted rows. */
  readonly mapping: Mapping | undefined;
}

/** Returns the way to the root of some rows. */
export function wayOf(mapping: Mapping | undefined): Way {
  return { conditions: [], earlier: [], later: [], beside: [], mapping };
}

/** Returns the way to a child of a node, to which `way` leads. */
export function wayTo(child: Node, node: Node, way: Way): Way {
  const needed = way.later.length > 0 ? neededBeside(child, node) : [];
  const around = needed.length > 0 ? { later: [], beside: [...way.beside, ...needed] } : way;
  for (const alternatives of alternativesIn(node)) {
    const at = alternatives.findIndex(one => one.includes(child));
    if (at < 0) continue;
    const earlier = alternatives.slice(0, at).flatMap(tellingNodes);
    const later = alternatives.slice(at + 1).flatMap(tellingNodes);
    return { ...way, ...around, earlier: [...way.earlier, ...earlier], later: [...around.later, ...later] };
  }
  return { ...way, ...around };
}

/**
 * Returns the children that an object needs, such as the value of a Quantity, if this one is not among them. The object
 * is there without it, so nothing replaces it.
 */
export function neededBeside(child: Node, node: Node): readonly Node[] {
  if (node.kind !== 'object') return [];
  const needed = node.members.flatMap(namedNodesOf).flatMap(one => (node.needs.includes(one.name) ? [one.node] : []));
  return needed.includes(child) ? [] : needed;
}

/**
 * Returns the alternatives of a node, each with its nodes: of a `first`, and of each `first` among the elements of an
 * object.
 */
export function alternativesIn(node: Node): readonly (readonly (readonly Node[])[])[] {
  if (node.kind === 'first') return [node.alternatives.map(one => [one])];
  if (node.kind !== 'object') return [];
  return node.members.flatMap(member =>
    member.kind === 'element' ? [] : [member.alternatives.map(named => named.map(one => one.node))],
  );
}

/** Returns the nodes of an alternative whose presence decides that it is taken. */
export function tellingNodes(nodes: readonly Node[]): readonly Node[] {
  const dynamic = nodes.filter(isDynamic);
  return dynamic.length > 0 ? dynamic : nodes;
}

interface Place {
  readonly scope: Scope;
  readonly way: Way;
}

/**
 * Matches rows of its scope for which a node is evaluated. A condition on enclosing rows does not count, because the
 * scope is read alone.
 */
export function reached(place: Place, readers: RowReaders): Predicate {
  const own = new Set<string>(aliasesIn(place.scope));
  const conditions = place.way.conditions.filter(one => [...freeAliases(one)].every(alias => own.has(alias)));
  const beside = place.way.beside.map(node => allOf(node, place.scope, readers));
  const earlier = someOf(place.way.earlier, place.scope, readers);
  return and(...conditions.map(readers.readCondition), not(earlier), ...beside);
}

/** Matches rows of its scope for which a later alternative gives the element. */
export function replaced({ scope, way }: Place, readers: RowReaders): Predicate {
  return someOf(way.later, scope, readers);
}

/** Matches rows with the node; all rows if it depends on rows outside of the scope. */
function allOf(node: Node, scope: Scope, readers: RowReaders): Predicate {
  const some = someOf([node], scope, readers);
  return some.kind === 'false' ? TRUE : some;
}

function someOf(nodes: readonly Node[], scope: Scope, { readPresent }: RowReaders): Predicate {
  const own = new Set<string>(aliasesIn(scope));
  const present = nodes.map(readPresent);
  return or(...present.filter(one => [...freeAliasesOf(one)].every(alias => own.has(alias))));
}
