/**
 * `code`: a text column as code, id, uri or an identifier's value. Only blanks on the right are trimmed, so that
 * equality is a plain comparison with the column and an index serves it. In: the raw text. Out: the text, absent where
 * FHIR's `code` forbids it: blanks at the beginning or doubled, control characters.
 * https://hl7.org/fhir/R4/datatypes.html#code
 */
import { type ColumnType, isLoose, UNICODE } from '../../sql/column-type.ts';
import { and, call, equals, FALSE, filled, glob, not, value } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import type { AnyCase } from '../criterion.ts';
import { equalsAnyCase } from './any-case.ts';
import { trimEnd } from './blank.ts';
import type { Codec, OrderFace } from './codec.ts';
import { only } from './only.ts';
import { matchText } from './text.ts';
import { beginningOf } from './text-beginning.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a code must not have
const FORBIDDEN = /^ | {2}|[\u0000-\u001f\u007f]/;
const CONTROLS = '*[\u0001-\u001f\u007f]*';

/** Text of codes and keys, trimmed on the right. */
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

/** Codes sort as they stand in their column. */
export const CODE_ORDER: OrderFace = {
  by: columns => [beginningOf(only(columns))],
  // Engines do not tell values apart by the blanks behind them, so pages must not either.
  toKey: ([raw]) => (typeof raw === 'string' ? trimEnd(raw) : undefined),
  fromKey: key => [key],
};

/** The code that a raw text is, or undefined if it is none. */
export function codeOf(raw: string): string | undefined {
  const text = trimEnd(raw);
  return text === '' || FORBIDDEN.test(text) ? undefined : text;
}

/** The column holds a code. */
export function isCode(column: Expression): Predicate {
  return and(filled(column), not(glob(column, ' *')), not(glob(column, '*  *')), not(glob(column, CONTROLS)));
}

/** The column holds this code: nothing that is no code can equal one. */
export function matchCode(column: Expression, code: string, anyCase?: AnyCase): Predicate {
  if (codeOf(code) !== code) return FALSE;
  return anyCase ? equalsAnyCase(column, code, anyCase) : equals(column, value(code, UNICODE));
}
