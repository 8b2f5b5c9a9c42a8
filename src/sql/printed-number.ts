/**
 * Prints numbers: the shortest decimal that is the stored double, integers with all digits. In: a number or bigint of
 * a row, and the digits that its column declares. Out: text that parses to exactly that number; undefined for NaN and
 * infinities.
 */

/** From here on every double is whole. */
const ALL_WHOLE = 2 ** 53;
/** SQLite compares whole numbers below this with each other, be they stored as integers or as doubles. */
const INT64 = 2 ** 63;
const EXPONENT = /^(-?)(\d)(?:\.(\d+))?e([+-])(\d+)$/;

/** Without exponent. `scale`: digits after the point that the column declares; fewer are filled up, more stay. */
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
