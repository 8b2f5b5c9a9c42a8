/**
 * XML and HTML by a template that escapes by itself. In: markup as it stands in the source, with texts and other markup
 * in it. Out: well-formed markup, in which a text can never become a tag: only `xml` makes a `Markup`, and every string
 * in it is escaped.
 *
 *     xml`<title>${'a < b'}</title>`.text  // <title>a &lt; b</title>
 */

import { escapeXml } from '../common/markup.ts';

/** Markup whose texts are escaped. */
export class Markup {
  readonly text: string;

  /** For this file alone. */
  constructor(text: string) {
    this.text = text;
  }

  get isEmpty(): boolean {
    return this.text === '';
  }

  /** Itself, or other markup where it is empty. */
  or(other: Markup): Markup {
    return this.isEmpty ? other : this;
  }
}

/** A text of the source as it stands, such as a style sheet; never one of a record. */
export function verbatim(text: string): Markup {
  return new Markup(text);
}

export type MarkupValue = Markup | string | number | undefined | readonly Markup[];

/** A template is one object however often it is used. */
const known = new WeakMap<TemplateStringsArray, readonly string[]>();

/**
 * Values become text, or the quoted value of an attribute; behind `<` and `</` they are names of elements. Line ends of
 * the template and the blanks behind them are its layout and are left out; `\n` is a line end.
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

/** HTML is escaped alike. */
export function html(template: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return xml(template, ...values);
}

export const NOTHING: Markup = xml``;

function partsOf(template: TemplateStringsArray): readonly string[] {
  const before = known.get(template);
  if (before) return before;
  const parts = template.raw.map(part => part.replace(/\n\s*/g, '').replaceAll('\\n', '\n'));
  known.set(template, parts);
  return parts;
}

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

/** ` name="text"`, or nothing without a text that is more than blanks. Line ends and tabs become blanks. */
export function attribute(name: string, text: string | undefined): Markup {
  if (!ATTRIBUTE.test(name)) throw new RangeError('no name of an attribute');
  const value = text?.replace(/[\s\u0085]+/g, ' ').trim();
  return value === undefined || value === '' ? NOTHING : new Markup(` ${name}="${escapeXml(value)}"`);
}

/** `<name attributes>text</name>`, or nothing without a text that is more than blanks. */
export function textElement(name: string, text: string | undefined, attributes?: Markup): Markup {
  const value = text?.trim();
  return value === undefined || value === '' ? NOTHING : xml`<${name}${attributes}>${value}</${name}>`;
}

/** A `templateId` per template; those of R1.1 and of companion guides have their own extension, or none. */
export function templateIds(...templates: readonly string[]): Markup {
  return xml`${templates.map(template => {
    const [root, extension] = template.split(':');
    return xml`<templateId root="2.16.840.1.113883.10.20.22.${root}"${attribute('extension', extension)}/>`;
  })}`;
}
