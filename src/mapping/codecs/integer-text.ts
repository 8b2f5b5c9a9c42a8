/**
 * Numbers of a column as text: an integer key as an identifier's value, a code or a string. In: an integer, or the text
 * of a decimal. Out: its digits. Equality compares the bare column with the number.
 */
import { type ColumnType, holdsAnyNumber, isMixed, UNICODE } from '../../sql/column-type.ts';
import { call, equals, FALSE, isNull, not, value } from '../../sql/construct.ts';
import type { SqlValue } from '../../sql/expression.ts';
import { digits } from '../../time/calendar.ts';
import { CODE_ORDER } from './code.ts';
import type { Codec } from './codec.ts';
import { only } from './only.ts';
import { columnDigits, valuePrinted } from './stored-number.ts';
import { matchText } from './text.ts';

const INTEGER_TEXT = /^(?:0|-?[1-9]\d*)$/;

/** The digits of a numeric column, as they arrive from it. */
export function integerTextCodec(columnType: ColumnType): Codec {
  return {
    label: 'text',
    yields: ['string', 'code', 'id', 'markdown'],
    columns: 1,
    small: false,
    inverse: isMixed(columnType) ? 'computed' : 'indexed',
    decode: columnDigits,
    present: columns => not(isNull(only(columns))),
    match: (columns, criterion) => {
      const column = only(columns);
      if (criterion.kind === 'exact' || (criterion.kind === 'string' && criterion.mode === 'exact')) {
        const number = parseAs(criterion.text, columnType);
        return number === undefined ? FALSE : equals(column, value(number, columnType));
      }
      return matchText(call('text', [column], UNICODE), criterion);
    },
    // As what is emitted, which stands beside identifiers that are no numbers.
    order: { ...CODE_ORDER, by: columns => [call('text', [only(columns)], UNICODE)] },
  };
}

/** The value of a numeric column that is written like this text, or undefined if none is. */
export function parseAs(text: string, type: ColumnType): SqlValue | undefined {
  if (holdsAnyNumber(type)) return valuePrinted(text, type);
  switch (type.kind) {
    case 'bit':
      return text === '0' || text === '1' ? Number(text) : undefined;
    case 'integer':
      return parseInteger(text, type.bits);
    case 'decimal': {
      const match = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?$/.exec(text);
      const [, sign = '', whole = '', fraction = ''] = match ?? [];
      if (!match || fraction.length !== type.scale || whole.length > Math.max(1, type.precision - type.scale))
        return undefined;
      return sign === '-' && /^[0.]*$/.test(text.slice(1)) ? undefined : text;
    }
    default:
      return undefined;
  }
}

/** By the bits of a column: shorter texts are surely among its integers. */
const SURELY = { 8: 3, 16: 5, 32: 10, 64: 19 } as const;

/** Of the one spelling that an integer has; of more digits than a number is exact for, a number about as large. */
function shortInteger(text: string): number | undefined {
  const from = text.startsWith('-') ? 1 : 0;
  if (text.length === from || (text.length > 1 && text.charCodeAt(from) === ZERO)) return undefined;
  const number = digits(text, from, text.length);
  if (Number.isNaN(number)) return undefined;
  return from === 0 ? number : -number;
}

const ZERO = 48;

/** An integer of a size, as a number where that is exact, else as its digits; undefined for any other spelling. */
export function parseInteger(text: string, bits: 8 | 16 | 32 | 64): number | string | undefined {
  if (text.length < SURELY[bits] && (bits > 8 || !text.startsWith('-'))) {
    const number = shortInteger(text);
    return bits === 64 && number !== undefined ? text : number;
  }
  if (!INTEGER_TEXT.test(text) || text.length > 20) return undefined;
  const number = BigInt(text);
  const low = bits === 8 ? 0n : -(1n << BigInt(bits - 1));
  const high = bits === 8 ? 255n : (1n << BigInt(bits - 1)) - 1n;
  if (number < low || number > high) return undefined;
  return bits === 64 ? text : Number(text);
}
