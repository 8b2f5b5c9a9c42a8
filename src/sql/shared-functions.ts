/**
 * Functions of text and numbers that SQL and JavaScript compute alike. The SQLite dialect registers them on columns
 * (`lintel_fold`, `lintel_words`, `lintel_printed`, `lintel_id_length`, `lintel_uuid`), the T-SQL dialect spells the
 * same in SQL, and planner and writers call them on values.
 */

const ASCII = /^[\0-\x7f]*$/;
const MARKS = /\p{M}/gu;

/**
 * A text in lower case without combining marks: `Élodie` and `ELODIE` both become `elodie`.
 * https://hl7.org/fhir/R4/search.html#string
 */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFD').replace(MARKS, '').toLowerCase();
}

/** Left out: apostrophes and what is typed for them, full stops. */
export const LEFT_OUT = "'‘’‛`´ʻʼ′＇.";
/** Between words, beside tabs and line ends: blanks, hyphens, dashes, commas, semicolons, slashes, round brackets. */
export const BETWEEN = '-\u2010\u2011\u2012\u2013\u2014\u2015\u2212,;/()\u00a0 ';

const LEAVES_OUT = new RegExp(`[${LEFT_OUT}]+`, 'g');
// A hyphen stands for itself where it is the first of a class.
const PARTS = new RegExp(`[${BETWEEN}\\t\\r\\n]+`);

/**
 * The words of a text, folded; none where it has nothing but separators. People write `obrien`, `O’Brien` and
 * `O'Brien`, `Smith Jones` and `Smith-Jones` (docs/decisions/0294).
 */
export function wordsIn(text: string): readonly string[] {
  return fold(text)
    .replace(LEAVES_OUT, '')
    .split(PARTS)
    .filter(word => word !== '');
}

/** Its words, each after one blank: a word begins with `x` where this has ` x` somewhere. */
export function spacedWords(text: string): string {
  return wordsIn(text)
    .map(word => ` ${word}`)
    .join('');
}

/** From here on every double is whole. */
const ALL_WHOLE = 2 ** 53;
/** SQLite compares whole numbers below this with each other, be they stored as integers or as doubles. */
const INT64 = 2 ** 63;
const EXPONENT = /^(-?)(\d)(?:\.(\d+))?e([+-])(\d+)$/;

/** Digits by which every decimal is told from the singles beside it, and those by which every single is. */
const DIGITS_OF_SINGLE = { least: 6, most: 9 };

/** The float of 32 bits nearest to a number, as the shortest decimal that is this float and no other. */
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
 * The shortest decimal that is the stored double, integers with all digits; undefined for NaN and infinities. Without
 * exponent. `scale`: digits after the point that the column declares; fewer are filled up, more stay.
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

/** `1.5e-7` as `0.00000015`. */
export function withoutExponent(text: string): string {
  const match = EXPONENT.exec(text);
  if (!match) return text;
  const [, sign = '', first = '', rest = '', direction, exponent] = match;
  const digits = first + rest;
  const by = Number(exponent);
  if (direction === '-') return `${sign}0.${'0'.repeat(by - 1)}${digits}`;
  return `${sign}${digits.padEnd(by + 1, '0')}`;
}

/** What escapes of HL7 v2 stand for, as backslashes enclose them; others stay as they are. */
export const ESCAPES: ReadonlyMap<string, string> = new Map([
  ...Object.entries({ F: '|', S: '^', T: '&', R: '~', E: '\\' }),
  ...Object.entries({ '.br': '\n', '.sp': '\n', X0A: '\n', X0D: '\n', X0D0A: '\n', H: '', N: '' }),
]);

/** `A & B` of `A \T\ B`; backslashes go in pairs from the left, so that what an escape stands for is none again. */
export function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([^\\]*)\\/g, (whole, code: string) => ESCAPES.get(code) ?? whole);
}

/** A UUID as a text, in letters of either case. https://www.rfc-editor.org/rfc/rfc9562#section-4 */
export const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** How a key is written in an id: as it is; with escapes for points and what no id may have; also for hyphens. */
export const AS_IT_IS = 0;
export const ESCAPED = 1;
export const HYPHENS_ESCAPED = 2;

/** Letters, digits; with hyphens where they are not escaped. */
const KEPT = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Escaped as one byte: a point and two digits. */
export const ONE_BYTE = 3;
/** Of any other unit of UTF-16; no character takes more. */
export const OTHER = 9;

/** Characters that are not escaped. */
export function keptIn(how: number): string {
  return how === HYPHENS_ESCAPED ? KEPT : `${KEPT}-`;
}

/** The printable characters of ASCII beside those, from blank to tilde. */
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

/** Nothing is escaped, however it stands there: most keys there are. */
const PLAIN = /^[A-Za-z0-9]*$/;

/**
 * The characters that a key takes in a logical id, of at most 64 (docs/decisions/0434). Trailing blanks do not count.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
export function lengthInId(text: string, how: number): number {
  if (PLAIN.test(text)) return text.length;
  const trimmed = text.replace(/ +$/, '');
  const counted = how === AS_IT_IS ? undefined : COUNTED[how];
  if (counted === undefined) return [...trimmed].length;
  let length = 0;
  for (let at = 0; at < trimmed.length; at++) {
    const character = trimmed.charAt(at);
    length += counted.kept.has(character) ? 1 : counted.one.has(character) ? ONE_BYTE : OTHER;
  }
  return length;
}
