/**
 * The tables of search parameters, the patient compartment and the profiles, as their JSON files hold them.
 *
 * In: HL7's R4 definitions and guides; needs elements.json to be written. Out: see ../search-parameters.ts and
 * ../profiles.ts. https://hl7.org/fhir/R4/searchparameter.html
 */

import { childOf, elementsOf, isResourceType, resourceTypes } from '../../../src/r4/definitions.ts';
import type { SearchComponent, SearchParameter, SearchPath } from '../../../src/r4/search-parameters.ts';
import { alternativesOf, atValues, compileSteps, endTypes } from './search-steps.ts';
import { type Guide, type Hl7, isUsCore, type SearchParameterSource, type StructureSource } from './sources.ts';

type Stored = Omit<SearchParameter, 'code' | 'url' | 'targets' | 'components'> & {
  readonly url?: string;
  readonly targets?: readonly string[];
  readonly components?: readonly (Omit<SearchComponent, 'type'> & { readonly type: string })[];
};
type ParameterTable = Record<string, Record<string, Stored>>;
interface ProfileRow {
  readonly url: string;
  readonly type: string;
  readonly usCore: string[];
}

/**
 * R4 swaps the expressions of these two components: the target's has the code, and the code's has the target. R5
 * corrects it.
 */
const CROSSED = 'DocumentReference-relationship';

// R4 writes `any` as a list of nearly all types.
const ANY_TARGET = 140;
const URL_BASE = 'http://hl7.org/fhir/SearchParameter/';

/** Returns every parameter of every type: R4's own first, then those of guides, in their order. */
export function searchParameterTable(
  hl7: Hl7,
  guides: readonly Guide[],
): { readonly table: ParameterTable; readonly notCompiled: readonly string[] } {
  const table: ParameterTable = { Resource: {} };
  for (const type of resourceTypes()) table[type] = {};
  const notCompiled: string[] = [];
  const parameters = [...hl7.searchParameters, ...guides.flatMap(guide => guide.searchParameters)];
  const byUrl = new Map(parameters.toReversed().map(parameter => [parameter.url, parameter]));
  for (const parameter of parameters) {
    for (const base of parameter.base) {
      const rows = table[base === 'DomainResource' ? 'Resource' : base];
      if (rows === undefined) throw new Error(`${parameter.url} is for ${base}`);
      if (rows[parameter.code] !== undefined || table['Resource']?.[parameter.code] !== undefined) continue;
      const stored = named(parameter, () => storedParameter(parameter, base, byUrl));
      if (stored !== undefined) rows[parameter.code] = stored;
      for (const part of [stored, ...(stored?.components ?? [])]) {
        if (part?.paths === undefined) notCompiled.push(`${base}.${parameter.code}: ${part?.expression ?? 'none'}`);
      }
    }
  }
  return { table, notCompiled };
}

/** An expression that does not fit R4's types is reported with its parameter. */
function named<T>({ url }: SearchParameterSource, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new Error(`${url}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

function storedParameter(
  parameter: SearchParameterSource,
  base: string,
  byUrl: ReadonlyMap<string, SearchParameterSource>,
): Stored | undefined {
  const written = expressionFor(parameter, base);
  if (written === undefined) return undefined;
  const expression = atValues(written, base);
  const paths = comparesValues(parameter) ? compileSteps(expression, base, [base]) : undefined;
  const id = parameter.url.startsWith(URL_BASE) ? parameter.url.slice(URL_BASE.length) : parameter.url;
  const targets = parameter.type === 'reference' ? targetsOf(parameter, base, paths ?? []) : [];
  const ends = (paths ?? []).flatMap(path => endTypes(path, [base]));
  const expressions = parameter.component?.map(part => part.expression) ?? [];
  if (id === CROSSED) expressions.reverse();
  const components = parameter.component?.map((part, i) => {
    const definition = byUrl.get(part.definition);
    if (definition === undefined) throw new Error(`${parameter.url} has an unknown part ${part.definition}`);
    const partExpression = expressions[i] ?? part.expression;
    const partPaths = compileSteps(partExpression, base, ends);
    return {
      code: definition.code,
      type: definition.type,
      expression: partExpression,
      ...(partPaths && { paths: partPaths }),
    };
  });
  return {
    type: parameter.type as SearchParameter['type'],
    ...(id === `${base}-${parameter.code.replace(/^_/, '')}` ? {} : { url: id }),
    expression,
    ...(paths === undefined ? {} : { paths }),
    ...(targets.length === 0 ? {} : { targets }),
    ...(components === undefined ? {} : { components }),
  };
}

/** Without `phonetic` and `nearby`: the values at the end of their paths do not determine their results. */
function comparesValues({ xpathUsage }: SearchParameterSource): boolean {
  return xpathUsage === undefined || xpathUsage === 'normal';
}

/** The alternatives of a multi-type parameter that begin at this type. */
function expressionFor(parameter: SearchParameterSource, base: string): string | undefined {
  if (parameter.expression === undefined) return undefined;
  if (parameter.base.length === 1) return parameter.expression;
  const own = alternativesOf(parameter.expression).filter(part => new RegExp(`^\\(*${base}\\b`).test(part));
  if (own.length === 0) throw new Error(`${parameter.url} has no expression for ${base}`);
  return own.join(' | ');
}

/** The parameter's target types that the elements at the end of its paths can reference. */
function targetsOf(parameter: SearchParameterSource, base: string, paths: readonly SearchPath[]): readonly string[] {
  const allowed = new Set<string>();
  for (const path of paths) {
    const last = path.at(-1);
    if (last !== undefined && 'resolves' in last) allowed.add(last.resolves);
    else for (const target of elementTargets(path, base)) allowed.add(target);
  }
  const declared = (parameter.target ?? []).filter(isResourceType);
  if (!allowed.has('Resource') && allowed.size > 0) return declared.filter(target => allowed.has(target));
  return declared.length >= ANY_TARGET ? [] : declared;
}

function elementTargets(path: SearchPath, base: string): readonly string[] {
  const elements = path.filter(step => 'element' in step);
  const last = elements.at(-1);
  if (last === undefined) return [];
  const owners = endTypes(elements.slice(0, -1), [base]);
  return owners.flatMap(owner => {
    const element = childOf(owner, last.element)?.element;
    if (element === undefined || !element.types.includes('Reference')) return ['Resource'];
    return element.targets.length === 0 ? ['Resource'] : element.targets;
  });
}

/** Type to the codes of the parameters that link it to a patient; each must be a reference parameter. */
export function patientCompartment(hl7: Hl7, table: ParameterTable): Record<string, readonly string[]> {
  const compartment: Record<string, readonly string[]> = {};
  for (const { code: type, param } of hl7.patientCompartment.resource) {
    if (param === undefined || param.length === 0) continue;
    for (const code of param) {
      if (table[type]?.[code]?.type !== 'reference') throw new Error(`${type} has no reference parameter ${code}`);
    }
    compartment[type] = param;
  }
  return compartment;
}

/** Short name to profile: R4's own and those of guides, with the US Core releases that have it. */
export function profileTable(hl7: Hl7, guides: readonly Guide[]): Record<string, ProfileRow> {
  const table: Record<string, ProfileRow> = {};
  const add = (profile: StructureSource): ProfileRow => {
    const row = table[profile.id] ?? { url: profile.url, type: profile.type, usCore: [] };
    table[profile.id] = row;
    if (row.url !== profile.url) throw new Error(`${profile.id} names both ${row.url} and ${profile.url}`);
    if (profile.type !== 'Extension' && elementsOf(profile.type).length === 0) throw new Error(`type of ${profile.id}`);
    return row;
  };
  for (const profile of hl7.profiles) add(profile);
  for (const guide of guides) {
    for (const profile of guide.profiles) {
      const { usCore } = add(profile);
      if (isUsCore(guide)) usCore.unshift(guide.version);
    }
  }
  return table;
}
