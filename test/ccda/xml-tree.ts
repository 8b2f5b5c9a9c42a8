/** Parses XML into a tree of elements. In: text. Out: its root, or an error if it is not well-formed. */
import { XMLValidator } from 'fast-xml-parser';
import { Parser } from 'htmlparser2';

export interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** Text of this element alone, in order, without that of its children. */
  readonly text: string;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Decodes character data, each reference once. Throws for an entity that XML itself does not define. */
function decode(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d+)|#x([\da-fA-F]+)|(\w+));/g, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name === undefined)
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal));
    const character = ENTITIES[name];
    if (character === undefined) throw new Error(`unknown entity ${whole}`);
    return character;
  });
}

/** One library detects what is not well-formed; the other parses the rest, and faster. */
export function parseXml(text: string): Element {
  const valid = XMLValidator.validate(text);
  if (valid !== true) throw new Error(`not well-formed: ${valid.err.msg} at line ${valid.err.line}`);
  const top = opened('', {});
  const open = [top];
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const element = opened(name, attributes);
        open.at(-1)?.children.push(element);
        open.push(element);
      },
      ontext(data) {
        const element = open.at(-1);
        if (element) element.text += data;
      },
      onclosetag() {
        const element = open.pop();
        if (element) element.text = decode(element.text);
      },
    },
    { xmlMode: true, decodeEntities: false },
  );
  parser.end(text);
  const [root] = top.children;
  if (root === undefined || top.children.length !== 1) throw new Error('no single root');
  return root;
}

interface OpenElement extends Element {
  readonly children: OpenElement[];
  text: string;
}

function opened(name: string, attributes: Readonly<Record<string, string>>): OpenElement {
  const decoded: Record<string, string> = {};
  for (const [key, value] of Object.entries(attributes)) decoded[key] = decode(value);
  return { name, attributes: decoded, children: [], text: '' };
}

/** The element and its descendants, in document order. */
export function everything(element: Element): readonly Element[] {
  const found: Element[] = [];
  const add = (one: Element): void => {
    found.push(one);
    for (const child of one.children) add(child);
  };
  add(element);
  return found;
}

export function all(element: Element, name: string): readonly Element[] {
  return everything(element).filter(one => one.name === name);
}

/** Follows a path of children, by the first of each name. */
export function at(element: Element, ...path: readonly string[]): Element | undefined {
  return path.reduce<Element | undefined>((from, name) => from?.children.find(one => one.name === name), element);
}

/** The text of the element and its descendants. */
export function textOf(element: Element | undefined): string {
  return element === undefined ? '' : element.text + element.children.map(textOf).join('');
}

/** `root:extension` of an element's templates, without C-CDA's prefix. */
export function templatesOf(element: Element): readonly string[] {
  return element.children
    .filter(({ name }) => name === 'templateId')
    .map(({ attributes: { root = '', extension } }) => {
      const short = root.replace('2.16.840.1.113883.10.20.22.', '');
      return extension === undefined ? short : `${short}:${extension}`;
    });
}

/** Descendants with a template. */
export function withTemplate(element: Element, template: string): readonly Element[] {
  return everything(element).filter(one => templatesOf(one).includes(template));
}
