/**
 * A caller's access as a predicate: the patient compartment is part of every plan.
 * https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 */
import type { Access } from '../auth/access.ts';
import type { Mapping } from '../mapping/model.ts';
import { COMPARTMENT_TYPE, patientCompartmentOf, searchParameterOf } from '../r4/search-parameters.ts';
import { FALSE, or, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Environment } from './environment.ts';
import { valuePredicate } from './filter.ts';
import { idPredicate } from './identity.ts';

/** The parameter that names a patient where the definition of the compartment forgets a type, as R4's does Device. */
const PATIENT = 'patient';

/** Codes of the reference parameters that bind a type to patients; none: its resources are nobody's. */
export function compartmentCodes(type: string): readonly string[] {
  const codes = patientCompartmentOf(type);
  return codes.length === 0 && searchParameterOf(type, PATIENT) ? [PATIENT] : codes;
}

/** The rows of a mapping that a caller may see. */
export function accessPredicate(mapping: Mapping, access: Access, env: Environment): Predicate {
  if (access.kind === 'all') return TRUE;
  if (mapping.resource === COMPARTMENT_TYPE) return or(...access.patients.map(id => idPredicate(mapping, id, env)));
  const codes = compartmentCodes(mapping.resource);
  if (codes.length === 0) return TRUE;
  return or(
    ...codes.flatMap(code => {
      const parameter = searchParameterOf(mapping.resource, code);
      if (!parameter) return [];
      return access.patients.map(
        id =>
          valuePredicate(mapping, parameter, { kind: 'reference', type: COMPARTMENT_TYPE, id }, undefined, env) ??
          FALSE,
      );
    }),
  );
}
