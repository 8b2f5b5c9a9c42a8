/**
 * `code`: a column as code, id, uri or an identifier's value. A text is trimmed of blanks on the right only, so that
 * equality is a plain comparison with the column and an index serves it. A number is printed as its digits. In: the raw
 * value. Out: the text, absent if FHIR's `code` forbids it: leading or double blanks, control characters.
 * https://hl7.org/fhir/R4/datatypes.html#code
 */
import { type ColumnType, holdsAnyNumber, isLoose, UNICODE } from '../../sql/column-type.ts';
import { and, call, equals, FALSE, filled, glob, isNull, not, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { digits } from '../../time/calendar.ts';
import type { AnyCase } from '../criterion.ts';
import { type Codec, type OrderFace, only } from './codec.ts';
import { columnDigits, valuePrinted } from './number.ts';
import { beginningOf, equalsAnyCase, matchText, trimEnd } from './text.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a code must not have
const FORBIDDEN = /^ | {2}|[\u0000-\u001f\u007f]/;
const CONTROLS = '*[\u0001-\u001f\u007f]*';

/** Reads codes and keys, trimmed on the right. */
export function codeCodec(columnType: ColumnType = UNICODE): Codec {
  return {
    label: 'code',
    yields: ['code', 'id', 'uri', 'url', 'canonical', 'string', 'oid', 'uuid'],
    columns: 1,
    small: true,
    inverse: isLoose(columnType) ? 'computed' : 'indexed',
    decode: raw => (typeof raw === 'string' ? codeOf(raw) : undefined),
    present: columns => isCode(only(columns)),
    match: (columns, criterion) => {
      const column = only(columns);
      if (criterion.kind === 'exact' || (criterion.kind === 'string' && criterion.mode === 'exact'))
        return matchCode(column, criterion.text, criterion.kind === 'exact' ? criterion.anyCase : undefined);
      const matched = matchText(call('rtrim', [column], UNICODE), criterion);
      return matched && and(isCode(column), matched);
    },
    order: CODE_ORDER,
  };
}

/** Sorts codes as their column does. */
export const CODE_ORDER: OrderFace = {
  by: columns => [beginningOf(only(columns))],
  // Engines ignore trailing blanks in comparisons, so pages must too.
  toKey: ([raw]) => (typeof raw === 'string' ? trimEnd(raw) : undefined),
  fromKey: key => [key],
};

/** Returns the code of a raw text; undefined if it is none. */
export function codeOf(raw: string): string | undefined {
  const text = trimEnd(raw);
  return text === '' || FORBIDDEN.test(text) ? undefined : text;
}

/** Tests that the column holds a code. */
export function isCode(column: Expression): Predicate {
  return and(filled(column), not(glob(column, ' *')), not(glob(column, '*  *')), not(glob(column, CONTROLS)));
}

/** Tests that the column holds this code. A text that is no code equals none. */
export function matchCode(column: Expression, code: string, anyCase?: AnyCase): Predicate {
  if (codeOf(code) !== code) return FALSE;
  return anyCase ? equalsAnyCase(column, code, anyCase) : equals(column, value(code, UNICODE));
}

const INTEGER_TEXT = /^(?:0|-?[1-9]\d*)$/;

/** Reads a numeric column as its digits. */
export function integerTextCodec(columnType: ColumnType): Codec {
  return {
    label: 'text',
    yields: ['string', 'code', 'id', 'markdown'],
    columns: 1,
    inverse: 'indexed',
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
    // Sorts by the emitted text, because identifiers that are no numbers sort among them.
    order: { ...CODE_ORDER, by: columns => [call('text', [only(columns)], UNICODE)] },
  };
}

/** Returns the value of a numeric column that prints as this text; undefined if there is none. */
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

/** Lengths by the bits of a column: shorter texts are certainly in its range. */
const SURELY = { 8: 3, 16: 5, 32: 10, 64: 19 } as const;

/** Parses the only spelling of an integer. With more digits than a double holds, the result is approximate. */
function shortInteger(text: string): number | undefined {
  const from = text.startsWith('-') ? 1 : 0;
  if (text.length === from || (text.length > 1 && text.charCodeAt(from) === ZERO)) return undefined;
  const number = digits(text, from, text.length);
  if (Number.isNaN(number)) return undefined;
  return from === 0 ? number : -number;
}

const ZERO = 48;

/** Parses an integer of a size: as a number if that is exact, else as its digits; undefined for any other spelling. */
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
