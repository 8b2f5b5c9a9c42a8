/**
 * Finds the references that an include follows. In: a mapping and an `_include` or `_revinclude`. Out: its reference
 * nodes, and the columns that rows must carry for them.
 * https://hl7.org/fhir/R4/search.html#include
 */

import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Node, RefNode } from '../mapping/model.ts';
import { along } from '../plan/walk.ts';
import { type SearchPath, searchParametersOf } from '../r4/search-parameters.ts';
import type { Include, SearchQuery } from '../search/query.ts';
import { TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { AlsoWanted } from './branch-plan.ts';
import { planKey } from './plans.ts';
import type { Session } from './session.ts';

export type Includes = Pick<SearchQuery, 'includes' | 'revincludes'>;

/** What includes want of each row; undefined where there are none. */
export function wantedForIncludes(query: Includes, session: Session): AlsoWanted | undefined {
  const { includes, revincludes } = query;
  if (includes.length === 0 && revincludes.length === 0) return undefined;
  return { key: planKey('includes', [includes, revincludes]), of: mapping => wantedOf(mapping, query, session) };
}

function wantedOf(mapping: Mapping, query: Includes, session: Session): ReturnType<AlsoWanted['of']> {
  const columns = query.revincludes.flatMap(include =>
    session.registry
      .ofType(include.source)
      .flatMap(source => refNodes(source, include, session).filter(node => node.target === mapping.name))
      .flatMap(node => node.on.map(({ theirs }) => theirs)),
  );
  const references = new Set(query.includes.flatMap(include => refNodes(mapping, include, session)));
  return { columns, nodes: references.size > 0 ? elementsOf(mapping, references) : [] };
}

/** The elements that references stand in, whole: what is around a reference decides whether it is there. */
function elementsOf(mapping: Mapping, references: ReadonlySet<RefNode>): readonly Node[] {
  const holds = (node: Node): boolean =>
    node.kind === 'ref' ? references.has(node) : childrenOf(node).some(inner => holds(inner));
  return mapping.root.members
    .map(member => namedNodesOf(member).map(({ node }) => node))
    .filter(nodes => nodes.some(holds))
    .flat();
}

/** The ways to the references of an include's parameter; `*` stands for all parameters of type reference. */
export function pathsOf({ resource }: Mapping, { parameter }: Include): readonly SearchPath[] {
  const parameters =
    parameter === '*'
      ? searchParametersOf(resource).filter(({ type }) => type === 'reference')
      : parameter === undefined
        ? []
        : [parameter];
  return parameters.flatMap(({ paths }) => paths ?? []);
}

/** They depend on the mapping and the include alone, and every page asks for them several times. */
const known = new WeakMap<Mapping, Map<string, readonly RefNode[]>>();

/** Reference nodes that an include goes along. */
export function refNodes(mapping: Mapping, include: Include, session: Session): readonly RefNode[] {
  const { source, parameter, target } = include;
  if (source !== '*' && source !== mapping.resource) return [];
  // A request may name anything there; what is kept are types.
  if (target !== undefined && !session.registry.types.includes(target)) return [];
  const ofMapping = known.get(mapping) ?? new Map<string, readonly RefNode[]>();
  known.set(mapping, ofMapping);
  const key = `${typeof parameter === 'object' ? parameter.code : (parameter ?? '')} ${target ?? ''}`;
  const nodes = ofMapping.get(key) ?? findNodes(mapping, include, session);
  ofMapping.set(key, nodes);
  return nodes;
}

function findNodes(mapping: Mapping, include: Include, session: Session): readonly RefNode[] {
  const { parameter, target } = include;
  const found = new Set<RefNode>();
  const take = (node: Node): void => {
    if (node.kind !== 'ref' || node.as !== 'reference') return;
    if (target === undefined || session.registry.mapping(node.target).resource === target) found.add(node);
  };
  const see = (node: Node): Predicate => {
    take(node);
    return TRUE;
  };
  if (parameter === undefined) everyNode(mapping.root, take);
  for (const path of pathsOf(mapping, include)) along(mapping.root, path, see, session.env);
  return [...found];
}

function everyNode(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const inner of childrenOf(node)) everyNode(inner, see);
}
