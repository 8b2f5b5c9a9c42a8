/**
 * Matches numbers and quantities in the reference implementation of search. In: a number of a query with its prefix,
 * perhaps with a unit. Out: whether a value matches.
 * https://hl7.org/fhir/R4/search.html#number
 */
import { type Answers, field, partsOf, plain, prefixOf } from './oracle-values.ts';

/** Returns a test whether a quantity or range has the searched unit and matches the number. */
export function quantity(text: string): Answers {
  const [amount = '', system, code] = partsOf(text, '|').map(plain);
  const matches = number(amount);
  const reaches = range(amount);
  const isOfUnit = (value: unknown): boolean => {
    if (code === undefined || code === '')
      return system === undefined || system === '' || field(value, 'system') === system;
    if (system === '') return field(value, 'code') === code || field(value, 'unit') === code;
    return field(value, 'code') === code && field(value, 'system') === system;
  };
  return ({ type, value }) => {
    if (type === 'Range') {
      const [low, high] = [field(value, 'low'), field(value, 'high')];
      const ends = [low, high].filter(end => field(end, 'value') !== undefined);
      if (ends.length === 0 || !ends.every(isOfUnit)) return false;
      return reaches(
        Number(field(low, 'value') ?? Number.NEGATIVE_INFINITY),
        Number(field(high, 'value') ?? Number.POSITIVE_INFINITY),
      );
    }
    const own = field(value, 'value');
    if (own === undefined) return false;
    const comparator = field(value, 'comparator');
    return matches(Number(own), typeof comparator === 'string' ? comparator : undefined) && isOfUnit(value);
  };
}

/** Returns a test whether the numbers from `low` to `high`, both included, match by the prefix. */
function range(text: string): (low: number, high: number) => boolean {
  const { prefix, rest } = prefixOf(text);
  const asked = Number(rest);
  const isRounded = roundsTo(rest);
  const far = tenthFrom(rest);
  const within = (end: number): boolean => Number.isFinite(end) && isRounded(end);
  return (low, high) => {
    switch (prefix) {
      case 'eq':
        return within(low) && within(high);
      case 'ne':
        return !(within(low) && within(high));
      case 'ap':
        return far(low) <= 0 && far(high) >= 0;
      case 'gt':
        return high > asked;
      case 'lt':
        return low < asked;
      case 'ge':
        return high >= asked;
      case 'le':
        return low <= asked;
      case 'sa':
        return low > asked;
      default:
        return high < asked;
    }
  };
}

/**
 * Returns a test whether a number is within half a unit of the last written digit: 5.40 is 5.395 to 5.405. It computes
 * with whole numbers, because a binary fraction of seventeen digits has no room for the half.
 */
function roundsTo(written: string): (value: number) => boolean {
  const asked = decimal(written);
  return value => {
    const own = decimal(String(value));
    const scale = Math.max(own.scale, asked.scale + 1);
    const at = ({ units, scale: from }: Decimal): bigint => units * 10n ** BigInt(scale - from);
    const half = 5n * 10n ** BigInt(scale - asked.scale - 1);
    return at(own) >= at(asked) - half && at(own) < at(asked) + half;
  };
}

/**
 * Returns where a number lies: 0 within a tenth of the written one, both ends included; -1 below and 1 above. It
 * computes with whole numbers.
 */
function tenthFrom(written: string): (value: number) => -1 | 0 | 1 {
  const asked = decimal(written);
  return value => {
    if (!Number.isFinite(value)) return value < 0 ? -1 : 1;
    const own = decimal(String(value));
    const scale = Math.max(own.scale, asked.scale + 1);
    const at = ({ units, scale: from }: Decimal): bigint => units * 10n ** BigInt(scale - from);
    const middle = at(asked);
    const slack = (middle < 0n ? -middle : middle) / 10n;
    return at(own) < middle - slack ? -1 : at(own) > middle + slack ? 1 : 0;
  };
}

/** The value `units` × 10^-`scale`; the scale may be negative. */
interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

function decimal(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('+', '').split('.');
  return { units: BigInt(whole + fraction), scale: fraction.length - Number(exponent) };
}

/**
 * Returns a test whether a point, or with a comparator the open or closed ray that it stands for, matches the number of
 * a query.
 */
export function number(text: string): (value: number, comparator: string | undefined) => boolean {
  const { prefix, rest } = prefixOf(text);
  const asked = Number(rest);
  const isRounded = roundsTo(rest);
  const far = tenthFrom(rest);
  return (value, comparator) => {
    const ray = { upTo: comparator?.startsWith('<') ?? false, from: comparator?.startsWith('>') ?? false };
    const closed = comparator?.endsWith('=') ?? false;
    switch (prefix) {
      case 'eq':
        return comparator === undefined && isRounded(value);
      case 'ap':
        return comparator === undefined && far(value) === 0;
      case 'ne':
        return comparator !== undefined || !isRounded(value);
      case 'gt':
        return ray.from || value > asked;
      case 'sa':
        return !ray.upTo && (ray.from && !closed ? value >= asked : value > asked);
      case 'lt':
        return ray.upTo || value < asked;
      case 'eb':
        return !ray.from && (ray.upTo && !closed ? value <= asked : value < asked);
      case 'ge':
        return ray.from || (ray.upTo && !closed ? value > asked : value >= asked);
      default:
        return ray.upTo || (ray.from && !closed ? value < asked : value <= asked);
    }
  };
}
