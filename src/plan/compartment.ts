/**
 * Finds the patients that the rows of a mapping belong to. In: a mapping. Out: whether its resources belong to
 * patients, by which references, and the predicate for the rows of one patient.
 * https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 */
import type { Mapping, Node, RefNode, Registry } from '../mapping/model.ts';
import { COMPARTMENT_TYPE, patientCompartmentOf, type SearchPath, searchParameterOf } from '../r4/search-parameters.ts';
import { FALSE, or } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Environment } from './environment.ts';
import { idsPredicate } from './identity.ts';
import { referenceLeaf } from './reference.ts';
import { along } from './walk.ts';

/** The parameter used for types that the definition of the compartment leaves out, as R4's leaves out Device. */
const PATIENT = 'patient';

/**
 * Returns the codes of the reference parameters that link a type to patients. If none, its resources belong to nobody.
 */
export function compartmentCodes(type: string): readonly string[] {
  const codes = patientCompartmentOf(type);
  return codes.length === 0 && searchParameterOf(type, PATIENT) ? [PATIENT] : codes;
}

/** Returns the paths to the references that link a mapping's resources to patients. */
export function compartmentPaths({ resource }: Mapping): readonly SearchPath[] {
  return compartmentCodes(resource).flatMap(code => searchParameterOf(resource, code)?.paths ?? []);
}

/** True if resources of the mapping belong to patients. */
export function isBound({ resource, outside }: Mapping): boolean {
  return outside === undefined && (resource === COMPARTMENT_TYPE || compartmentCodes(resource).length > 0);
}

/** Returns the rows in the compartments of these patients (logical ids, or their placeholder names). */
export function inCompartments(mapping: Mapping, ids: readonly string[], env: Environment): Predicate {
  if (!isBound(mapping)) return FALSE;
  if (mapping.resource === COMPARTMENT_TYPE) return idsPredicate(mapping, ids, env);
  const leaf = referenceLeaf(
    ids.map(id => ({ kind: 'reference', type: COMPARTMENT_TYPE, id })),
    env,
  );
  return or(...compartmentPaths(mapping).map(path => along(mapping.root, path, leaf, env) ?? FALSE));
}

/** True if the node is a reference to a patient. */
export function isPatientReference(node: Node, registry: Registry): node is RefNode {
  return node.kind === 'ref' && registry.mapping(node.target).resource === COMPARTMENT_TYPE;
}
