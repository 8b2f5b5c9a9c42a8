/**
 * FHIR XML from FHIR JSON. In: a resource as JSON text. Out: the same resource as an XML document, elements in the order
 * of the definitions, digits of decimals kept. https://hl7.org/fhir/R4/xml.html, https://hl7.org/fhir/R4/json.html
 */
import { type ElementDefinition, elementsOf, isPrimitive, isResourceType } from '../r4/definitions.ts';
import { cleanText } from './json-text.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';
const FHIR = 'http://hl7.org/fhir';
const XHTML = 'http://www.w3.org/1999/xhtml';
/**
 * A number that a binary float could print with other digits, after its name. Within a string no quote is bare, so the
 * name's two quotes are really those of a name.
 */
const DELICATE_NUMBER = /("[A-Za-z]+"\s*:\s*)(-?\d+(?:\d{15}|\.\d+)(?:[eE][+-]?\d+)?|-?\d+[eE][+-]?\d+)(?=\s*[,}])/g;
const SPECIAL = /[&<>"\t\n\r\ufffe\uffff\p{Cc}\p{Cs}]/u;

type Value = string | number | boolean | null | readonly Value[] | Members;
type Members = { readonly [name: string]: Value };

/** The document. Throws a SyntaxError on text that is no JSON and a RangeError, naming the element, on what is no FHIR. */
export function toXml(json: string): string {
  const resource = membersOf(parse(json), 'the document');
  return DECLARATION + resourceXml(resource, ` xmlns="${FHIR}"`);
}

/** Delicate numbers become text, which in XML they are anyway. */
function parse(json: string): Value {
  return JSON.parse(json.replace(DELICATE_NUMBER, '$1"$2"'));
}

function resourceXml(resource: Members, namespace: string): string {
  const type = resource['resourceType'];
  if (typeof type !== 'string' || !isResourceType(type)) throw new RangeError('no FHIR resource');
  const { attributes, content } = contentOf(resource, type);
  return `<${type}${namespace}${attributes}>${content}</${type}>`;
}

interface Content {
  readonly attributes: string;
  readonly content: string;
}

/** What a JSON name means in a type, and its place among the elements. */
interface Meaning {
  readonly name: string;
  readonly type: string;
  readonly element: ElementDefinition;
  readonly order: number;
}

const meanings = new Map<string, ReadonlyMap<string, Meaning>>();

/** Only types that the definitions know are kept. */
function meaningsOf(type: string): ReadonlyMap<string, Meaning> {
  const known = meanings.get(type);
  if (known) return known;
  const made = new Map<string, Meaning>();
  for (const element of elementsOf(type)) {
    for (const [name, childType] of element.jsonNames)
      made.set(name, { name, type: childType, element, order: made.size });
  }
  if (made.size > 0) meanings.set(type, made);
  return made;
}

/** What stands in an element of a type: its attributes and child elements. */
function contentOf(members: Members, type: string): Content {
  const known = meaningsOf(type);
  const found: Meaning[] = [];
  let last = -1;
  let sorted = true;
  for (const key of Object.keys(members)) {
    const name = key.startsWith('_') ? key.slice(1) : key;
    if (name !== key && members[name] !== undefined) continue;
    const meaning = known.get(name);
    if (!meaning) {
      if (key === 'resourceType' && isResourceType(type)) continue;
      throw new RangeError(`${type} has elements that are not defined`);
    }
    if (meaning.order < last) sorted = false;
    last = meaning.order;
    found.push(meaning);
  }
  if (!sorted) found.sort((a, b) => a.order - b.order);
  let attributes = '';
  let content = '';
  for (const meaning of found) {
    const { name, element } = meaning;
    const value = members[name];
    if (element.isXmlAttribute) attributes += ` ${name}="${escapeXml(textOf(value ?? null, element))}"`;
    else content += elementXml(meaning, value, members[`_${name}`]);
  }
  return { attributes, content };
}

/** An element with all its repetitions. `beside`: id and extensions of primitives, from the member with underscore. */
function elementXml({ name, type, element }: Meaning, value: Value | undefined, beside: Value | undefined): string {
  const [values, besides] = [itemsOf(value), itemsOf(beside)];
  const count = Math.max(values.length, besides.length);
  if (element.max === '1' && count > 1) throw new RangeError(`${element.path} occurs more than once`);
  const primitive = isPrimitive(type);
  let xml = '';
  for (let i = 0; i < count; i++) {
    const item = values[i] ?? null;
    if (type === 'xhtml') xml += narrativeXml(textOf(item, element));
    else if (primitive) xml += primitiveXml(name, item, besides[i] ?? null, element);
    else if (type === 'Resource') xml += `<${name}>${resourceXml(membersOf(item, element.path), '')}</${name}>`;
    else {
      const { attributes, content } = contentOf(membersOf(item, element.path), type);
      xml += content === '' ? `<${name}${attributes}/>` : `<${name}${attributes}>${content}</${name}>`;
    }
  }
  return xml;
}

function primitiveXml(name: string, value: Value, beside: Value, element: ElementDefinition): string {
  const own = value === null ? '' : ` value="${escapeXml(textOf(value, element))}"`;
  if (beside === null) return own === '' ? '' : `<${name}${own}/>`;
  const { attributes, content } = contentOf(membersOf(beside, element.path), 'Element');
  return content === '' ? `<${name}${attributes}${own}/>` : `<${name}${attributes}${own}>${content}</${name}>`;
}

/** The div is XHTML already; only its namespace may be missing. https://hl7.org/fhir/R4/narrative.html */
function narrativeXml(div: string): string {
  const head = /^\s*<div\b[^>]*>/.exec(div)?.[0];
  if (head === undefined) throw new RangeError('a narrative that is no div');
  return head.includes('xmlns=') ? div : div.replace('<div', `<div xmlns="${XHTML}"`);
}

const NO_ITEMS: readonly Value[] = [];

function itemsOf(value: Value | undefined): readonly Value[] {
  if (value === undefined) return NO_ITEMS;
  return isList(value) ? value : [value];
}

function membersOf(value: Value, path: string): Members {
  if (value === null || typeof value !== 'object' || isList(value)) {
    throw new RangeError(`${path} is no object`);
  }
  return value;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function textOf(value: Value, { path }: ElementDefinition): string {
  if (value === null || typeof value === 'object') throw new RangeError(`${path} is no primitive`);
  return String(value);
}

/** Text for an attribute in double quotes; what XML cannot carry becomes U+FFFD. */
function escapeXml(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return cleanText(text)
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\t', '&#x9;')
    .replaceAll('\n', '&#xA;')
    .replaceAll('\r', '&#xD;');
}
