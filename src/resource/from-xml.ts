/**
 * Parses FHIR XML that clients send. In: an XML document. Out: the members of FHIR JSON, typed by the definitions;
 * without narratives, comments, and ids and extensions of primitives, which a read-only server does not use. Throws
 * XmlError, without any text of the document.
 * https://hl7.org/fhir/R4/xml.html
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { childOf, isPrimitive, isResourceType, jsonKindOf } from '../r4/definitions.ts';

export class XmlError extends Error {
  override readonly name = 'XmlError';
}

export type XmlMembers = { readonly [name: string]: XmlMember };
type XmlMember = string | number | boolean | XmlMembers | readonly XmlMember[];

/** An element as the parser returns it: its name with its content, and its attributes. */
type Parsed = Readonly<Record<string, unknown>>;

const FHIR = 'http://hl7.org/fhir';
const ATTRIBUTES = ':@';
/** Matches a document type, CDATA, and all entities except XML's own five; comments and the declaration are allowed. */
const FORBIDDEN = /<!(?!--)|&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)/;
const DEEPEST = 50;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  trimValues: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: DEEPEST,
});

/** Returns the resource with its `resourceType`. */
export function fromXml(text: string): XmlMembers {
  if (FORBIDDEN.test(text)) throw new XmlError('a document type, entities or CDATA');
  if (XMLValidator.validate(text) !== true) throw new XmlError('not well-formed');
  const [root, ...more] = elementsIn(parsed(text));
  if (!root || more.length > 0) throw new XmlError('not one element');
  const namespace = root.attributes['xmlns'];
  if (namespace !== FHIR) throw new XmlError(`not in the namespace ${FHIR}`);
  return resourceOf(root);
}

function parsed(text: string): unknown {
  try {
    return parser.parse(text);
  } catch {
    // The parser's own limits are exceeded; its message is dropped, because it contains names of the text.
    throw new XmlError('too deep, or with names that are not those of elements');
  }
}

interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly content: unknown;
}

function elementsIn(content: unknown): readonly XmlElement[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((one: Parsed) =>
    Object.keys(one)
      .filter(name => name !== ATTRIBUTES && !name.startsWith('#'))
      .map(name => ({
        name,
        attributes: (one[ATTRIBUTES] ?? {}) as Readonly<Record<string, string>>,
        content: one[name],
      })),
  );
}

function resourceOf(element: XmlElement): XmlMembers {
  if (!isResourceType(element.name)) throw new XmlError('no resource of FHIR R4');
  return { resourceType: element.name, ...membersOf(element, element.name) };
}

function membersOf({ attributes, content }: XmlElement, type: string): XmlMembers {
  const members = new Map<string, XmlMember | XmlMember[]>();
  for (const [name, value] of Object.entries(attributes))
    if (childOf(type, name)?.element.isXmlAttribute) members.set(name, unescaped(value));
  for (const element of elementsIn(content)) {
    const child = childOf(type, element.name);
    if (child?.type === undefined) throw new XmlError('an element that FHIR R4 does not define at its place');
    const member = memberOf(element, child.type);
    if (member === undefined) continue;
    const before = members.get(element.name);
    if (before === undefined) members.set(element.name, child.element.max === '*' ? [member] : member);
    else if (child.element.max === '*' && Array.isArray(before)) before.push(member);
    else throw new XmlError('an element that occurs more than once');
  }
  return Object.fromEntries(members);
}

function memberOf(element: XmlElement, type: string): XmlMember | undefined {
  if (type === 'xhtml') return undefined;
  if (type === 'Resource') {
    const [resource, ...more] = elementsIn(element.content);
    if (!resource || more.length > 0) throw new XmlError('not one resource where one belongs');
    return resourceOf(resource);
  }
  if (!isPrimitive(type)) return membersOf(element, type);
  const { value } = element.attributes;
  return value === undefined ? undefined : primitiveOf(unescaped(value), type);
}

function primitiveOf(text: string, type: string): XmlMember {
  switch (jsonKindOf(type)) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'number':
      return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
    default:
      return text;
  }
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Replaces the five entities of XML, and character references. */
function unescaped(text: string): string {
  return text.replace(/&([^;&]*)(;?)/g, (_all, name: string, end: string) => {
    const code = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name);
    const point = code ? Number.parseInt(code[1] ?? code[2] ?? '', code[1] === undefined ? 10 : 16) : undefined;
    const found =
      point === undefined ? NAMED.get(name) : point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : '';
    if (end === '' || !found) throw new XmlError('an entity that XML does not have');
    return found;
  });
}
