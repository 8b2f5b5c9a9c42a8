/**
 * Runs the FHIRPath engine with the R4 model; for `check` and tests only. In: an expression. Out: a function from a
 * resource to the selected values.
 * https://hl7.org/fhir/R4/fhirpath.html
 */

import fhirpath, { type Model } from 'fhirpath';
import r4Model from 'fhirpath/fhir-context/r4/index.js';

/**
 * Returns what an expression selects in a resource, or in a part of type `base`; `variables`, such as `resource`, by
 * name.
 */
export type Path = (value: object, variables?: Readonly<Record<string, unknown>>) => readonly unknown[];

/** Compiles an expression; with `base`, for values that are at that element ('Quantity', 'Observation.component'). */
export function compilePath(expression: string, base?: string): Path {
  const path = base === undefined ? expression : { base, expression };
  const compiled = fhirpath.compile(path, r4Model as Model, { async: false });
  // A copy, because the engine writes type information into its input.
  return (value, variables = {}) => compiled(structuredClone(value), { ...variables });
}
