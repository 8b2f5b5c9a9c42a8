/**
 * Writes texts of values as JSON: single primitives, and generated code for text that is joined from several values.
 * FHIR strings have neither lone surrogates nor control characters other than tab and line ends, and are never empty.
 * https://hl7.org/fhir/R4/json.html#primitive, https://hl7.org/fhir/R4/datatypes.html#string
 */

import { escapeMarkup } from '../common/markup.ts';
import type { Codec, Primitive } from '../mapping/codecs/codec.ts';
import type { LinesNode, Node, TextNode } from '../mapping/model.ts';
import { conditionCode } from './condition.ts';
import { eachItem } from './each.ts';
import { decodeCode, type Emission, firstPresent, placesOf, unlessAbsent } from './emission.ts';
import { ABSENT, anyPresent, literal, type Text } from './source-text.ts';

/** Generates the bare text of all parts; '' if it does not exist. */
export function joinedText(node: TextNode, at: Emission): Text {
  const { source } = at;
  const parts = node.parts.map(part => {
    if (typeof part === 'string') return { fixed: true, text: literal(part) };
    return { fixed: false, text: node.type === 'xhtml' ? escaped(part, bareText(part, at), at) : bareText(part, at) };
  });
  const values = parts.filter(part => !part.fixed).map(part => part.text);
  const result = source.variable("''");
  if (node.mode === 'template') {
    const open = values.filter(text => !text.neverEmpty);
    if (open.some(text => text.literal === '')) return ABSENT;
    const condition = open.length === 0 ? 'true' : open.map(text => `${text.code} !== ''`).join(' && ');
    source.when(condition, () => source.line(`${result} = ${parts.map(part => part.text.code).join(' + ') || "''"};`));
    return { code: result, neverEmpty: open.length === 0 && parts.some(part => part.text.neverEmpty) };
  }
  const presence = anyPresent(values);
  const separator = JSON.stringify(node.separator);
  source.when(presence, () => {
    for (const { text } of parts) {
      const separated = `${result} += (${result} === '' ? '' : ${separator}) + ${text.code};`;
      source.when(anyPresent([text]), () => source.line(separated));
    }
  });
  return { code: result, neverEmpty: presence === 'true' };
}

/** Generates the bare text of child rows joined together; '' if none has any. */
export function linesText(node: LinesNode, at: Emission): Text {
  const { source } = at;
  const lines = source.variable('[]', 'const');
  eachItem(node.each, at, inner => {
    const places = placesOf(inner);
    source.line(`${lines}.push(${unlessAbsent(node.line, decodeCode(node.line, places), places, 'undefined')});`);
  });
  const present = node.isList ? `${lines}.filter(line => line !== undefined)` : lines;
  const whole = `${source.bind(putTogether)}(${present}, ${JSON.stringify(node.separator)}, ${source.bind(node.codec)})`;
  return { code: source.variable(whole, 'const'), neverEmpty: false };
}

/** Joins lines. A row without text becomes an empty line between others. */
function putTogether(lines: readonly (string | undefined)[], separator: string, codec: Codec): string {
  return lines.some(line => line !== undefined) ? plainText(codec.decode(lines.join(separator))) : '';
}

/** Generates a bare text as JSON. */
export function quotedText({ code, neverEmpty, plain = false, literal: known }: Text, { source }: Emission): Text {
  if (known !== undefined) return literal(stringText(known));
  if (plain) return { code: source.variable(`${code} === '' ? '' : '"' + ${code} + '"'`, 'const'), neverEmpty };
  return { code: source.variable(`${source.bind(stringText)}(${code})`, 'const'), neverEmpty };
}

/** Generates a node's value as text rather than JSON. Throws a TypeError on a node that is no single value. */
export function bareText(node: Node, at: Emission): Text {
  const { source } = at;
  const places = placesOf(at);
  const condition = node.if ? conditionCode(node.if, places) : 'true';
  if (condition === 'true') return bareExisting(node, at);
  const result = source.variable("''");
  source.when(condition, () => source.line(`${result} = ${bareExisting(node, at).code};`));
  return { code: result, neverEmpty: false };
}

function bareExisting(node: Node, at: Emission): Text {
  const { source } = at;
  const places = placesOf(at);
  switch (node.kind) {
    case 'constant':
      return literal(typeof node.json === 'object' ? '' : String(node.json));
    case 'value': {
      const { plain = false } = node.codec;
      const text = plain
        ? `(${decodeCode(node, places)} ?? '')`
        : `${source.bind(plainText)}(${decodeCode(node, places)})`;
      return { code: source.variable(unlessAbsent(node, text, places), 'const'), neverEmpty: false, plain };
    }
    case 'first':
      return firstPresent(
        node.alternatives.map(alternative => () => bareText(alternative, at)),
        at,
      );
    case 'text':
      return joinedText(node, at);
    case 'lines':
      return linesText(node, at);
    default:
      throw new TypeError(`${node.at.file}:${node.at.line}: a ${node.kind} is no text`);
  }
}

/** Escapes text inside a narrative, unless it is itself a narrative. */
function escaped(node: Node, text: Text, { source }: Emission): Text {
  if (node.type === 'xhtml') return text;
  if (text.literal !== undefined) return literal(escapeMarkup(text.literal));
  return { code: source.variable(`${source.bind(escapeMarkup)}(${text.code})`, 'const'), neverEmpty: text.neverEmpty };
}

/**
 * Characters that JSON escapes, and halves of surrogate pairs, which may be alone. Twice as fast without the `u` flag.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NEEDS_CARE = /[\u0000-\u001f"\\\u007f-\u009f\ud800-\udfff]/;
/** Control characters below U+0020 other than tab and line ends. */
const FORBIDDEN = /[^\P{Cc}\t\n\r\u007f-\u009f]/gu;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const ZERO_PADDED = /^(-?)0+(\d)/;

/** Returns a JSON string. Lone surrogates and forbidden control characters become U+FFFD. */
export function quote(text: string): string {
  return NEEDS_CARE.test(text) ? JSON.stringify(cleanText(text)) : `"${text}"`;
}

/** Replaces everything that FHIR cannot carry by U+FFFD. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, '\ufffd');
}

/** Returns the value as bare text. */
export function plainText(value: Primitive | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  return typeof value === 'object' ? numberText(value) : String(value);
}

/** Writes a value of a type whose JSON is a string. */
export function stringText(value: Primitive | undefined): string {
  if (typeof value === 'string') return value === '' ? '' : quote(value);
  const text = plainText(value);
  return text === '' ? '' : `"${text}"`;
}

/** Writes a value of a type whose JSON is a number, with its own digits; '' for a value that JSON cannot write. */
export function numberText(value: Primitive | undefined): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  if (value === undefined || typeof value === 'boolean') return '';
  const digits = typeof value === 'object' ? value.decimal : value;
  if (JSON_NUMBER.test(digits)) return digits;
  const unpadded = digits.replace(ZERO_PADDED, '$1$2');
  return JSON_NUMBER.test(unpadded) ? unpadded : '';
}

/** Writes a boolean. */
export function booleanText(value: Primitive | undefined): string {
  if (value === true || value === 'true') return 'true';
  return value === false || value === 'false' ? 'false' : '';
}
