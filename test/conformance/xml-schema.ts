/**
 * Validates the XML form of FHIR R4 by HL7's StructureDefinitions, independently of the tables of src: elements, their
 * order and cardinality, attributes and values. In: an element tree. Out: problems, and the equivalent JSON.
 * https://hl7.org/fhir/R4/xml.html
 */
import { type ElementSource, readHl7, type StructureSource } from '../../tools/r4/generate/sources.ts';
import { type Element, parseXml } from '../ccda/xml-tree.ts';

export interface ReadXml {
  /** '<path>: <what>'; empty if valid. */
  readonly problems: readonly string[];
  /** As `JSON.parse` returns it; a narrative is its element tree. */
  readonly json: unknown;
}

/** An element name that is allowed in a type, in the order of the schema. */
interface Particle {
  readonly name: string;
  /** Type of its content, or the path of a nested element. */
  readonly type: string;
  /** Position in the sequence; the names of a choice share it. */
  readonly place: number;
  readonly min: number;
  readonly many: boolean;
  readonly attribute: boolean;
}

const FHIR = 'http://hl7.org/fhir';
const XHTML = 'http://www.w3.org/1999/xhtml';
const REGEX = 'http://hl7.org/fhir/StructureDefinition/regex';
const SYSTEM = 'http://hl7.org/fhirpath/System.';
/** Whitespace for JavaScript's patterns, but not for those of XML Schema, from which the patterns here come. */
const ODD_BLANKS = /[^\S \t\r\n]/g;
const NUMBERS: ReadonlySet<string> = new Set(['decimal', 'integer', 'unsignedInt', 'positiveInt']);

const structures = new Map(
  readHl7()
    .structures.filter(({ derivation }) => derivation !== 'constraint')
    .map(structure => [structure.type, structure]),
);
const particlesOf = new Map<string, readonly Particle[]>();

export function readFhirXml(xml: string): ReadXml {
  const root = parseXml(xml);
  const problems: string[] = [];
  // An XML parser normalizes these characters in attributes to blanks.
  if (/ (?:value|url|id)="[^"]*[\t\n\r]/.test(xml))
    problems.push(`${root.name}: a line end in an attribute as it stands`);
  if (root.attributes['xmlns'] !== FHIR) problems.push(`${root.name}: not in FHIR's namespace`);
  const { xmlns: _, ...attributes } = root.attributes;
  const json = resourceOf({ ...root, attributes }, root.name, problems);
  return { problems, json };
}

function resourceOf(element: Element, where: string, problems: string[]): unknown {
  const structure = structures.get(element.name);
  if (structure?.kind !== 'resource' || structure.abstract) {
    problems.push(`${where}: no resource of R4`);
    return undefined;
  }
  return { resourceType: element.name, ...membersOf(element, element.name, where, problems) };
}

/** Returns an element's attributes and children as JSON members, checked against the sequence of its type. */
function membersOf(element: Element, type: string, where: string, problems: string[]): Record<string, unknown> {
  const particles = sequenceOf(type);
  const members: Record<string, unknown> = {};
  const counts = new Map<number, number>();
  if (element.text.trim() !== '') problems.push(`${where}: text between elements`);
  for (const [name, value] of Object.entries(element.attributes)) {
    const particle = particles.find(one => one.attribute && one.name === name);
    if (!particle) problems.push(`${where}: attribute ${name}`);
    else counts.set(particle.place, 1);
    if (value === '') problems.push(`${where}: attribute ${name} is empty`);
    members[name] = value;
  }
  let before: Particle | undefined;
  for (const child of element.children) {
    const at = `${where}.${child.name}`;
    const particle = particles.find(one => !one.attribute && one.name === child.name);
    if (!particle) {
      problems.push(`${at}: not an element of ${type}`);
      continue;
    }
    if (before && particle.place < before.place) problems.push(`${at}: after ${before.name}`);
    if (before && particle.place === before.place && particle.name !== before.name)
      problems.push(`${at}: another of a choice`);
    before = particle;
    const n = (counts.get(particle.place) ?? 0) + 1;
    counts.set(particle.place, n);
    if (n === 2 && !particle.many) problems.push(`${at}: more than one`);
    take(members, child, particle, at, problems);
  }
  for (const { place, name, min } of particles)
    if ((counts.get(place) ?? 0) < min) problems.push(`${where}.${name}: missing`);
  return members;
}

function take(
  members: Record<string, unknown>,
  child: Element,
  { name, type, many }: Particle,
  where: string,
  problems: string[],
): void {
  const put = (key: string, value: unknown, filler?: unknown): void => {
    if (!many) members[key] = value;
    else if (value !== undefined || members[key] !== undefined) {
      const list = (members[key] ?? Array.from({ length: soFar }, () => filler)) as unknown[];
      list.push(value ?? filler);
      members[key] = list;
    }
  };
  const soFar = Math.max(lengthOf(members[name]), lengthOf(members[`_${name}`]));
  if (child.children.length === 0 && Object.keys(child.attributes).length === 0) problems.push(`${where}: empty`);
  const structure = structures.get(type);
  if (type === 'xhtml') {
    if (child.attributes['xmlns'] !== XHTML) problems.push(`${where}: not in XHTML's namespace`);
    members[name] = child;
  } else if (type === 'Resource') {
    const [resource, ...more] = child.children;
    if (!resource || more.length > 0) problems.push(`${where}: not one resource`);
    if (resource) put(name, resourceOf(resource, `${where}.${resource.name}`, problems));
  } else if (structure?.kind === 'primitive-type') {
    const { value, ...rest } = membersOf(child, type, where, problems) as { readonly value?: string };
    if (value !== undefined && !patternOf(structure).test(value.replace(ODD_BLANKS, '_')))
      problems.push(`${where}: no ${type}`);
    const read = value === undefined ? undefined : typed(value, type);
    const beside = Object.keys(rest).length === 0 ? undefined : rest;
    put(name, read, null);
    if (beside !== undefined || many) put(`_${name}`, beside, null);
  } else {
    put(name, membersOf(child, type, where, problems));
  }
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

function typed(text: string, type: string): string | number | boolean {
  if (type === 'boolean') return text === 'true';
  return NUMBERS.has(type) ? Number(text) : text;
}

const patterns = new Map<StructureSource, RegExp>();

function patternOf(structure: StructureSource): RegExp {
  const known = patterns.get(structure) ?? makePattern(structure);
  patterns.set(structure, known);
  return known;
}

function makePattern(structure: StructureSource): RegExp {
  const value = structure.snapshot.element.find(({ path }) => path === `${structure.type}.value`);
  const [regex] = (value?.type ?? []).flatMap(({ extension = [] }) =>
    extension.flatMap(({ url, valueString }) => (url === REGEX && valueString !== undefined ? [valueString] : [])),
  );
  return new RegExp(`^(?:${regex ?? '[^]*'})$`, 'u');
}

function sequenceOf(type: string): readonly Particle[] {
  const known = particlesOf.get(type);
  if (known) return known;
  const [name = ''] = type.split('.');
  const elements = structures.get(name)?.snapshot.element ?? [];
  const isChild = ({ path }: ElementSource): boolean =>
    path.startsWith(`${type}.`) && !path.slice(type.length + 1).includes('.');
  const made = elements.filter(isChild).flatMap((element, place) => particles(element, place));
  particlesOf.set(type, made);
  return made;
}

function particles(element: ElementSource, place: number): readonly Particle[] {
  const own = element.path.slice(element.path.lastIndexOf('.') + 1);
  const shared = {
    place,
    min: element.min ?? 0,
    many: element.max === '*',
    attribute: element.representation?.includes('xmlAttr') ?? false,
  };
  if (element.max === '0') return [];
  if (element.contentReference !== undefined)
    return [{ ...shared, name: own, type: element.contentReference.replace(/^.*#/, '') }];
  const codes = (element.type ?? []).map(({ code }) => code);
  if (own.endsWith('[x]')) {
    const stem = own.slice(0, -3);
    return codes.map(code => ({ ...shared, name: `${stem}${code[0]?.toUpperCase()}${code.slice(1)}`, type: code }));
  }
  const [code = ''] = codes;
  const nested = code === 'BackboneElement' || code === 'Element';
  return [{ ...shared, name: own, type: nested ? element.path : code.startsWith(SYSTEM) ? 'string' : code }];
}
