/**
 * Computes with decimals as text, without binary floats: which texts are numbers, and how they are rounded. In: texts
 * of the grammar `-?\d+(\.\d+)?([eE][+-]?\d+)?`, which is FHIR's (https://hl7.org/fhir/R4/datatypes.html#decimal), and
 * a scale.
 */
import { NUMBER, UNICODE } from '../../sql/column-type.ts';
import { and, call, glob, not, or } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';

const DECIMAL = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

interface Scaled {
  /** The value times ten to the power of `scale`. */
  readonly units: bigint;
  readonly scale: number;
}

function parse(text: string): Scaled {
  const [match, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (match === undefined) throw new RangeError('not a decimal');
  const units = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** Returns the lowest multiple of ten to the power of `-scale` at or above a decimal, counted in such units. */
export function ceilUnits(text: string, scale: number): bigint {
  return -floorUnits(text.startsWith('-') ? text.slice(1) : `-${text.replace(/^\+/, '')}`, scale);
}

/** Returns the highest such multiple at or below a decimal. */
export function floorUnits(text: string, scale: number): bigint {
  const { units, scale: own } = parse(text);
  if (own <= scale) return units * 10n ** BigInt(scale - own);
  const unit = 10n ** BigInt(own - scale);
  const quotient = units / unit;
  return units < 0n && quotient * unit !== units ? quotient - 1n : quotient;
}

/** Compares two decimals: negative, zero or positive. */
export function compareDecimals(left: string, right: string): number {
  const [a, b] = [parse(left), parse(right)];
  const scale = Math.max(a.scale, b.scale);
  const difference = a.units * 10n ** BigInt(scale - a.scale) - b.units * 10n ** BigInt(scale - b.scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Prints units of a scale as plain text: `-1234` at scale 2 is `-12.34`. */
export function printUnits(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const GRAMMAR = /^-?\d+(?:\.\d{1,10})?$/;
const LONGEST = 15;
/** The scale of NUMBER. */
export const MOST_DECIMALS = 10;

/**
 * Parses numbers written in text: exactly `-?\d+(\.\d+)?`, at most fifteen characters once trimmed and ten digits after
 * the point. So many digits are exact in every engine, even one that computes with binary floats. Returns the number as
 * JSON and FHIR write it (no leading zeros, no minus zero). The text must be trimmed.
 */
export function parseNumberText(text: string): string | undefined {
  return text.length <= LONGEST && GRAMMAR.test(text) ? canonicalNumber(text) : undefined;
}

const DIGIT_ONE = 49;
const DIGIT_NINE = 57;

/** Converts `-007.50` to `-7.50`, `-0` to `0`. Digits after the point stay, because they are the precision. */
export function canonicalNumber(text: string): string {
  const first = text.charCodeAt(0);
  if (first >= DIGIT_ONE && first <= DIGIT_NINE) return text;
  const negative = text.startsWith('-');
  const digits = (negative ? text.slice(1) : text).replace(/^0+(?=\d)/, '');
  return negative && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

/** Tests that the expression (a trimmed text) is a number of the grammar. */
export function isNumberText(text: Expression): Predicate {
  return and(
    or(glob(text, '[0-9]*'), glob(text, '-[0-9]*')),
    glob(text, '*[0-9]'),
    not(glob(text, '*[^-.0-9]*')),
    not(glob(text, '?*-*')),
    not(glob(text, '*.*.*')),
    not(glob(text, `*.${'?'.repeat(MOST_DECIMALS + 1)}*`)),
    not(glob(text, `${'?'.repeat(LONGEST + 1)}*`)),
  );
}

/** Returns the number of such a text. */
export function numberOf(text: Expression): Expression {
  return call('number', [text], NUMBER);
}

/** Returns the text of a column, trimmed on both sides. */
export function trimmedText(column: Expression): Expression {
  return call('trim', [column], UNICODE);
}
