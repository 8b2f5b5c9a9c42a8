/**
 * Primitive values as JSON text. In: what a codec decoded. Out: the text of the value, '' where there is none.
 * FHIR strings have neither lone surrogates nor control characters other than tab and line ends, and are never empty.
 * https://hl7.org/fhir/R4/json.html#primitive, https://hl7.org/fhir/R4/datatypes.html#string
 */
import type { Primitive } from '../mapping/codecs/codec.ts';

/**
 * Characters that JSON escapes, and halves of surrogate pairs, which may be alone. Without the `u` flag: twice as fast.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NEEDS_CARE = /[\u0000-\u001f"\\\u007f-\u009f\ud800-\udfff]/;
/** Control characters below U+0020 other than tab and line ends. */
const FORBIDDEN = /[^\P{Cc}\t\n\r\u007f-\u009f]/gu;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const ZERO_PADDED = /^(-?)0+(\d)/;

/** A JSON string. Lone surrogates and forbidden control characters become U+FFFD. */
export function quote(text: string): string {
  return NEEDS_CARE.test(text) ? JSON.stringify(cleanText(text)) : `"${text}"`;
}

/** The text with everything replaced by U+FFFD that FHIR cannot carry. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, '\ufffd');
}

/** The value as bare text. */
export function plainText(value: Primitive | undefined): string {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  return typeof value === 'object' ? numberText(value) : String(value);
}

/** For types whose JSON is a string. */
export function stringText(value: Primitive | undefined): string {
  if (typeof value === 'string') return value === '' ? '' : quote(value);
  const text = plainText(value);
  return text === '' ? '' : `"${text}"`;
}

/** For types whose JSON is a number: the digits as they are, '' for what JSON cannot write. */
export function numberText(value: Primitive | undefined): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  if (value === undefined || typeof value === 'boolean') return '';
  const digits = typeof value === 'object' ? value.decimal : value;
  if (JSON_NUMBER.test(digits)) return digits;
  const unpadded = digits.replace(ZERO_PADDED, '$1$2');
  return JSON_NUMBER.test(unpadded) ? unpadded : '';
}

/** For booleans. */
export function booleanText(value: Primitive | undefined): string {
  if (value === true || value === 'true') return 'true';
  return value === false || value === 'false' ? 'false' : '';
}
