/**
 * XML as a tree of elements. In: text. Out: its root, or an error for what is not well-formed.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser';

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Of this element alone, in order, without that of its children. */
  readonly text: string;
}

type Node = Readonly<Record<string, unknown>>;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  // The library leaves character references alone unless it may also read HTML's names: `decode` does it.
  processEntities: false,
});

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Character data as it is meant: each reference once. Throws for an entity that XML itself does not know. */
function decode(text: string): string {
  return text.replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name === undefined)
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal));
    const character = ENTITIES[name];
    if (character === undefined) throw new Error(`unknown entity ${whole}`);
    return character;
  });
}

export function parseXml(text: string): Element {
  const valid = XMLValidator.validate(text);
  if (valid !== true) throw new Error(`not well-formed: ${valid.err.msg} at line ${valid.err.line}`);
  const roots = (parser.parse(text) as Node[])
    .map(toElement)
    .filter(one => one !== undefined && !one.name.startsWith('?'));
  const [root] = roots;
  if (root === undefined || roots.length !== 1) throw new Error('no single root');
  return root;
}

function toElement(node: Node): Element | undefined {
  const name = Object.keys(node).find(key => key !== ':@' && key !== '#text');
  if (name === undefined) return undefined;
  const inner = node[name] as Node[];
  return {
    name,
    attributes: Object.fromEntries(
      Object.entries((node[':@'] ?? {}) as Record<string, string>).map(([key, value]) => [key, decode(value)]),
    ),
    children: inner.map(toElement).filter(one => one !== undefined),
    text: decode(inner.map(one => (typeof one['#text'] === 'string' ? one['#text'] : '')).join('')),
  };
}

/** The element and all below it. */
export function* everything(element: Element): Generator<Element> {
  yield element;
  for (const child of element.children) yield* everything(child);
}

export function all(element: Element, name: string): readonly Element[] {
  return [...everything(element)].filter(one => one.name === name);
}

/** Along a path of children; the first of each name. */
export function at(element: Element, ...path: readonly string[]): Element | undefined {
  return path.reduce<Element | undefined>((from, name) => from?.children.find(one => one.name === name), element);
}

/** All text below. */
export function textOf(element: Element | undefined): string {
  return element === undefined ? '' : element.text + element.children.map(textOf).join('');
}

/** `root:extension` of an element's templates, without the prefix of C-CDA. */
export function templatesOf(element: Element): readonly string[] {
  return element.children
    .filter(({ name }) => name === 'templateId')
    .map(({ attributes: { root = '', extension } }) => {
      const short = root.replace('2.16.840.1.113883.10.20.22.', '');
      return extension === undefined ? short : `${short}:${extension}`;
    });
}

/** Elements with a template, anywhere below. */
export function withTemplate(element: Element, template: string): readonly Element[] {
  return [...everything(element)].filter(one => templatesOf(one).includes(template));
}
