/**
 * FHIR R4 search parameters by resource type, and the patient compartment.
 *
 * In: `search-parameters.json` and `patient-compartment.json`, written by tools/r4/generate.ts from the HL7 R4 (4.0.1)
 * definitions and, for codes that R4 does not have, from US Core. Out: read-only look-ups.
 * https://hl7.org/fhir/R4/searchparameter-registry.html, https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 *
 *   searchParametersOf(type): readonly SearchParameter[]          own ones, then `_id`, `_lastUpdated`, `_profile` …
 *   searchParameterOf(type, code): SearchParameter|undefined
 *   patientCompartmentOf(type): readonly string[]                 parameter codes; empty: not in the compartment
 */

import { readBeside } from './read-beside.ts';

export type SearchParameterType =
  | 'number'
  | 'date'
  | 'string'
  | 'token'
  | 'reference'
  | 'composite'
  | 'quantity'
  | 'uri'
  | 'special';

/**
 * One step of a compiled expression, from a set of values to the next one.
 * - element: to the child elements of that name; `type` keeps one type of a choice, without it every type is kept.
 *   A choice is always named by its base name.
 * - where: keeps values whose child `element` equals a text.
 * - resolves: keeps references to that resource type.
 * - exists: a boolean: whether there is a value, and one other than `except`.
 */
export type SearchStep =
  | { readonly element: string; readonly type?: string }
  | { readonly where: { readonly element: string; readonly equals: string } }
  | { readonly resolves: string }
  | { readonly exists: { readonly except: string } };

/** Steps from the resource (or from the value of a composite) to the searched value. */
export type SearchPath = readonly SearchStep[];

/** One part of a composite parameter; its paths begin at each value of the composite's own paths. */
export interface SearchComponent {
  /** Code of the parameter that defines the part's type. */
  readonly code: string;
  readonly type: SearchParameterType;
  readonly expression: string;
  /** Absent if the expression does not begin at the composite's value. */
  readonly paths?: readonly SearchPath[];
}

/** A search parameter as it applies to one resource type. */
export interface SearchParameter {
  readonly code: string;
  readonly type: SearchParameterType;
  /** Canonical address of its definition. */
  readonly url: string;
  /** FHIRPath, reduced to the alternatives of this resource type. */
  readonly expression: string;
  /** The expression as alternatives of steps; absent if it cannot be written so. */
  readonly paths?: readonly SearchPath[];
  /** Resource types that a reference parameter may lead to here; empty: any type, or not a reference. */
  readonly targets: readonly string[];
  /** Only for composites. */
  readonly components?: readonly SearchComponent[];
}

/** A parameter in the file: without empty `targets`, and without a URL that follows from type and code. */
type StoredParameter = Omit<SearchParameter, 'code' | 'url' | 'targets'> & {
  readonly url?: string;
  readonly targets?: readonly string[];
};

const URL_BASE = 'http://hl7.org/fhir/SearchParameter/';

const table: Readonly<Record<string, Readonly<Record<string, StoredParameter>>>> = readBeside(
  import.meta.url,
  './search-parameters.json',
);
const compartment: Readonly<Record<string, readonly string[]>> = readBeside(
  import.meta.url,
  './patient-compartment.json',
);
const parametersByType = new Map<string, ReadonlyMap<string, SearchParameter>>();

function parametersByCode(type: string): ReadonlyMap<string, SearchParameter> {
  const known = parametersByType.get(type);
  if (known !== undefined) return known;
  const byCode = new Map<string, SearchParameter>();
  const own = Object.hasOwn(table, type) ? table[type] : undefined;
  if (own === undefined) return byCode;
  for (const [base, stored] of [[type, own] as const, ['Resource', table['Resource'] ?? {}] as const]) {
    for (const [code, { url, ...parameter }] of Object.entries(stored)) {
      const id = url ?? `${base}-${code.replace(/^_/, '')}`;
      byCode.set(code, { targets: [], ...parameter, code, url: id.includes(':') ? id : URL_BASE + id });
    }
  }
  parametersByType.set(type, byCode);
  return byCode;
}

/** Returns every parameter of a resource type, those of all resources last; an unknown type has none. */
export function searchParametersOf(type: string): readonly SearchParameter[] {
  return [...parametersByCode(type).values()];
}

/** Returns the parameter of that code on a resource type. */
export function searchParameterOf(type: string, code: string): SearchParameter | undefined {
  return parametersByCode(type).get(code);
}

/**
 * Returns the codes of the reference parameters that put a resource of this type into a patient's compartment; none: it
 * is never in one. A Patient is also in its own compartment, without a parameter.
 */
export function patientCompartmentOf(type: string): readonly string[] {
  return Object.hasOwn(compartment, type) ? (compartment[type] ?? []) : [];
}

/** The resource type whose instances have the patient compartments. */
export const COMPARTMENT_TYPE = 'Patient';
