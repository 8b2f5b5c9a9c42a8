/**
 * Functions of text and numbers with the same results in SQL and JavaScript. The SQLite dialect registers them as SQL
 * functions (`lintel_fold`, `lintel_words`, `lintel_printed`, `lintel_id_length`, `lintel_uuid`), the T-SQL dialect
 * writes them in SQL, and planner and writers call them on values.
 */
import { withoutBlanks } from './column-type.ts';

const ASCII = /^[\0-\x7f]*$/;
const MARKS = /\p{M}/gu;

/**
 * Returns a text in lower case without combining marks: `Élodie` and `ELODIE` both become `elodie`.
 * https://hl7.org/fhir/R4/search.html#string
 */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFD').replace(MARKS, '').toLowerCase();
}

/** Characters that are dropped: apostrophes, characters typed in place of them, and full stops. */
export const LEFT_OUT = "'‘’‛`´ʻʼ′＇.";
/**
 * Characters that separate words, besides tabs and line ends: blanks, hyphens, dashes, commas, semicolons, slashes,
 * round brackets.
 */
export const BETWEEN = '-\u2010\u2011\u2012\u2013\u2014\u2015\u2212,;/()\u00a0 ';

const LEAVES_OUT = new RegExp(`[${LEFT_OUT}]+`, 'g');
// `-` is first in the class, so that it stands for itself.
const PARTS = new RegExp(`[${BETWEEN}\\t\\r\\n]+`);

/**
 * Returns the words of a text, folded; none if it has only separators. People write `obrien`, `O’Brien` and `O'Brien`,
 * `Smith Jones` and `Smith-Jones` (docs/decisions/0294).
 */
export function wordsIn(text: string): readonly string[] {
  return fold(text)
    .replace(LEAVES_OUT, '')
    .split(PARTS)
    .filter(word => word !== '');
}

/** Returns the words, each after one blank: some word begins with `x` if the result contains ` x`. */
export function spacedWords(text: string): string {
  return wordsIn(text)
    .map(word => ` ${word}`)
    .join('');
}

/** From here on every double is a whole number. */
const ALL_WHOLE = 2 ** 53;
/** Below this, SQLite compares whole numbers as equal, whether stored as integers or doubles. */
const INT64 = 2 ** 63;
const EXPONENT = /^(-?)(\d)(?:\.(\d+))?e([+-])(\d+)$/;

/**
 * Digits that always distinguish a decimal from the neighbouring singles, and digits that always distinguish singles.
 */
const DIGITS_OF_SINGLE = { least: 6, most: 9 };

/** Returns the 32-bit float nearest to a number, as the shortest decimal that reads as this float. */
export function nearestSingle(number: number): number {
  const single = Math.fround(number);
  if (!Number.isFinite(single)) return single;
  for (let digits = DIGITS_OF_SINGLE.least; digits < DIGITS_OF_SINGLE.most; digits++) {
    const shorter = Number(single.toPrecision(digits));
    if (Math.fround(shorter) === single) return shorter;
  }
  return Number(single.toPrecision(DIGITS_OF_SINGLE.most));
}

/**
 * Prints the shortest decimal that reads as the stored double, and integers with all digits; undefined for NaN and
 * infinities. Without exponent. `scale`: digits after the point that the column declares; pads with zeros, never cuts.
 */
export function printNumber(number: number | bigint, scale?: number): string | undefined {
  if (typeof number === 'number' && !Number.isFinite(number)) return undefined;
  const text = withoutExponent(
    typeof number === 'number' && isLargeWhole(number) ? BigInt(number).toString() : String(number),
  );
  if (scale === undefined) return text;
  const [whole = '', fraction = ''] = text.split('.');
  return scale === 0 && fraction === '' ? whole : `${whole}.${fraction.padEnd(scale, '0')}`;
}

function isLargeWhole(number: number): boolean {
  return (number >= ALL_WHOLE && number < INT64) || (number <= -ALL_WHOLE && number >= -INT64);
}

/** Writes `1.5e-7` as `0.00000015`. */
export function withoutExponent(text: string): string {
  const match = EXPONENT.exec(text);
  if (!match) return text;
  const [, sign = '', first = '', rest = '', direction, exponent] = match;
  const digits = first + rest;
  const by = Number(exponent);
  if (direction === '-') return `${sign}0.${'0'.repeat(by - 1)}${digits}`;
  return `${sign}${digits.padEnd(by + 1, '0')}`;
}

/** Replacements of HL7 v2 escapes, by the text between the backslashes; other escapes stay unchanged. */
export const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ F: '|', S: '^', T: '&', R: '~', E: '\\' }),
  ...Object.entries({ '.br': '\n', '.sp': '\n', X0A: '\n', X0D: '\n', X0D0A: '\n', H: '', N: '' }),
]);

/** Returns `A & B` for `A \T\ B`. Backslashes are paired from the left, and replacements are not read again. */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([^\\]*)\\/g, (whole, code: string) => ESCAPES.get(code) ?? whole);
}

/** A UUID as a text, in letters of either case. https://www.rfc-editor.org/rfc/rfc9562#section-4 */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const SPELT = /^(\{?)([0-9a-f]{8})(-?)([0-9a-f]{4})\3([0-9a-f]{4})\3([0-9a-f]{4})\3([0-9a-f]{12})(\}?)$/i;

/** Returns a UUID in capitals with hyphens; it may be written in braces, and without hyphens. */
export function uuidOf(text: string): string | undefined {
  const [, open, a, , b, c, d, e, close] = SPELT.exec(text) ?? [];
  if (a === undefined || (open === '') !== (close === '')) return undefined;
  return `${a}-${b}-${c}-${d}-${e}`.toUpperCase();
}

/**
 * How a key is written in an id: unchanged; with escapes for points and characters that no id may have; also for
 * hyphens.
 */
export const AS_IT_IS = 0;
export const ESCAPED = 1;
export const HYPHENS_ESCAPED = 2;

/** Letters and digits; with hyphens if these are not escaped. */
const KEPT = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Length of a character escaped as one byte: a point and two digits. */
export const ONE_BYTE = 3;
/** Length of any other escaped unit of UTF-16; no character takes more. */
export const OTHER = 9;

/** Returns the characters that are not escaped. */
export function keptIn(how: number): string {
  return how === HYPHENS_ESCAPED ? KEPT : `${KEPT}-`;
}

/** Returns the other printable characters of ASCII, from blank to tilde. */
export function escapedAsOne(how: number): string {
  const kept = keptIn(how);
  return Array.from({ length: 95 }, (_, i) => String.fromCharCode(0x20 + i))
    .filter(character => !kept.includes(character))
    .join('');
}

const COUNTED = [AS_IT_IS, ESCAPED, HYPHENS_ESCAPED].map(how => ({
  kept: new Set(keptIn(how)),
  one: new Set(escapedAsOne(how)),
}));

/** Keys in which nothing is ever escaped: most keys. */
const PLAIN = /^[A-Za-z0-9]*$/;

/**
 * Returns the number of characters that a key takes in a logical id, whose limit is 64 (docs/decisions/0434). Trailing
 * blanks do not count.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
export function lengthInId(text: string, how: number): number {
  if (PLAIN.test(text)) return text.length;
  const trimmed = withoutBlanks(text);
  const counted = how === AS_IT_IS ? undefined : COUNTED[how];
  if (counted === undefined) return [...trimmed].length;
  let length = 0;
  for (let at = 0; at < trimmed.length; at++) {
    const character = trimmed.charAt(at);
    length += counted.kept.has(character) ? 1 : counted.one.has(character) ? ONE_BYTE : OTHER;
  }
  return length;
}
