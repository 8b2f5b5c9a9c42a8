/**
 * Reduces a StructureDefinition to what it says beyond the R4 element tables.
 *
 * In: structures with snapshots. Out: Facts (facts.ts). https://hl7.org/fhir/R4/elementdefinition.html
 */

import { childOf, type ElementDefinition, isPrimitive } from '../../../src/r4/definitions.ts';
import type { Discriminator, Facts } from '../../../src/validation/facts.ts';
import type { ElementSource, StructureSource } from '../../r4/generate/sources.ts';

/** Facts while they are collected. */
interface Node {
  /** Type path of the element, for its children. */
  type: string | undefined;
  own: Record<string, unknown>;
  slices: Map<string, Node>;
  children: Map<string, Node>;
}

const STRUCTURE_BASE = 'http://hl7.org/fhir/StructureDefinition/';
const SIMPLE_QUANTITY = {
  key: 'sqty-1',
  severity: 'error',
  text: 'comparator.empty()',
  human: 'The comparator is not used on a SimpleQuantity',
};
/** Severity of an invariant to the member of Facts that holds it. */
const KINDS = { error: 'constraints', warning: 'advice' } as const;
// `resolve() is Patient` can be judged by the reference; no other property of the target can.
const NEEDS_A_SERVER = /resolve\(\)(?! is)|memberOf\(|htmlChecks\(/;
// US Core 3.1.1 recommends an NDC code, but its expression forbids it.
const INVERTED = /^(\w+\.)?coding\.where\(system='http:\/\/hl7\.org\/fhir\/sid\/ndc'\)\.empty\(\)$/;
const IN_CATEGORIES = "category.coding.where(code='problem-list-item')";
/**
 * Invariants that the validator checks in its own way (ele-1, ref-1), that need a narrative parser (txt-1, txt-2), that
 * are only about contained resources being used (dom-3), or that ask for a narrative, which a facade does not write
 * (dom-6).
 */
const NOT_EVALUATED: ReadonlySet<string> = new Set(['ele-1', 'ref-1', 'txt-1', 'txt-2', 'dom-3', 'dom-6']);

/** A function from a structure to its facts; `types` are R4's own, `profiles` are all that a reference may name. */
export function factExtractor(
  types: readonly StructureSource[],
  profiles: readonly StructureSource[],
): (structure: StructureSource, version: string) => Facts {
  const invariantsOfTypes = new Map<string, Set<string>>();
  for (const { snapshot } of types) {
    for (const { path, constraint } of snapshot.element) {
      invariantsOfTypes.set(path.replace('[x]', ''), new Set(constraint?.map(({ key }) => key)));
    }
  }
  const typeOfProfile = new Map(profiles.map(profile => [profile.url, profile.type]));

  return (structure, version) => {
    const isBaseType = structure.derivation !== 'constraint';
    const base = structure.baseDefinition?.slice(STRUCTURE_BASE.length);
    const inherited = (element: ElementSource, definition: ElementDefinition | undefined, key: string): boolean => {
      const path = element.path.replaceAll('[x]', '');
      const places = (element.type ?? []).map(type => type.code);
      // A type has its own invariants; a profile's are inherited.
      if (!isBaseType) places.push(path, definition?.path ?? path);
      else if (!path.includes('.')) places.push(...(base === undefined ? [] : [base]));
      else if (definition !== undefined && definition.path !== path) places.push(definition.path);
      return places.some(place => invariantsOfTypes.get(place)?.has(key));
    };

    const root: Node = { type: structure.type, own: {}, slices: new Map(), children: new Map() };
    for (const element of structure.snapshot.element) {
      const place = locate(root, element, structure);
      if (place === undefined) continue;
      const definition = place.definition;
      if (!isBaseType) {
        const said = profiled(element, definition, place.isSlice, typeOfProfile);
        // US Core's value sets differ between its versions.
        const binding = said.binding?.includes('/us/core/') ? `${said.binding}|${version}` : said.binding;
        Object.assign(place.node.own, said, binding === undefined ? {} : { binding });
      }
      const constraints = (element.constraint ?? []).filter(
        ({ key }) => !NOT_EVALUATED.has(key) && !inherited(element, definition, key),
      );
      const invariants = constraints.flatMap(({ key, severity, expression, human }) =>
        expression && !NEEDS_A_SERVER.test(expression) && !INVERTED.test(expression)
          ? [{ key, severity, text: repaired(expression), human }]
          : [],
      );
      const isSimple = element.type?.some(type => type.profile?.includes(`${STRUCTURE_BASE}SimpleQuantity`));
      if (isBaseType && isSimple === true) invariants.push(SIMPLE_QUANTITY);
      for (const [severity, kind] of Object.entries(KINDS)) {
        const own = invariants.filter(invariant => invariant.severity === severity);
        if (own.length > 0) {
          place.node.own[kind] = Object.fromEntries(own.map(({ key, text, human }) => [key, [text, human ?? key]]));
        }
      }
    }
    return prune(root) ?? {};
  };
}

/** Returns the node of an element's id, and creates it with its ancestors; undefined for the value of a primitive. */
function locate(root: Node, element: ElementSource, structure: StructureSource) {
  let node = root;
  let definition: ElementDefinition | undefined;
  let isSlice = false;
  for (const segment of (element.id ?? element.path).split('.').slice(1)) {
    const [written = '', slice] = segment.split(':');
    if (node.type !== undefined && isPrimitive(node.type) && written === 'value') return undefined;
    const child = node.type === undefined ? undefined : childOf(node.type, written.replace('[x]', ''));
    definition = child?.element;
    const name = definition?.name ?? written.replace('[x]', '');
    node = getOrMake(node.children, name, child?.type);
    isSlice = slice !== undefined || (definition?.choice === true && name !== written.replace('[x]', ''));
    if (!isSlice) continue;
    // An older notation for the slice of a choice: `valueQuantity` for `value[x]:valueQuantity`.
    if (slice === undefined) node.own['discriminators'] = [{ type: 'type', path: '$this' }];
    node = getOrMake(node.slices, slice ?? written, child?.type);
  }
  const types = element.type ?? [];
  if (node.type === undefined && types.length === 1) node.type = types[0]?.code;
  if (definition === undefined && node !== root) throw new Error(`${structure.id}: ${element.id} is not in R4`);
  return { node, definition, isSlice };
}

function getOrMake(nodes: Map<string, Node>, name: string, type: string | undefined): Node {
  const node = nodes.get(name) ?? { type, own: {}, slices: new Map(), children: new Map() };
  nodes.set(name, node);
  return node;
}

/** Facts of a profile's element beyond its R4 definition. */
function profiled(
  element: ElementSource,
  definition: ElementDefinition | undefined,
  isSlice: boolean,
  typeOfProfile: ReadonlyMap<string, string>,
): Facts {
  if (definition === undefined) return {};
  const min = element.min ?? 0;
  const maxIsNew = isSlice ? definition.max === '*' || element.max === '0' : element.max !== definition.max;
  const types = (element.type ?? []).map(type => type.code);
  const narrows = definition.choice && (isSlice || types.length < definition.types.length);
  const targets = targetsOf(element, typeOfProfile);
  const extension = element.type?.find(type => type.code === 'Extension')?.profile?.[0];
  const binding = element.binding?.strength === 'required' ? element.binding.valueSet?.replace(/\|.*$/, '') : undefined;
  const values = Object.entries(element).flatMap(([key, value]) => {
    const kind = /^(fixed|pattern)[A-Z]/.exec(key)?.[1];
    return kind === undefined ? [] : [[kind, value]];
  });
  const discriminators: readonly Discriminator[] = element.slicing?.discriminator ?? [];
  return {
    ...(min > (isSlice ? 0 : definition.min) ? { min } : {}),
    ...(element.max !== undefined && element.max !== '*' && maxIsNew ? { max: Number(element.max) } : {}),
    ...(narrows ? { types } : {}),
    ...(targets !== undefined && !sameNames(targets, definition.targets) ? { targets } : {}),
    ...(extension === undefined ? {} : { extension: extension.replace(/\|.*$/, '') }),
    ...(binding === undefined || binding === definition.requiredBinding ? {} : { binding }),
    ...(discriminators.length === 0 ? {} : { discriminators }),
    ...(element.slicing?.rules === 'closed' ? { closed: true } : {}),
    ...Object.fromEntries(values),
  };
}

function targetsOf(element: ElementSource, typeOfProfile: ReadonlyMap<string, string>): readonly string[] | undefined {
  const urls = element.type?.find(type => type.code === 'Reference')?.targetProfile;
  if (urls === undefined) return undefined;
  const targets = urls.map(url => typeOfProfile.get(url.replace(/\|.*$/, '')) ?? url.slice(STRUCTURE_BASE.length));
  return targets.includes('Resource') ? undefined : [...new Set(targets)];
}

/**
 * An invariant without the engine's trace output, and with corrections to some of US Core's: `telecom or endpoint` must
 * be `telecom.exists() or endpoint.exists()` in FHIRPath. R4 compares a CodeableConcept with a text (con-3).
 */
function repaired(expression: string): string {
  const inCategories = expression.replace("category.select($this='problem-list-item')", IN_CATEGORIES);
  if (inCategories !== expression) return inCategories;
  if (/^\w+( or \w+)+$/.test(expression)) return expression.replace(/\b(?!or\b)\w+/g, '$&.exists()');
  return expression.replace(/\.trace\('\w+'\)/g, '');
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every(name => b.includes(name));
}

/** The facts of a node; undefined if neither it nor a descendant has any. */
function prune(node: Node): Facts | undefined {
  const { own } = node;
  const slices = pruneAll(node.slices, own['closed'] === true);
  const children = pruneAll(node.children, false);
  if (Object.keys(slices).length > 0) own['slices'] = slices;
  else for (const key of ['discriminators', 'closed']) delete own[key];
  if (Object.keys(children).length > 0) own['children'] = children;
  return Object.keys(own).length > 0 ? own : undefined;
}

function pruneAll(nodes: ReadonlyMap<string, Node>, keepAll: boolean): Record<string, Facts> {
  const kept: Record<string, Facts> = {};
  for (const [name, node] of nodes) {
    const facts = prune(node) ?? (keepAll ? {} : undefined);
    if (facts !== undefined) kept[name] = facts;
  }
  return kept;
}
