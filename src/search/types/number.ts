/**
 * Search type `number`: compares a number with the written one, whose precision counts for `eq` and `ne`.
 * https://hl7.org/fhir/R4/search.html#number
 */
import type { NumberEdge } from '../../mapping/criterion.ts';
import type { NumberValue } from '../query.ts';
import { prefixed, type ValueContext, wrong } from '../values.ts';
import type { Asking, Leaf, SearchType } from './search-type.ts';

export const NUMBER: SearchType = {
  read: (text, _parameter, context) => readNumber(text, context),
  parts: {},
};

/** Also reads the amount of a quantity. */
export function readNumber(text: string, context: ValueContext): NumberValue {
  const { prefix, rest } = prefixed(text);
  const written = writtenNumber(rest);
  if (!written) throw wrong(context, 'a number, such as 5.4 or 1e2');
  const { value, low, high, tenthBelow, tenthAbove } = written;
  return prefix === 'ap'
    ? { kind: 'number', prefix, value, low: tenthBelow, high: tenthAbove }
    : { kind: 'number', prefix, value, low, high };
}

export function numberLeaf(numbers: readonly NumberValue[], ask: Asking): Leaf {
  return ask.primitive({ kind: 'number', any: numbers.flatMap(numberEdges) });
}

/** Returns the bounds of the written number. Its implicit precision counts for eq and ne only. */
export function numberEdges(number: NumberValue): readonly (readonly NumberEdge[])[] {
  const { value, low, high } = number;
  switch (number.prefix) {
    case 'eq':
      return [
        [
          { op: '>=', at: low },
          { op: '<', at: high },
        ],
      ];
    case 'ap':
      return [
        [
          { op: '>=', at: low },
          { op: '<=', at: high },
        ],
      ];
    case 'ne':
      return [[{ op: '<', at: low }], [{ op: '>=', at: high }]];
    case 'gt':
      return [[{ op: '>', at: value }]];
    case 'lt':
      return [[{ op: '<', at: value }]];
    case 'sa':
      return [[{ op: '>', at: value, whole: true }]];
    case 'eb':
      return [[{ op: '<', at: value, whole: true }]];
    case 'ge':
      return [[{ op: '>=', at: value }]];
    case 'le':
      return [[{ op: '<=', at: value }]];
  }
}

const DECIMAL = /^([+-]?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

export interface WrittenNumber {
  readonly value: string;
  /** Half a unit of the last written digit below and above: `5.4` stands for [5.35, 5.45). */
  readonly low: string;
  readonly high: string;
  /** A tenth of the number below and above, which the specification suggests for `ap`, both included. */
  readonly tenthBelow: string;
  readonly tenthAbove: string;
}

/**
 * Reads decimals without binary rounding. In: a FHIR search number. Out: its value and the interval of its precision,
 * as plain decimal texts; undefined if the text is no number.
 * https://hl7.org/fhir/R4/search.html#number
 */
export function writtenNumber(text: string): WrittenNumber | undefined {
  const match = DECIMAL.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  // The number is digits × 10^-scale, with one more digit so that half a unit and a tenth are whole numbers.
  const scale = fraction.length - Number(exponent) + 1;
  const magnitude = BigInt(whole + fraction) * 10n;
  const scaled = sign === '-' ? -magnitude : magnitude;
  const near = (distance: bigint): string => print(scaled + distance, scale);
  const tenth = magnitude / 10n;
  return { value: near(0n), low: near(-5n), high: near(5n), tenthBelow: near(-tenth), tenthAbove: near(tenth) };
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
