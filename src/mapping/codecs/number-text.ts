/**
 * Numbers written in text: exactly `-?\d+(\.\d+)?`, at most fifteen characters once trimmed and ten digits after the
 * point. So many digits are exact in every engine, also one that computes with binary floats.
 */
import { NUMBER, UNICODE } from '../../sql/column-type.ts';
import { and, call, glob, not, or } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';

const GRAMMAR = /^-?\d+(?:\.\d{1,10})?$/;
const LONGEST = 15;
/** The scale of NUMBER. */
export const MOST_DECIMALS = 10;

/** A number of the grammar as JSON and FHIR write it (no leading zeros, no minus zero); the text must be trimmed. */
export function parseNumberText(text: string): string | undefined {
  return text.length <= LONGEST && GRAMMAR.test(text) ? canonicalNumber(text) : undefined;
}

const DIGIT_ONE = 49;
const DIGIT_NINE = 57;

/** `-007.50` → `-7.50`, `-0` → `0`: the digits after the point stay, they are the precision. */
export function canonicalNumber(text: string): string {
  const first = text.charCodeAt(0);
  if (first >= DIGIT_ONE && first <= DIGIT_NINE) return text;
  const negative = text.startsWith('-');
  const digits = (negative ? text.slice(1) : text).replace(/^0+(?=\d)/, '');
  return negative && /[1-9]/.test(digits) ? `-${digits}` : digits;
}

/** The expression (a trimmed text) is a number of the grammar. */
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

/** The number of such a text. */
export function numberOf(text: Expression): Expression {
  return call('number', [text], NUMBER);
}

/** The text of a column, trimmed on both sides. */
export function trimmedText(column: Expression): Expression {
  return call('trim', [column], UNICODE);
}
