/**
 * Finds the references that an include follows, and collects what includes start from. In: `_include` and
 * `_revinclude`; the resources of a page, a list at a time. Out: the keys and references that the includes need, each
 * once. It keeps no rows or texts, so that a large page need not be in memory for its includes.
 * https://hl7.org/fhir/R4/search.html#include
 */

import { getOrInsert, memoized } from '../common/caches.ts';
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Node, RefNode } from '../mapping/model.ts';
import { type Key, keyText } from '../plan/key.ts';
import { planKey } from '../plan/reuse/plan-cache.ts';
import { along } from '../plan/walk.ts';
import { type SearchPath, type SearchStep, searchParametersOf } from '../r4/search-parameters.ts';
import type { Children } from '../resource/rows.ts';
import type { LevelShape } from '../resource/shape.ts';
import type { Include, SearchQuery } from '../search/query.ts';
import { TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { fetchKey } from '../sql/expression-key.ts';
import type { Row } from '../sql/plan.ts';
import type { AlsoWanted } from './branch-plan.ts';
import { inFormOf } from './children.ts';
import type { Emitted } from './emitted.ts';
import type { Session } from './session.ts';

export interface Frontier extends Includes {
  add(resources: readonly Emitted[]): void;
  size(): number;
  /** Returns the mappings of the resources, in the order in which they came. */
  mappings(): readonly Mapping[];
  /** Returns the keys that the resources refer to by a node. */
  keysOf(node: RefNode): readonly Key[];
  /** Returns the keys by which a node of another resource would refer to one of these. */
  keysTo(node: RefNode): readonly Key[];
  /**
   * Returns each `Type/id` that an include leads to, from the JSON texts: a row may also contain keys of alternatives
   * that were not chosen.
   */
  referencesOf(include: Include): ReadonlySet<string>;
  /** Each `Type/id` of these resources, and of earlier ones. */
  readonly seen: Set<string>;
}

type Keys = Map<RefNode, Map<string, Key>>;

/**
 * Makes a frontier. Its includes are those that continue from these resources. `seen`: what the Bundle already
 * contains.
 */
export function frontierOf(
  { includes, revincludes }: Includes,
  session: Session,
  seen: Set<string> = new Set(),
): Frontier {
  const mappings = new Set<Mapping>();
  const references = new Map(includes.map(include => [include, new Set<string>()]));
  const ours: Keys = new Map();
  const theirs: Keys = new Map();
  let size = 0;

  const take = (mapping: Mapping, resources: readonly Emitted[]): void => {
    for (const node of nodesOf(mapping, includes, session)) {
      const keys = keysIn(ours, node);
      for (const { row, children, shape } of resources) keysAt(node, shape, row, children, keys);
    }
    for (const [include, found] of references) {
      const read = readerOf(mapping, include, session);
      for (const { referringJson } of read ? resources : [])
        for (const one of read?.(referringJson) ?? []) found.add(one);
    }
    for (const node of nodesTo(mapping, revincludes, session)) {
      const keys = keysIn(theirs, node);
      const on = node.on.map(pair => fetchKey(pair.theirs));
      for (const { row, shape } of resources)
        addKey(
          on.map(key => row[shape.positions.get(key) ?? -1] ?? null),
          keys,
        );
    }
  };

  return {
    includes,
    revincludes,
    referencesOf: include => references.get(include) ?? new Set(),
    seen,
    add(resources) {
      size += resources.length;
      for (const resource of resources) seen.add(identityOf(resource));
      for (const [mapping, some] of Map.groupBy(resources, resource => resource.mapping)) {
        mappings.add(mapping);
        take(mapping, some);
      }
    },
    size: () => size,
    mappings: () => [...mappings],
    keysOf: node => [...(ours.get(node)?.values() ?? [])],
    keysTo: node => [...(theirs.get(node)?.values() ?? [])],
  };
}

const REFERENCE = /"reference":"([A-Za-z]+\/[A-Za-z0-9.-]{1,64})"/g;

/**
 * Returns a function that finds the references of an include in a resource's text; undefined if the mapping has none.
 */
function readerOf(
  mapping: Mapping,
  include: Include,
  session: Session,
): ((json: string) => readonly string[]) | undefined {
  const nodes = refNodes(mapping, include, session);
  if (nodes.length === 0) return undefined;
  const typeOf = (node: RefNode): string => session.registry.mapping(node.target).resource;
  const types = new Set(nodes.map(typeOf));
  const every = refNodes(mapping, { ...include, parameter: undefined, target: undefined }, session);
  // References of these types occur nowhere else, so their place need not be checked.
  if (include.parameter === undefined || every.every(node => nodes.includes(node) || !types.has(typeOf(node))))
    return json =>
      [...json.matchAll(REFERENCE)].flatMap(([, found = '']) =>
        types.has(found.split('/', 1)[0] ?? '') ? [found] : [],
      );
  return json => referencesAt(JSON.parse(json), pathsOf(mapping, include));
}

/** Returns `Type/id`, as in a reference. */
export function identityOf({ mapping, id }: Emitted): string {
  return `${mapping.resource}/${id}`;
}

function nodesOf(mapping: Mapping, includes: readonly Include[], session: Session): ReadonlySet<RefNode> {
  return new Set(includes.flatMap(include => refNodes(mapping, include, session)));
}

function nodesTo(mapping: Mapping, revincludes: readonly Include[], session: Session): ReadonlySet<RefNode> {
  const nodes = revincludes.flatMap(include =>
    session.registry.ofType(include.source).flatMap(source => refNodes(source, include, session)),
  );
  return new Set(nodes.filter(node => node.target === mapping.name));
}

function keysIn(of: Keys, node: RefNode): Map<string, Key> {
  return getOrInsert(of, node, () => new Map<string, Key>());
}

/** Adds the values of `ours` wherever the node occurs in a resource: in its row or in child rows. */
function keysAt(node: RefNode, level: LevelShape, row: Row, children: Children, keys: Map<string, Key>): void {
  const here = level.refs.find(ref => ref.node === node);
  if (here)
    addKey(
      here.positions.map((at, i) => inFormOf(row[at] ?? null, node.on[i])),
      keys,
    );
  level.children.forEach((shape, i) => {
    for (const child of children[i] ?? []) keysAt(node, shape, child.row, child.children, keys);
  });
}

/** Adds a key, unless it contains a NULL, which refers to nothing. */
function addKey(key: Key, keys: Map<string, Key>): void {
  if (key.includes(null)) return;
  keys.set(keyText(key), key);
}

type Members = Readonly<Record<string, unknown>>;

/**
 * Finds the references of a resource along search paths. In: the resource and compiled paths. Out: `Type/id` of each
 * reference there.
 */
export function referencesAt(resource: unknown, paths: readonly SearchPath[]): readonly string[] {
  const ends = paths.flatMap(path => path.reduce(take, [resource]));
  return ends.flatMap(end => {
    const reference = isMembers(end) ? end['reference'] : undefined;
    return typeof reference === 'string' ? [reference] : [];
  });
}

function take(values: readonly unknown[], step: SearchStep): readonly unknown[] {
  const members = values.filter(isMembers);
  if ('element' in step) return members.flatMap(one => namesIn(one, step.element).flatMap(name => one[name]));
  if ('where' in step) return members.filter(one => one[step.where.element] === step.where.equals);
  if ('resolves' in step) return members.filter(one => String(one['reference']).startsWith(`${step.resolves}/`));
  return [];
}

/** Returns the member names of an element: a choice appends the type to the name. */
function namesIn(members: Members, element: string): readonly string[] {
  return Object.keys(members).filter(
    name => name === element || (name.startsWith(element) && /^[A-Z]/.test(name.slice(element.length))),
  );
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export type Includes = Pick<SearchQuery, 'includes' | 'revincludes'>;

/** Returns the columns and reference nodes that rows must carry for includes; undefined if there are no includes. */
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

/**
 * Returns the whole elements that contain the references, because other parts of an element decide whether they exist.
 */
function elementsOf(mapping: Mapping, references: ReadonlySet<RefNode>): readonly Node[] {
  const holds = (node: Node): boolean =>
    node.kind === 'ref' ? references.has(node) : childrenOf(node).some(inner => holds(inner));
  return mapping.root.members
    .map(member => namedNodesOf(member).map(({ node }) => node))
    .filter(nodes => nodes.some(holds))
    .flat();
}

/** Returns the paths of an include's parameter; `*` stands for all parameters of type reference. */
export function pathsOf({ resource }: Mapping, { parameter }: Include): readonly SearchPath[] {
  const parameters =
    parameter === '*'
      ? searchParametersOf(resource).filter(({ type }) => type === 'reference')
      : parameter === undefined
        ? []
        : [parameter];
  return parameters.flatMap(({ paths }) => paths ?? []);
}

/** Reference nodes depend only on mapping and include, and every page needs them several times. */
const foundIn = memoized((_mapping: Mapping) => new Map<string, readonly RefNode[]>());

/** Returns the reference nodes that an include follows. */
export function refNodes(mapping: Mapping, include: Include, session: Session): readonly RefNode[] {
  const { source, parameter, target } = include;
  if (source !== '*' && source !== mapping.resource) return [];
  // A request may name any target; only those that are served types are cached.
  if (target !== undefined && !session.registry.types.includes(target)) return [];
  const key = `${typeof parameter === 'object' ? parameter.code : (parameter ?? '')} ${target ?? ''}`;
  return getOrInsert(foundIn(mapping), key, () => findNodes(mapping, include, session));
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
