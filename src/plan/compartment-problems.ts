/**
 * Checks that each mapping with patients' data says which patient they belong to. Otherwise a caller who may see only
 * some patients could not see its resources at all. In: a registry. Out: problems at the mappings.
 * https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 */
import { childrenOf, referencesIn } from '../mapping/children.ts';
import type { Mapping, Node, Position, Registry, Scope } from '../mapping/model.ts';
import { COMPARTMENT_TYPE, searchParameterOf } from '../r4/search-parameters.ts';
import { compartmentCodes, isBound, isPatientReference } from './compartment.ts';
import { type Environment, environment } from './environment.ts';
import { leavesOf } from './offers.ts';
import { FULL_VISIBILITY } from './visibility.ts';

export interface CompartmentProblem {
  readonly at: Position;
  readonly message: string;
  readonly expected: string;
  readonly found?: string;
}

const INSTEAD = '`compartment: { none: … }` with the reason why its resources belong to no patient';

export function compartmentProblems(registry: Registry): readonly CompartmentProblem[] {
  const env = environment(registry, 0, FULL_VISIBILITY);
  const places = new Map<string, CompartmentProblem>();
  const owners = ownersOfTables(registry);
  for (const mapping of registry.mappings) {
    const problem = contradiction(mapping, env) ?? withoutPath(mapping, env) ?? touching(mapping, owners, registry);
    // Variants of one document share a position.
    if (problem) places.set(`${problem.message} ${JSON.stringify(problem.at)}`, problem);
  }
  return [...places.values()];
}

/** Reports a type of the compartment whose references to patients are not mapped. */
function withoutPath(mapping: Mapping, env: Environment): CompartmentProblem | undefined {
  const { resource, at } = mapping;
  if (!isBound(mapping) || resource === COMPARTMENT_TYPE || namesPatients(mapping, env)) return undefined;
  const codes = compartmentCodes(resource);
  const names = codes.length === 1 ? codes.join() : `one of ${codes.join(', ')}`;
  return {
    at,
    message: `${resource} resources belong to patients, and this mapping has no reference to the patient`,
    expected: `a reference to a mapping of ${COMPARTMENT_TYPE} where FHIR searches ${names}; or ${INSTEAD}`,
  };
}

/** Reports a mapping with `compartment: none` whose resources refer to a patient. */
function contradiction(mapping: Mapping, env: Environment): CompartmentProblem | undefined {
  const { resource, outside, at } = mapping;
  if (outside === undefined) return undefined;
  if (resource !== COMPARTMENT_TYPE && !namesPatients(mapping, env)) return undefined;
  return {
    at,
    message: 'the mapping declares `compartment: none`, and its resources refer to their patient',
    expected: 'one of the two',
  };
}

/** True if a reference that puts resources of this type into a compartment leads to a patient. */
function namesPatients(mapping: Mapping, env: Environment): boolean {
  return compartmentCodes(mapping.resource).some(code => {
    const parameter = searchParameterOf(mapping.resource, code);
    return parameter && leavesOf(mapping, parameter, env).some(node => isPatientReference(node, env.registry));
  });
}

/** Reports a type outside of the compartment that is made of patients' rows or refers to a resource of a patient. */
function touching(
  mapping: Mapping,
  owners: ReadonlyMap<string, Mapping>,
  registry: Registry,
): CompartmentProblem | undefined {
  const { resource, root, source, outside, at } = mapping;
  if (outside !== undefined || isBound(mapping)) return undefined;
  const message = `${resource} resources belong to no patient, but these use patient data`;
  for (const table of tablesOf(source, root)) {
    const owner = owners.get(table.toLowerCase());
    if (owner) return { at, message, expected: INSTEAD, found: `table ${table}, of which ${owner.name} is made` };
  }
  const [into] = referencesIn(root)
    .map(({ target }) => registry.mapping(target))
    .filter(isBound);
  return into && { at, message, expected: INSTEAD, found: `a reference to ${into.name}` };
}

/** Returns the tables whose rows are resources of patients, by their names in lower case. */
function ownersOfTables({ mappings }: Registry): ReadonlyMap<string, Mapping> {
  const owners = new Map<string, Mapping>();
  for (const mapping of mappings) {
    const name = mapping.source.table.name.toLowerCase();
    if (isBound(mapping) && !owners.has(name)) owners.set(name, mapping);
  }
  return owners;
}

/** Returns the tables whose columns a resource may use: of its rows, their lookups and child rows. */
function tablesOf(source: Scope, root: Node): readonly string[] {
  const own = (scope: Scope): readonly string[] => [scope.table.name, ...scope.lookups.map(({ table }) => table.name)];
  const visit = (node: Node): readonly string[] => [
    ...(node.kind === 'each' && node.from.kind === 'rows' ? own(node.from.scope) : []),
    ...childrenOf(node).flatMap(visit),
  ];
  return [...own(source), ...visit(root)];
}
