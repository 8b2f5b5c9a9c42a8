/**
 * Writes FHIR XML elements from parsed FHIR JSON, in the order of the definitions. In: values from JSON.parse, and the
 * meanings of their names. Out: XML.
 * https://hl7.org/fhir/R4/xml.html, https://hl7.org/fhir/R4/json.html
 */
import { escapeAttribute } from '../common/markup.ts';
import { isResourceType } from '../r4/definitions.ts';
import { type Meaning, type Meanings, type Tags, type TypeMeaning, typeMeaning } from './xml-meaning.ts';

const XHTML = 'http://www.w3.org/1999/xhtml';
/**
 * Matches a number that a binary float could print with other digits, from the quote that ends its name. Quotes inside
 * a string follow a backslash, so a quote after a letter ends a name.
 */
const DELICATE_NUMBER = /(?<=[A-Za-z])("\s*:\s*)(-?\d+(?:\d{15}|\.\d+)(?:[eE][+-]?\d+)?|-?\d+[eE][+-]?\d+)(?=\s*[,}])/g;

export type Value = string | number | boolean | null | readonly Value[] | Members;
export type Members = { readonly [name: string]: Value };

/** Parses JSON, with such numbers as text, which they become in XML anyway. */
export function parseJson(json: string): Value {
  return JSON.parse(json.replace(DELICATE_NUMBER, '$1"$2"'));
}

export function resourceXml(resource: Members, namespace: string): string {
  const type = resource['resourceType'];
  if (typeof type !== 'string' || !isResourceType(type)) throw new RangeError('no FHIR resource');
  const of = typeMeaning(type);
  return objectXml(of.tags, namespace, resource, of);
}

/**
 * Writes the element of an object. `more`: attributes after its own: the namespace of the root or the value of a
 * primitive.
 */
function objectXml(tags: Tags, more: string, members: Members, of: TypeMeaning): string {
  const { meanings } = of;
  let attributes = '';
  let content = '';
  let last = -1;
  for (const key in members) {
    const companion = key.charCodeAt(0) === UNDERSCORE;
    const meaning = meanings.get(companion ? key.slice(1) : key);
    if (meaning === undefined) {
      if (key === 'resourceType' && of.isResource) continue;
      throw new RangeError(`${of.type} has elements that are not defined`);
    }
    // Written together with its value, if there is one.
    if (companion && members[meaning.name] !== undefined) continue;
    if (meaning.order < last) return objectXml(tags, more, inOrder(members, meanings), of);
    last = meaning.order;
    const value = companion ? undefined : members[key];
    if (meaning.form === 'attribute') attributes += attributeXml(meaning, value ?? null);
    else content += elementXml(meaning, value, meaning.form === 'primitive' ? members[meaning.companion] : undefined);
  }
  return element(tags, attributes + more, content);
}

export function element(tags: Tags, attributes: string, content: string): string {
  if (content === '') return `${tags.begin}${attributes}/>`;
  return attributes === '' ? tags.open + content + tags.close : `${tags.begin}${attributes}>${content}${tags.close}`;
}

const UNDERSCORE = 95;

/** Returns the same members in the order of the definitions. */
function inOrder(members: Members, meanings: Meanings): Members {
  const orderOf = (key: string): number => meanings.get(key.startsWith('_') ? key.slice(1) : key)?.order ?? -1;
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => orderOf(a) - orderOf(b)));
}

/**
 * Writes an element with all its repetitions. `beside`: id and extensions of primitives, from the member with
 * underscore.
 */
export function elementXml(meaning: Meaning, value: Value | undefined, beside: Value | undefined): string {
  if (beside === undefined && value !== undefined && !isList(value)) return itemXml(meaning, value, null);
  const [values, besides] = [itemsOf(value), itemsOf(beside)];
  const count = Math.max(values.length, besides.length);
  if (meaning.element.max === '1' && count > 1) throw new RangeError(`${meaning.element.path} occurs more than once`);
  let xml = '';
  for (let i = 0; i < count; i++) xml += itemXml(meaning, values[i] ?? null, besides[i] ?? null);
  return xml;
}

export function itemXml(meaning: Meaning, item: Value, beside: Value): string {
  const {
    tags,
    element: { path },
    inside,
  } = meaning;
  switch (meaning.form) {
    case 'primitive': {
      const text = item === null ? undefined : escapeAttribute(textOf(item, meaning));
      if (beside === null) return text === undefined ? '' : `${tags.value}${text}"/>`;
      return objectXml(tags, text === undefined ? '' : ` value="${text}"`, membersOf(beside, path), ELEMENT);
    }
    case 'narrative':
      return narrativeXml(textOf(item, meaning));
    case 'resource':
      return element(tags, '', resourceXml(membersOf(item, path), ''));
    default:
      return objectXml(tags, '', membersOf(item, path), inside);
  }
}

/** The type of the member with id and extensions of a primitive. */
const ELEMENT = typeMeaning('Element');

/**
 * Writes a narrative. The div is already XHTML; only its namespace may be missing.
 * https://hl7.org/fhir/R4/narrative.html
 */
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

export function membersOf(value: Value, path: string): Members {
  if (value === null || typeof value !== 'object' || isList(value)) {
    throw new RangeError(`${path} is no object`);
  }
  return value;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function attributeXml(meaning: Meaning, value: Value): string {
  return ` ${meaning.name}="${escapeAttribute(textOf(value, meaning))}"`;
}

function textOf(value: Value, { element }: Meaning): string {
  if (value === null || typeof value === 'object') throw new RangeError(`${element.path} is no primitive`);
  return String(value);
}
