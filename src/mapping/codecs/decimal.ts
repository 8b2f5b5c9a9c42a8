/**
 * Rounds decimals as text, without binary floats. In: texts of the grammar `-?\d+(\.\d+)?([eE][+-]?\d+)?`, which is
 * FHIR's (https://hl7.org/fhir/R4/datatypes.html#decimal), and a scale.
 */

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

/** The lowest multiple of ten to the power of `-scale` at or above a decimal, counted in such units. */
export function ceilUnits(text: string, scale: number): bigint {
  return -floorUnits(text.startsWith('-') ? text.slice(1) : `-${text.replace(/^\+/, '')}`, scale);
}

/** The highest such multiple at or below it. */
export function floorUnits(text: string, scale: number): bigint {
  const { units, scale: own } = parse(text);
  if (own <= scale) return units * 10n ** BigInt(scale - own);
  const unit = 10n ** BigInt(own - scale);
  const quotient = units / unit;
  return units < 0n && quotient * unit !== units ? quotient - 1n : quotient;
}

/** Negative, zero or positive as two decimals compare. */
export function compareDecimals(left: string, right: string): number {
  const [a, b] = [parse(left), parse(right)];
  const scale = Math.max(a.scale, b.scale);
  const difference = a.units * 10n ** BigInt(scale - a.scale) - b.units * 10n ** BigInt(scale - b.scale);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** Units of a scale as plain text: `-1234` at scale 2 is `-12.34`. */
export function printUnits(units: bigint, scale: number): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const sign = units < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
