/**
 * The element table of every R4 data type and resource type, as elements.json holds it.
 *
 * In: StructureDefinitions with snapshots. Out: type path to element name to '<min>..<max> <flags> <types>'; the
 * notation is read by parseElement in ../definitions.ts. https://hl7.org/fhir/R4/elementdefinition.html
 */

import type { ElementSource, StructureSource } from './sources.ts';

type Types = Record<string, Record<string, string>>;

const SYSTEM_TYPE = 'http://hl7.org/fhirpath/System.';
const VALUE_SET_BASE = 'http://hl7.org/fhir/ValueSet/';
const STRUCTURE_BASE = 'http://hl7.org/fhir/StructureDefinition/';
// The published pattern backtracks without bound on long values; this one has the same alphabet.
const BASE64_PATTERN = '[0-9a-zA-Z+/=\\s]*';

/** Primitive patterns and elements of every type that R4 itself defines; profiles and logical models are left out. */
export function elementTable(structures: readonly StructureSource[]): {
  readonly primitives: Record<string, string>;
  readonly types: Types;
} {
  const primitives: Record<string, string> = {};
  const types: Types = {};
  for (const structure of instantiable(structures)) {
    if (structure.kind === 'primitive-type') primitives[structure.type] = patternOf(structure);
    addStructure(structure, structures, types);
  }
  return { primitives, types };
}

/** Canonical addresses of the value sets that R4 elements are bound to with strength `required`. */
export function requiredBindings(structures: readonly StructureSource[]): readonly string[] {
  const urls = new Set<string>();
  for (const structure of instantiable(structures)) {
    for (const element of structure.snapshot.element) {
      const url = requiredBinding(element);
      if (url !== undefined) urls.add(url);
    }
  }
  return [...urls].sort();
}

function instantiable(structures: readonly StructureSource[]): readonly StructureSource[] {
  return structures.filter(structure => structure.derivation !== 'constraint' && structure.kind !== 'logical');
}

function patternOf(structure: StructureSource): string {
  if (structure.type === 'base64Binary') return BASE64_PATTERN;
  const value = structure.snapshot.element.find(element => element.path === `${structure.type}.value`);
  return value?.type?.[0]?.extension?.find(extension => extension.url.endsWith('/regex'))?.valueString ?? '';
}

function addStructure(structure: StructureSource, structures: readonly StructureSource[], types: Types): void {
  const all = structure.snapshot.element;
  const base = structure.baseDefinition?.slice(STRUCTURE_BASE.length);
  types[structure.type] = base === undefined ? {} : { '': base };
  const nested = new Set(all.map(element => ownerOf(element.path)));
  for (const element of all.slice(1)) {
    const owner = ownerOf(element.path);
    const elements = types[owner];
    if (elements === undefined) throw new Error(`${element.path} comes before its parent`);
    const name = nameOf(element.path);
    if (structure.kind === 'primitive-type' && name === 'value') continue;
    if (childNames(elements[''], structures).has(name)) continue;
    elements[name] = describe(element, nested.has(element.path));
    if (nested.has(element.path)) types[element.path] = { '': element.type?.[0]?.code ?? 'BackboneElement' };
  }
}

function ownerOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('.')));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).replace('[x]', '');
}

/** A snapshot already contains its base's elements, so one level suffices. */
function childNames(type: string | undefined, structures: readonly StructureSource[]): ReadonlySet<string> {
  const elements = structures.find(structure => structure.type === type)?.snapshot.element ?? [];
  return new Set(elements.filter(element => ownerOf(element.path) === type).map(element => nameOf(element.path)));
}

function describe(element: ElementSource, hasChildren: boolean): string {
  const flags = [
    element.isSummary === true ? 'S' : '',
    element.isModifier === true ? 'M' : '',
    element.path.endsWith('[x]') ? 'X' : '',
    element.representation?.includes('xmlAttr') === true ? 'A' : '',
  ].join('');
  const max = element.max === '1' ? '1' : '*';
  const binding = requiredBinding(element);
  return [
    `${element.min ?? 0}..${max}`,
    flags === '' ? '-' : flags,
    ...(hasChildren ? [element.path] : typesOf(element)),
    ...(binding === undefined
      ? []
      : [`!${binding.startsWith(VALUE_SET_BASE) ? binding.slice(VALUE_SET_BASE.length) : binding}`]),
  ].join(' ');
}

function typesOf(element: ElementSource): readonly string[] {
  if (element.contentReference !== undefined) return [element.contentReference.slice(1)];
  return (element.type ?? []).map(type => {
    // R4 4.0.1 has `string` for Resource.id where the resource page has `id`.
    if (element.path === 'Resource.id') return 'id';
    if (type.code.startsWith(SYSTEM_TYPE))
      return type.extension?.find(e => e.url.endsWith('-fhir-type'))?.valueUrl ?? 'string';
    if (type.code !== 'Reference' || type.targetProfile === undefined) return type.code;
    const targets = type.targetProfile.map(url => url.slice(STRUCTURE_BASE.length));
    return targets.includes('Resource') ? type.code : `Reference(${targets.join('|')})`;
  });
}

function requiredBinding(element: ElementSource): string | undefined {
  if (element.binding?.strength !== 'required') return undefined;
  return element.binding.valueSet?.replace(/\|.*$/, '');
}
