/**
 * Reads decimals without binary rounding. In: a FHIR search number. Out: its value and the interval that its precision
 * means, as plain decimal texts.
 * https://hl7.org/fhir/R4/search.html#number
 */

const NUMBER = /^([+-]?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

export interface WrittenNumber {
  readonly value: string;
  /** Half a unit of the last written digit below and above: `5.4` stands for [5.35, 5.45). */
  readonly low: string;
  readonly high: string;
}

/** Reads a number; undefined if the text is none. */
export function writtenNumber(text: string): WrittenNumber | undefined {
  const match = NUMBER.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  // The number is digits × 10^-scale, with one more digit so that half a unit is whole.
  const scale = fraction.length - Number(exponent) + 1;
  const magnitude = BigInt(whole + fraction) * 10n;
  const scaled = sign === '-' ? -magnitude : magnitude;
  return { value: print(scaled, scale), low: print(scaled - 5n, scale), high: print(scaled + 5n, scale) };
}

function print(scaled: bigint, scale: number): string {
  const negative = scaled < 0n;
  let digits = (negative ? -scaled : scaled).toString();
  if (scale <= 0) digits += '0'.repeat(-scale);
  else {
    digits = digits.padStart(scale + 1, '0');
    const fraction = digits.slice(-scale).replace(/0+$/, '');
    digits = digits.slice(0, -scale) + (fraction === '' ? '' : `.${fraction}`);
  }
  return negative && digits !== '0' ? `-${digits}` : digits;
}
