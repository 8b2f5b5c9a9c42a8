/**
 * Limits every plan to what the caller may see, as a predicate: rows that a search matches, counts, chains through or
 * includes. In: a mapping, the action, and the environment with the caller's visibility. Out: a Predicate that holds
 * for the rows whose resource the caller may see. A type that no permission names is refused.
 * https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 */
import { getOrInsert, memoized } from '../common/caches.ts';
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Node, RefNode, Registry } from '../mapping/model.ts';
import { childOf } from '../r4/definitions.ts';
import { COMPARTMENT_TYPE, type SearchPath } from '../r4/search-parameters.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { and, FALSE, not, or, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { compartmentPaths, inCompartments, isBound, isPatientReference } from './compartment.ts';
import { bareRelation } from './condition.ts';
import type { Environment } from './environment.ts';
import { filterPredicate } from './filter.ts';
import { joinedInSelects } from './in-selects.ts';
import { onceKnown } from './key.ts';
import { presentPredicate, servedPredicate } from './presence.ts';
import { referenceLeaf, refersToRows } from './reference.ts';
import { type ReadReferring, someOfGroup } from './referring.ts';
import { throughLookups } from './through-lookups.ts';
import {
  type Action,
  FULL_VISIBILITY,
  permissionsOf,
  type Rows,
  type SeenPatients,
  type SeenPermission,
} from './visibility.ts';
import { along } from './walk.ts';

/** Returns the condition for the rows of a mapping that the caller may see. */
export function accessPredicate(
  mapping: Mapping,
  action: Action,
  env: Environment,
  { referred = false, few = action === 'read' }: Rows = {},
): Predicate {
  const permissions = permissionsOf(env.visibility, mapping.resource, action);
  if (permissions === undefined) return TRUE;
  const known = referred && env.visibility.uniform && !isBound(mapping);
  const progress: ReferringProgress = { before: [], first: !few };
  return or(
    ...permissions.map(({ within, ...conditional }) => {
      const patients = known ? TRUE : withinPredicate(mapping, within, env, progress);
      return patients.kind === 'false' ? FALSE : and(patients, conditions(mapping, conditional, env));
    }),
  );
}

type FoundPatients = SeenPatients & { readonly kind: 'found' };

/**
 * Returns an environment without access control: the conditions of a scope or rule read all rows, not only its
 * holder's.
 */
function withoutAccessControl(env: Environment): Environment {
  return Object.create(env, { visibility: { value: FULL_VISIBILITY } });
}

type Conditional = Pick<SeenPermission, 'where' | 'except'>;

function conditions(mapping: Mapping, { where, except }: Conditional, env: Environment): Predicate {
  const { rules } = env.visibility;
  const open = withoutAccessControl(env);
  const required = rules.conditions ? where.map(filter => filterPredicate(mapping, filter, open) ?? FALSE) : [];
  // If the label cannot be searched, the resource counts as having it.
  const hidden = rules.labels ? except.map(filter => filterPredicate(mapping, filter, open) ?? TRUE) : [];
  return and(...required, ...hidden.map(not));
}

/** How the search for referring rows outside of the compartment proceeds. */
interface ReferringProgress {
  /** The mappings outside of the compartment that the search has passed through; each refers to the one before it. */
  readonly before: readonly Mapping[];
  /**
   * True if many rows may have to be checked. The records of patients given by id are then read first, and only once.
   */
  readonly first: boolean;
}

/**
 * Returns the rows that belong to patients who are in all of these sets. If the mapping belongs to no patient, returns
 * the rows that such rows refer to.
 */
function withinPredicate(
  mapping: Mapping,
  within: readonly SeenPatients[],
  env: Environment,
  progress: ReferringProgress,
): Predicate {
  // The server's own resources belong to nobody.
  if (within.length === 0 || mapping.source.key.length === 0) return TRUE;
  if (!isBound(mapping)) return env.visibility.rules.referred ? referredWithin(mapping, within, env, progress) : TRUE;
  return and(...within.map(patients => compartment(mapping, patients, env)));
}

/** Returns rows that belong to one of these patients, and in which no list names another patient. */
function compartment(mapping: Mapping, patients: SeenPatients, env: Environment): Predicate {
  const own = ofPatients(mapping, patients, env);
  if (own.kind === 'false' || !env.visibility.rules.shared) return own;
  return and(own, not(ofOthers(mapping, patients, env)));
}

function ofPatients(mapping: Mapping, patients: SeenPatients, env: Environment): Predicate {
  if (patients.kind === 'ids') return inCompartments(mapping, patients.ids, env);
  if (mapping.resource === COMPARTMENT_TYPE) return arePatients(mapping, patients, env);
  return or(...compartmentPaths(mapping).map(path => along(mapping.root, path, leadsTo(patients, env), env) ?? FALSE));
}

/** Returns rows in which an item of a list refers to a patient who is none of these. */
function ofOthers(mapping: Mapping, patients: SeenPatients, env: Environment): Predicate {
  if (mapping.resource === COMPARTMENT_TYPE) return FALSE;
  const listed = nodesBelowEach(mapping.root);
  const leads = leadsTo(patients, env);
  const leaf: Leaf = node =>
    listed.has(node) && isPatientReference(node, env.registry)
      ? and(presentPredicate(node, env), not(leads(node) ?? FALSE))
      : FALSE;
  return or(...compartmentPaths(mapping).map(path => along(mapping.root, path, leaf, env) ?? TRUE));
}

/** Returns the rows of a Patient mapping that the search finds. */
function arePatients(mapping: Mapping, patients: FoundPatients, env: Environment): Predicate {
  return and(...patients.filters.map(filter => filterPredicate(mapping, filter, withoutAccessControl(env)) ?? FALSE));
}

/** True if the reference leads to one of these patients. */
function leadsTo(patients: SeenPatients, env: Environment): Leaf {
  if (patients.kind === 'ids')
    return referenceLeaf(
      patients.ids.map(id => ({ kind: 'reference', type: COMPARTMENT_TYPE, id })),
      env,
    );
  return node => {
    if (!isPatientReference(node, env.registry)) return FALSE;
    const target = env.registry.mapping(node.target);
    const wanted = onceKnown(env, () => {
      const asked = arePatients(target, patients, env);
      return throughLookups(bareRelation(target.source, asked, env), target.name, env);
    });
    return refersToRows(node, target, `${target.name}|within ${patients.key}`, wanted, env);
  };
}

/** How many references from one resource outside of the compartment to another are followed. */
const STEPS = 1;

/** Returns rows that a visible resource of these patients refers to. */
function referredWithin(
  mapping: Mapping,
  within: readonly SeenPatients[],
  env: Environment,
  { before, first }: ReferringProgress,
): Predicate {
  const chain = [...before, mapping];
  const all = referring(mapping, env.registry).filter(
    ({ source }) => !chain.includes(source) && (isBound(source) || chain.length <= STEPS),
  );
  const sources = all.flatMap(one => {
    const seen = visibleWithin(one.source, within, env, { before: chain, first });
    return seen.kind === 'false' ? [] : [{ ...one, where: and(servedPredicate(one.source, env), seen) }];
  });
  const groups = Map.groupBy(sources, ({ source }) => source.group);
  const ofMany = within.some(({ kind }) => kind === 'ids') ? 'before' : 'by index';
  const read: ReadReferring = first ? ofMany : 'for each';
  return joinedInSelects([...groups.values()].map(group => someOfGroup(mapping, group, env, read)));
}

function visibleWithin(
  mapping: Mapping,
  within: readonly SeenPatients[],
  env: Environment,
  progress: ReferringProgress,
): Predicate {
  const permissions = env.visibility.permissions?.get(mapping.resource) ?? [];
  const usable = permissions.filter(({ read, search }) => read || search);
  if (usable.length === 0) return FALSE;
  // The permission's own patients need no second check if they are the same.
  const inside = withinPredicate(mapping, within, env, progress);
  if (inside.kind === 'false') return FALSE;
  const own = usable.map(({ within: others, ...conditional }) => {
    const further = others.filter(other => !within.includes(other) && !within.some(one => isSame(one, other)));
    return and(
      further.length === 0 ? TRUE : withinPredicate(mapping, further, env, progress),
      conditions(mapping, conditional, env),
    );
  });
  return and(inside, or(...own));
}

function isSame(one: SeenPatients, other: SeenPatients): boolean {
  if (one.kind === 'ids') return other.kind === 'ids' && one.ids.join() === other.ids.join();
  return other.kind === 'found' && one.key === other.key;
}

/** References from one mapping to another: their paths and nodes. */
interface Referring {
  readonly source: Mapping;
  readonly paths: readonly SearchPath[];
  readonly nodes: ReadonlySet<RefNode>;
}

const referringTo = memoized((_registry: Registry) => new Map<string, readonly Referring[]>());

/** Finds the references to a mapping's resources, at any element. */
function referring(mapping: Mapping, registry: Registry): readonly Referring[] {
  return getOrInsert(referringTo(registry), mapping.name, () =>
    registry.mappings.flatMap(source => {
      const found = referencesOf(source).filter(({ node }) => node.target === mapping.name);
      const paths = new Map(found.map(({ path }) => [JSON.stringify(path), path]));
      return found.length === 0
        ? []
        : [{ source, paths: [...paths.values()], nodes: new Set(found.map(({ node }) => node)) }];
    }),
  );
}

/** Returns the references of a mapping, with the path to each. */
export function referencesOf({ root }: Mapping): readonly { readonly node: RefNode; readonly path: SearchPath }[] {
  const found: { readonly node: RefNode; readonly path: SearchPath }[] = [];
  const visit = (node: Node, path: SearchPath): void => {
    if (node.kind === 'ref') found.push({ node, path });
    else if (node.kind === 'object') {
      for (const { name, node: child } of node.members.flatMap(namedNodesOf))
        visit(child, [...path, stepTo(node.type, name)]);
    } else for (const child of childrenOf(node)) visit(child, path);
  };
  visit(root, []);
  return found;
}

/** Returns the step to an element. A choice gets its base name and its type. */
function stepTo(type: string, name: string): SearchPath[number] {
  const child = childOf(type, name);
  if (child?.type === undefined || !child.element.choice) return { element: name };
  return { element: child.element.name, type: child.type };
}

/** Returns the nodes below some `each`, which a resource may have several of. */
export const nodesBelowEach = memoized((root: Node): ReadonlySet<Node> => {
  const found = new Set<Node>();
  const visit = (node: Node, below: boolean): void => {
    if (below) found.add(node);
    for (const child of childrenOf(node)) visit(child, below || node.kind === 'each');
  };
  visit(root, false);
  return found;
});
