/**
 * FHIR R4 element tables: what a type is made of.
 *
 * In: `elements.json` and `value-sets.json`, written by tools/r4/generate.ts from the HL7 R4 (4.0.1) definitions. Out:
 * read-only look-ups. https://hl7.org/fhir/R4/elementdefinition.html, https://hl7.org/fhir/R4/datatypes.html
 *
 *   isResourceType(name): boolean                   a concrete resource type
 *   resourceTypes(): readonly string[]
 *   isPrimitive(type): boolean                      'date' yes, 'Period' no
 *   jsonKindOf(primitive): 'string'|'number'|'boolean'
 *   primitivePattern(primitive): RegExp|undefined   the whole text of a value
 *   elementsOf(path): readonly ElementDefinition[]  'Patient', 'HumanName', 'Observation.component', 'Patient.name'
 *   childOf(path, name): Child|undefined            ('Observation', 'valueQuantity'), ('Observation', 'value')
 *   elementAt(path): Child|undefined                'Observation.component.valueQuantity.code'
 *   requiredValueSet(element): ValueSet|undefined   codes and systems of a required binding
 *
 * A *type path* names what has child elements: a type ('HumanName') or a nested element ('Observation.component').
 * The type of a nested element is its own path; that of a content reference is the path it refers to.
 * Beside this file: search-parameters.ts (searchParametersOf, searchParameterOf, patientCompartmentOf), profiles.ts
 * (profileOf, profileUrl).
 */

import { readBeside } from './read-beside.ts';

/** One element of the specification; a choice `value[x]` is one element named `value`. */
export interface ElementDefinition {
  /** Where it is defined: 'Observation.component.value', or 'Element.id' for an inherited one. */
  readonly path: string;
  /** Name without the `[x]` of a choice. */
  readonly name: string;
  /** Type paths in the specification's order; more than one only in a choice. */
  readonly types: readonly string[];
  readonly choice: boolean;
  /** JSON property to type path: `valueQuantity` to `Quantity`; a choice has several entries, any other element one. */
  readonly jsonNames: ReadonlyMap<string, string>;
  readonly min: number;
  readonly max: '1' | '*';
  readonly isSummary: boolean;
  readonly isModifier: boolean;
  /** True for an attribute in XML (`id`, `Extension.url`). */
  readonly isXmlAttribute: boolean;
  /** Resource types that a Reference may name; empty: any type, or no Reference. */
  readonly targets: readonly string[];
  /** Canonical address of the value set of a required binding. */
  readonly requiredBinding?: string;
}

/** An element under one of its JSON names. */
export interface Child {
  readonly element: ElementDefinition;
  /** The type path; undefined for a choice named without its type (`value`). */
  readonly type: string | undefined;
}

/** The codes of a value set; `codes` of a system is undefined if they cannot be listed (MIME types, languages). */
export interface ValueSet {
  readonly url: string;
  readonly systems: readonly { readonly system: string; readonly codes: ReadonlySet<string> | undefined }[];
}

interface ElementTable {
  readonly primitives: Readonly<Record<string, string>>;
  /** Type path to element name to '<min>..<max> <flags> <types>'; '' has the type path that it extends. */
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const VALUE_SET_BASE = 'http://hl7.org/fhir/ValueSet/';
const NOT_INSTANTIABLE: ReadonlySet<string> = new Set(['Resource', 'DomainResource']);
const NO_ELEMENTS: readonly ElementDefinition[] = [];

const table: ElementTable = readBeside(import.meta.url, './elements.json');
const valueSetTable: Readonly<Record<string, readonly (readonly [string, readonly string[] | null])[]>> = readBeside(
  import.meta.url,
  './value-sets.json',
);

const elementsByPath = new Map<string, readonly ElementDefinition[]>();
const childrenByPath = new Map<string, ReadonlyMap<string, Child>>();
const valueSets = new Map<string, ValueSet>();
const resources: readonly string[] = Object.keys(table.types).filter(isResource);
const resourceNames: ReadonlySet<string> = new Set(resources);

function isResource(path: string): boolean {
  for (let at: string | undefined = path; at !== undefined && !at.includes('.'); at = table.types[at]?.['']) {
    if (at === 'Resource') return !NOT_INSTANTIABLE.has(path);
  }
  return false;
}

/** True if `name` is a resource type that an instance can have (not Resource or DomainResource). */
export function isResourceType(name: string): boolean {
  return resourceNames.has(name);
}

/** Returns all instantiable resource types, in alphabetical order. */
export function resourceTypes(): readonly string[] {
  return resources;
}

/** True if `type` is a primitive data type: its JSON is a string, a number or a boolean. */
export function isPrimitive(type: string): boolean {
  return Object.hasOwn(table.primitives, type);
}

/** Returns the JSON kind of a primitive type. https://hl7.org/fhir/R4/json.html#primitive */
export function jsonKindOf(primitive: string): 'string' | 'number' | 'boolean' {
  if (primitive === 'boolean') return 'boolean';
  return ['integer', 'decimal', 'positiveInt', 'unsignedInt'].includes(primitive) ? 'number' : 'string';
}

/** Returns the pattern that the whole text of a primitive must match; undefined if the specification has none. */
export function primitivePattern(primitive: string): RegExp | undefined {
  const source = table.primitives[primitive];
  if (source === undefined || source === '') return undefined;
  // The patterns are XML Schema's, with ASCII white space only; but a text may contain any character.
  return new RegExp(`^(?:${source.replaceAll('[ \\r\\n\\t\\S]', '[^]')})$`);
}

/**
 * Returns the child elements of a type or of an element, inherited ones first, in the specification's order. An unknown
 * path, or one that ends in a choice without its type, has none.
 */
export function elementsOf(path: string): readonly ElementDefinition[] {
  const known = elementsByPath.get(path);
  if (known !== undefined) return known;
  const own = table.types[path];
  if (own === undefined) {
    const type = path.includes('.') ? elementAt(path)?.type : undefined;
    return type === undefined ? NO_ELEMENTS : elementsOf(type);
  }
  const elements: ElementDefinition[] = [];
  for (const [name, text] of Object.entries(own)) {
    if (name === '') elements.push(...elementsOf(text));
    else elements.push(parseElement(path, name, text));
  }
  elementsByPath.set(path, elements);
  return elements;
}

/**
 * True if `_elements` may contain the name: an element of the type, or a choice by its base name or with its type; also
 * `resourceType`, which is no element but a member of JSON that some clients add.
 */
export function isSelectable(type: string, name: string): boolean {
  return name === 'resourceType' || childOf(type, name) !== undefined;
}

/**
 * Returns the child of a type or element by a JSON name, or by the base name of a choice (then its type is undefined).
 */
export function childOf(path: string, name: string): Child | undefined {
  let children = childrenByPath.get(path);
  if (children === undefined) {
    const byName = new Map<string, Child>();
    for (const element of elementsOf(path)) {
      if (element.choice) byName.set(element.name, { element, type: undefined });
      for (const [jsonName, type] of element.jsonNames) byName.set(jsonName, { element, type });
    }
    children = byName;
    // Caches only known paths, because a path may come from a request.
    if (byName.size > 0) childrenByPath.set(path, children);
  }
  return children.get(name);
}

/** Returns the element at a dotted path of JSON names after a type: 'Observation.component.valueQuantity.code'. */
export function elementAt(path: string): Child | undefined {
  const [root, ...names] = path.split('.');
  let type = root;
  let child: Child | undefined;
  for (const name of names) {
    child = type === undefined || !Object.hasOwn(table.types, type) ? undefined : childOf(type, name);
    if (child === undefined) return undefined;
    type = child.type;
  }
  return child;
}

/**
 * Returns the value set of an element's required binding; undefined if the tables have neither its codes nor its
 * systems.
 */
export function requiredValueSet(element: ElementDefinition): ValueSet | undefined {
  const url = element.requiredBinding;
  if (url === undefined) return undefined;
  const known = valueSets.get(url);
  if (known !== undefined) return known;
  const rows = valueSetTable[url.startsWith(VALUE_SET_BASE) ? url.slice(VALUE_SET_BASE.length) : url];
  if (rows === undefined) return undefined;
  const systems = rows.map(([system, codes]) => ({ system, codes: codes === null ? undefined : new Set(codes) }));
  const valueSet: ValueSet = { url, systems };
  valueSets.set(url, valueSet);
  return valueSet;
}

/** Parses '<min>..<max> <flags> <type>… [!value-set]'; flags: S summary, M modifier, X choice, A attribute, or '-'. */
function parseElement(owner: string, name: string, text: string): ElementDefinition {
  const [cardinality = '', flags = '', ...rest] = text.split(' ');
  const types: string[] = [];
  let targets: readonly string[] = [];
  let requiredBinding: string | undefined;
  for (const word of rest) {
    const open = word.indexOf('(');
    if (word.startsWith('!')) requiredBinding = word.includes(':') ? word.slice(1) : VALUE_SET_BASE + word.slice(1);
    else if (open < 0) types.push(word);
    else {
      types.push(word.slice(0, open));
      targets = word.slice(open + 1, -1).split('|');
    }
  }
  const choice = flags.includes('X');
  const jsonNames = new Map<string, string>();
  for (const type of types) jsonNames.set(choice ? name + type.charAt(0).toUpperCase() + type.slice(1) : name, type);
  return {
    path: `${owner}.${name}`,
    name,
    types,
    choice,
    jsonNames,
    min: Number(cardinality.split('..')[0]),
    max: cardinality.endsWith('*') ? '*' : '1',
    isSummary: flags.includes('S'),
    isModifier: flags.includes('M'),
    isXmlAttribute: flags.includes('A'),
    targets,
    ...(requiredBinding === undefined ? {} : { requiredBinding }),
  };
}
