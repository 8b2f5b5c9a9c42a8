/**
 * Adds a caller's access to every plan, as a predicate: whatever is matched, counted, chained through or included. In:
 * a mapping, the action, and the environment with the caller's sight. Out: a Predicate that holds for the rows whose
 * resource the caller may see. What no permission names is refused.
 * https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 */
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
import { onceKnown } from './key.ts';
import { presentPredicate, servedPredicate } from './presence.ts';
import { referenceLeaf, refersToRows } from './reference.ts';
import { type ReadReferring, someOfGroup } from './referring.ts';
import { type Action, OPEN_SIGHT, permissionsOf, type Rows, type SeenPatients, type SeenPermission } from './sight.ts';
import { togetherTaken } from './taken.ts';
import { throughLookups } from './through-lookups.ts';
import { along } from './walk.ts';

/** The rows of a mapping that the caller may see. */
export function accessPredicate(
  mapping: Mapping,
  action: Action,
  env: Environment,
  { referred = false, few = action === 'read' }: Rows = {},
): Predicate {
  const permissions = permissionsOf(env.sight, mapping.resource, action);
  if (permissions === undefined) return TRUE;
  const known = referred && env.sight.uniform && !isBound(mapping);
  const going: Going = { before: [], first: !few };
  return or(
    ...permissions.map(({ within, ...conditional }) => {
      const patients = known ? TRUE : withinPredicate(mapping, within, env, going);
      return patients.kind === 'false' ? FALSE : and(patients, conditions(mapping, conditional, env));
    }),
  );
}

type FoundPatients = SeenPatients & { readonly kind: 'found' };

/** What a scope or a rule asks is asked of all there is, not of what its holder may see. */
function openly(env: Environment): Environment {
  return Object.create(env, { sight: { value: OPEN_SIGHT } });
}

type Conditional = Pick<SeenPermission, 'where' | 'except'>;

function conditions(mapping: Mapping, { where, except }: Conditional, env: Environment): Predicate {
  const { rules } = env.sight;
  const open = openly(env);
  const required = rules.conditions ? where.map(filter => filterPredicate(mapping, filter, open) ?? FALSE) : [];
  // Where nobody can tell whether a resource has the label, it counts as having it.
  const hidden = rules.labels ? except.map(filter => filterPredicate(mapping, filter, open) ?? TRUE) : [];
  return and(...required, ...hidden.map(not));
}

/** How rows outside of the compartment are come upon. */
interface Going {
  /** Mappings outside of the compartment to whose rows this one's refer. */
  readonly before: readonly Mapping[];
  /** Many rows may have to be told apart: of patients who are named their records are read first, and once. */
  readonly first: boolean;
}

/**
 * Rows that belong to patients who are in all of these; of a mapping that belongs to none, those that such rows refer
 * to.
 */
function withinPredicate(mapping: Mapping, within: readonly SeenPatients[], env: Environment, going: Going): Predicate {
  // The server's own resources are nobody's.
  if (within.length === 0 || mapping.source.key.length === 0) return TRUE;
  if (!isBound(mapping)) return env.sight.rules.referred ? referredWithin(mapping, within, env, going) : TRUE;
  return and(...within.map(patients => compartment(mapping, patients, env)));
}

/** Rows that belong to some of these patients, and to nobody else who is listed beside them. */
function compartment(mapping: Mapping, patients: SeenPatients, env: Environment): Predicate {
  const own = ofPatients(mapping, patients, env);
  if (own.kind === 'false' || !env.sight.rules.shared) return own;
  return and(own, not(ofOthers(mapping, patients, env)));
}

function ofPatients(mapping: Mapping, patients: SeenPatients, env: Environment): Predicate {
  if (patients.kind === 'ids') return inCompartments(mapping, patients.ids, env);
  if (mapping.resource === COMPARTMENT_TYPE) return arePatients(mapping, patients, env);
  return or(...compartmentPaths(mapping).map(path => along(mapping.root, path, leadsTo(patients, env), env) ?? FALSE));
}

/** Rows of which an item of a list refers to a patient who is none of these. */
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

/** Rows of a mapping of patients that a search finds. */
function arePatients(mapping: Mapping, patients: FoundPatients, env: Environment): Predicate {
  return and(...patients.filters.map(filter => filterPredicate(mapping, filter, openly(env)) ?? FALSE));
}

/** The reference leads to one of these patients. */
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

/** References from outside of the compartment on to others outside of it are gone along so many times. */
const STEPS = 1;

/** Rows that something refers to which the caller may see, and which belongs to these patients. */
function referredWithin(
  mapping: Mapping,
  within: readonly SeenPatients[],
  env: Environment,
  { before, first }: Going,
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
  return togetherTaken([...groups.values()].map(group => someOfGroup(mapping, group, env, read)));
}

function visibleWithin(mapping: Mapping, within: readonly SeenPatients[], env: Environment, going: Going): Predicate {
  const permissions = env.sight.permissions?.get(mapping.resource) ?? [];
  const usable = permissions.filter(({ read, search }) => read || search);
  if (usable.length === 0) return FALSE;
  // A permission that asks for the same patients is not asked for them again.
  const inside = withinPredicate(mapping, within, env, going);
  if (inside.kind === 'false') return FALSE;
  const own = usable.map(({ within: others, ...conditional }) => {
    const further = others.filter(other => !within.includes(other) && !within.some(one => isSame(one, other)));
    return and(
      further.length === 0 ? TRUE : withinPredicate(mapping, further, env, going),
      conditions(mapping, conditional, env),
    );
  });
  return and(inside, or(...own));
}

function isSame(one: SeenPatients, other: SeenPatients): boolean {
  if (one.kind === 'ids') return other.kind === 'ids' && one.ids.join() === other.ids.join();
  return other.kind === 'found' && one.key === other.key;
}

/** References from one mapping to another: the elements in which they stand, and their nodes. */
interface Referring {
  readonly source: Mapping;
  readonly paths: readonly SearchPath[];
  readonly nodes: ReadonlySet<RefNode>;
}

const referringTo = new WeakMap<Registry, Map<string, readonly Referring[]>>();

/** What refers to the mapping's resources, from wherever in a resource. */
function referring(mapping: Mapping, registry: Registry): readonly Referring[] {
  const known = referringTo.get(registry) ?? new Map<string, readonly Referring[]>();
  referringTo.set(registry, known);
  const kept = known.get(mapping.name);
  if (kept !== undefined) return kept;
  const made = registry.mappings.flatMap(source => {
    const found = referencesOf(source).filter(({ node }) => node.target === mapping.name);
    const paths = new Map(found.map(({ path }) => [JSON.stringify(path), path]));
    return found.length === 0
      ? []
      : [{ source, paths: [...paths.values()], nodes: new Set(found.map(({ node }) => node)) }];
  });
  known.set(mapping.name, made);
  return made;
}

/** The references of a mapping, with the elements that lead to each. */
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

/** A choice is named by its base name, with its type. */
function stepTo(type: string, name: string): SearchPath[number] {
  const child = childOf(type, name);
  if (child?.type === undefined || !child.element.choice) return { element: name };
  return { element: child.element.name, type: child.type };
}

const repeatedIn = new WeakMap<Node, ReadonlySet<Node>>();

/** The nodes below some `each`: of them a resource may have several. */
export function nodesBelowEach(root: Node): ReadonlySet<Node> {
  const known = repeatedIn.get(root);
  if (known) return known;
  const found = new Set<Node>();
  const visit = (node: Node, below: boolean): void => {
    if (below) found.add(node);
    for (const child of childrenOf(node)) visit(child, below || node.kind === 'each');
  };
  visit(root, false);
  repeatedIn.set(root, found);
  return found;
}
