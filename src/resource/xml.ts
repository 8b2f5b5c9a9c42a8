/**
 * FHIR XML from FHIR JSON. In: a resource as JSON text. Out: the same resource as an XML document, elements in the order
 * of the definitions, digits of decimals kept. https://hl7.org/fhir/R4/xml.html, https://hl7.org/fhir/R4/json.html
 */
import { type ElementDefinition, elementsOf, isPrimitive, isResourceType } from '../r4/definitions.ts';
import { cleanText } from './json-text.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';
const FHIR = 'http://hl7.org/fhir';
const XHTML = 'http://www.w3.org/1999/xhtml';
/** A number that a binary float could print with other digits. */
const DELICATE_NUMBER = /[:[,]\s*-?\d+(?:[.eE]|\d{15})/;
const SPECIAL = /[&<>"\t\n\r\ufffe\uffff\p{Cc}\p{Cs}]/u;

type Value = string | number | boolean | null | Digits | readonly Value[] | Members;
type Members = { readonly [name: string]: Value };

/** A number as it was written. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The document. Throws a SyntaxError on text that is no JSON and a RangeError, naming the path, on what is no FHIR. */
export function toXml(json: string): string {
  const resource = membersOf(parse(json), 'the document');
  return DECLARATION + resourceXml(resource, ` xmlns="${FHIR}"`);
}

function parse(json: string): Value {
  if (!DELICATE_NUMBER.test(json)) return JSON.parse(json);
  return JSON.parse(json, (_, value: Value, context?: { readonly source: string }) =>
    typeof value === 'number' && context ? new Digits(context.source) : value,
  );
}

function resourceXml(resource: Members, namespace: string): string {
  const type = resource['resourceType'];
  if (typeof type !== 'string' || !isResourceType(type)) throw new RangeError('no FHIR resource');
  const { attributes, content } = contentOf(resource, type, type, 'resourceType');
  return `<${type}${namespace}${attributes}>${content}</${type}>`;
}

interface Content {
  readonly attributes: string;
  readonly content: string;
}

/** What stands in an element of a type: its attributes and child elements. `path`: for messages. */
function contentOf(members: Members, type: string, path: string, apart?: string): Content {
  let attributes = '';
  let content = '';
  let left = Object.keys(members).length - (apart === undefined ? 0 : 1);
  for (const element of elementsOf(type)) {
    for (const [name, childType] of element.jsonNames) {
      const value = members[name];
      const beside = members[`_${name}`];
      if (value !== undefined) left--;
      if (beside !== undefined) left--;
      if (value === undefined && beside === undefined) continue;
      if (element.isXmlAttribute) attributes += ` ${name}="${escapeXml(textOf(value ?? null, `${path}.${name}`))}"`;
      else content += elementXml(name, childType, element, value, beside, `${path}.${name}`);
    }
    if (left === 0) break;
  }
  if (left > 0) throw new RangeError(`${path} has elements that ${type} does not define`);
  return { attributes, content };
}

/** An element with all its repetitions. `beside`: id and extensions of primitives, from the member with underscore. */
function elementXml(
  name: string,
  type: string,
  { max }: ElementDefinition,
  value: Value | undefined,
  beside: Value | undefined,
  path: string,
): string {
  const [values, besides] = [itemsOf(value), itemsOf(beside)];
  if (max === '1' && (values.length > 1 || besides.length > 1)) throw new RangeError(`${path} occurs more than once`);
  let xml = '';
  for (let i = 0; i < Math.max(values.length, besides.length); i++) {
    const [item = null, extra = null] = [values[i], besides[i]];
    if (type === 'xhtml') xml += narrativeXml(textOf(item, path));
    else if (isPrimitive(type)) xml += primitiveXml(name, item, extra, path);
    else if (type === 'Resource') xml += `<${name}>${resourceXml(membersOf(item, path), '')}</${name}>`;
    else {
      const { attributes, content } = contentOf(membersOf(item, path), type, path);
      xml += content === '' ? `<${name}${attributes}/>` : `<${name}${attributes}>${content}</${name}>`;
    }
  }
  return xml;
}

function primitiveXml(name: string, value: Value, beside: Value, path: string): string {
  const own = value === null ? '' : ` value="${escapeXml(textOf(value, path))}"`;
  if (beside === null) return own === '' ? '' : `<${name}${own}/>`;
  const { attributes, content } = contentOf(membersOf(beside, path), 'Element', path);
  return content === '' ? `<${name}${attributes}${own}/>` : `<${name}${attributes}${own}>${content}</${name}>`;
}

/** The div is XHTML already; only its namespace may be missing. https://hl7.org/fhir/R4/narrative.html */
function narrativeXml(div: string): string {
  const head = /^\s*<div\b[^>]*>/.exec(div)?.[0];
  if (head === undefined) throw new RangeError('a narrative that is no div');
  return head.includes('xmlns=') ? div : div.replace('<div', `<div xmlns="${XHTML}"`);
}

function itemsOf(value: Value | undefined): readonly Value[] {
  if (value === undefined) return [];
  return isList(value) ? value : [value];
}

function membersOf(value: Value, path: string): Members {
  if (value === null || typeof value !== 'object' || isList(value) || value instanceof Digits) {
    throw new RangeError(`${path} is no object`);
  }
  return value;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function textOf(value: Value, path: string): string {
  if (value instanceof Digits) return value.text;
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
