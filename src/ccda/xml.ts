/**
 * Builds XML and HTML from tagged templates that escape their values. In: markup in the source, with texts and other
 * markup in it. Out: well-formed markup, in which a text can never become a tag: only `xml` makes a `Markup`, and it
 * escapes every string.
 *
 *     xml`<title>${'a < b'}</title>`.text  // <title>a &lt; b</title>
 */

import { memoized } from '../common/caches.ts';
import { escapeXml } from '../common/markup.ts';

/** Markup whose texts are escaped. */
export class Markup {
  readonly text: string;

  /** Used in this file only. */
  constructor(text: string) {
    this.text = text;
  }

  get isEmpty(): boolean {
    return this.text === '';
  }

  /** Returns itself, or other markup if it is empty. */
  or(other: Markup): Markup {
    return this.isEmpty ? other : this;
  }
}

/** Returns a text of the source unescaped, such as a style sheet. Never pass a text of a record. */
export function verbatim(text: string): Markup {
  return new Markup(text);
}

export type MarkupValue = Markup | string | number | undefined | readonly Markup[];

/** Returns the parts of a template. JavaScript passes the same object on every call. */
const partsOf = memoized((template: TemplateStringsArray) =>
  template.raw.map(part => part.replace(/\n\s*/g, '').replaceAll('\\n', '\n')),
);

/**
 * Escapes values as text or as quoted attribute values; after `<` and `</` they are element names. Line breaks of the
 * template and the indentation after them are dropped; write `
 * ` for a line break.
 */
export function xml(template: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  const parts = partsOf(template);
  let text = parts[0] ?? '';
  values.forEach((value, i) => {
    text += /<\/?$/.test(parts[i] ?? '') ? nameOf(value) : textOf(value);
    text += parts[i + 1] ?? '';
  });
  return new Markup(text);
}

/** Escapes HTML in the same way. */
export function html(template: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return xml(template, ...values);
}

export const NOTHING: Markup = xml``;

function textOf(value: MarkupValue): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'string') return escapeXml(value);
  if (typeof value === 'number') return String(value);
  return value?.map(({ text }) => text).join('') ?? '';
}

function nameOf(value: MarkupValue): string {
  if (typeof value !== 'string' || !/^[A-Za-z][\w:.-]*$/.test(value)) throw new RangeError('no name of an element');
  return value;
}

const ATTRIBUTE = /^[A-Za-z][\w:.-]*$/;

/** Writes ` name="text"`, or nothing if the text is blank. Line breaks and tabs become blanks. */
export function attribute(name: string, text: string | undefined): Markup {
  if (!ATTRIBUTE.test(name)) throw new RangeError('no name of an attribute');
  const value = text?.replace(/[\s\u0085]+/g, ' ').trim();
  return value === undefined || value === '' ? NOTHING : new Markup(` ${name}="${escapeXml(value)}"`);
}

/** Writes `<name attributes>text</name>`, or nothing if the text is blank. */
export function textElement(name: string, text: string | undefined, attributes?: Markup): Markup {
  const value = text?.trim();
  return value === undefined || value === '' ? NOTHING : xml`<${name}${attributes}>${value}</${name}>`;
}

/** Writes a `templateId` per template; those of R1.1 and of companion guides have their own extension, or none. */
export function templateIds(...templates: readonly string[]): Markup {
  return xml`${templates.map(template => {
    const [root, extension] = template.split(':');
    return xml`<templateId root="2.16.840.1.113883.10.20.22.${root}"${attribute('extension', extension)}/>`;
  })}`;
}
