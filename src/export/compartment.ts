/**
 * Finds types with patients' data, and the rows of some patients. In: a mapping and members. Out: a predicate. A type
 * belongs to patients by R4's compartment, by a reference to a Patient that is a search parameter (an implanted
 * Device), or by a reference to a type that does (a Binary, by its security context). Resources of other types are
 * exported only if an exported resource refers to them.
 * docs/decisions/0020-exports-by-compartment.md, https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 */
import type { Mapping, RefNode, Registry } from '../mapping/model.ts';
import { nodesBelowEach, referencesOf } from '../plan/access.ts';
import { isPatientReference } from '../plan/compartment.ts';
import { type Environment, environment } from '../plan/environment.ts';
import { idsByForm, idsPredicate } from '../plan/identity.ts';
import { presentPredicate } from '../plan/presence.ts';
import { refersToRows } from '../plan/reference.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { along } from '../plan/walk.ts';
import {
  COMPARTMENT_TYPE,
  patientCompartmentOf,
  type SearchPath,
  searchParametersOf,
} from '../r4/search-parameters.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { FALSE, or, some, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';

/** Ids of a chunk of members, with a `key` unique to the chunk; `every`: all patients that are served. */
export type Members = { readonly key: string; readonly ids: readonly string[] } | 'every';

/** True if resources of this type belong to patients. */
export function isBound(type: string, registry: Registry): boolean {
  return isDirectlyBound(type, registry) || isLedBy(type, registry);
}

function isDirectlyBound(type: string, registry: Registry): boolean {
  if (type === COMPARTMENT_TYPE || patientCompartmentOf(type).length > 0) return true;
  const env = environment(registry, 0, FULL_VISIBILITY);
  return registry.ofType(type).some(mapping => patientReferences(mapping, env).length > 0);
}

/** True if resources of this type belong to patients only through a reference to a bound type. */
function isLedBy(type: string, registry: Registry): boolean {
  return registry.ofType(type).some(mapping => ledBy(mapping, registry).length > 0);
}

interface Leading {
  readonly path: SearchPath;
  readonly target: Mapping;
}

/** Finds a mapping's references to other, directly bound types, with the paths of their elements. */
function ledBy(mapping: Mapping, registry: Registry): readonly Leading[] {
  return referencesOf(mapping)
    .map(({ node, path }) => ({ path, target: registry.mapping(node.target) }))
    .filter(({ target }) => target.resource !== mapping.resource && isDirectlyBound(target.resource, registry));
}

/** True if a resource of this type can belong to several patients at once. */
export function isShared(type: string, registry: Registry): boolean {
  if (type === COMPARTMENT_TYPE) return false;
  const env = environment(registry, 0, FULL_VISIBILITY);
  return registry.ofType(type).some(mapping => {
    const nodes = patientReferences(mapping, env);
    return nodes.length > 1 || nodes.some(node => nodesBelowEach(mapping.root).has(node));
  });
}

/** Selects the rows of the members; undefined if SQL cannot express a reference. */
export function membersPredicate(mapping: Mapping, members: Members, env: Environment): Predicate | undefined {
  if (mapping.resource === COMPARTMENT_TYPE) {
    return members === 'every' ? TRUE : idsPredicate(mapping, members.ids, env);
  }
  const leaf: Leaf = node => {
    if (!isPatientReference(node, env.registry)) return FALSE;
    if (members === 'every') return presentPredicate(node, env);
    const target = env.registry.mapping(node.target);
    const wanted = or(...idsByForm(target, members.ids, env));
    return refersToRows(node, target, `export ${target.name}|${members.key}`, wanted, env);
  };
  if (isDirectlyBound(mapping.resource, env.registry)) {
    return some(pathsOf(mapping.resource).map(path => along(mapping.root, path, leaf, env)));
  }
  return some(
    ledBy(mapping, env.registry).map(({ path, target }) => {
      const wanted = membersPredicate(target, members, env);
      const leads: Leaf = node => {
        if (node.kind !== 'ref' || node.target !== target.name || !wanted) return FALSE;
        if (members === 'every') return presentPredicate(node, env);
        return refersToRows(node, target, `export ${target.name}|${members.key}`, wanted, env);
      };
      return wanted && along(mapping.root, path, leads, env);
    }),
  );
}

function pathsOf(type: string): readonly SearchPath[] {
  const codes = patientCompartmentOf(type);
  return searchParametersOf(type)
    .filter(({ code, type: kind }) => kind === 'reference' && (codes.length === 0 || codes.includes(code)))
    .flatMap(({ paths }) => paths ?? []);
}

function patientReferences(mapping: Mapping, env: Environment): readonly RefNode[] {
  const found = new Set<RefNode>();
  const see: Leaf = node => {
    if (isPatientReference(node, env.registry)) found.add(node);
    return TRUE;
  };
  for (const path of pathsOf(mapping.resource)) along(mapping.root, path, see, env);
  return [...found];
}
