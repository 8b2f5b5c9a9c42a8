/**
 * `range-text`: reads reference ranges in text, `3.5-5.1`, `<200`, `>=60`. Facets: `.low` and `.high`. In: text. Out: a
 * decimal. A strict bound is emitted as the bound, because Range has no exclusive ends. Output only.
 * https://hl7.org/fhir/R4/datatypes.html#Range
 */
import { UNICODE } from '../../sql/column-type.ts';
import { and, call, glob, not, or } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { type Codec, only } from './codec.ts';
import { isNumberText, parseNumberText, trimmedText } from './decimal.ts';
import { trim } from './text.ts';

/** Reads one end of a range. */
export function rangeTextCodec(facet: 'low' | 'high'): Codec {
  return {
    label: `range-text.${facet}`,
    yields: ['decimal'],
    columns: 1,
    small: true,
    inverse: 'none',
    decode: raw => {
      const end = typeof raw === 'string' ? split(trim(raw))[facet] : undefined;
      return end === undefined ? undefined : { decimal: end };
    },
    present: columns => or(isRange(only(columns)), isBound(only(columns), facet === 'low' ? '>' : '<')),
    match: () => undefined,
  };
}

interface Ends {
  readonly low?: string;
  readonly high?: string;
}

function split(text: string): Ends {
  const sign = text[0];
  if (sign === '<' || sign === '>') {
    const bound = parseNumberText(trim(text.slice(text[1] === '=' ? 2 : 1)));
    if (bound === undefined) return {};
    return sign === '<' ? { high: bound } : { low: bound };
  }
  // The only hyphen separates the ends: neither end is negative.
  const [before = '', after = '', ...more] = text.split('-');
  if (more.length > 0) return {};
  const low = parseNumberText(trim(before));
  const high = parseNumberText(trim(after));
  return low === undefined || high === undefined ? {} : { low, high };
}

function isRange(column: Expression): Predicate {
  const text = trimmedText(column);
  return and(
    glob(text, '*-*'),
    isNumberText(call('trim', [call('piece', [text, HYPHEN, 1], UNICODE)], UNICODE)),
    isNumberText(call('trim', [call('piece', [text, HYPHEN, 2], UNICODE)], UNICODE)),
    not(glob(text, '*-*-*')),
  );
}

const HYPHEN: Expression = { kind: 'value', value: '-', type: UNICODE };

function isBound(column: Expression, sign: '<' | '>'): Predicate {
  const text = trimmedText(column);
  const after = (length: number): Expression =>
    call('trim', [call('substring', [text, length + 1, 4000], UNICODE)], UNICODE);
  return or(
    and(glob(text, `${sign}=*`), isNumberText(after(2))),
    and(glob(text, `${sign}*`), not(glob(text, `${sign}=*`)), isNumberText(after(1))),
  );
}
