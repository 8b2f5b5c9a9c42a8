/**
 * `text`: a text column as string or markdown, trimmed on both sides; an empty text is absent. In: the raw text. Out:
 * the text.
 * Control characters that FHIR forbids are removed from the resource and not from the search: the one exception to the
 * law, for values that contain them. https://hl7.org/fhir/R4/datatypes.html#string
 */
import { UNICODE } from '../../sql/column-type.ts';
import { among, and, call, equals, FALSE, filled, glob, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { fold } from '../../sql/shared-functions.ts';
import type { Criterion, DigitsTest, StringMode } from '../criterion.ts';
import { equalsAnyCase } from './any-case.ts';
import { hasOuterSpace, trim, withoutControls } from './blank.ts';
import type { Codec } from './codec.ts';
import { only } from './only.ts';
import { beginningOf } from './text-beginning.ts';

/** Text, trimmed on both sides. */
export function textCodec(): Codec {
  const trimmed = (columns: readonly Expression[]): Expression => call('trim', [only(columns)], UNICODE);
  return {
    label: 'text',
    yields: ['string', 'markdown', 'uri', 'url', 'canonical', 'code', 'id'],
    columns: 1,
    small: false,
    inverse: 'computed',
    decode: raw => (typeof raw === 'string' ? emitted(raw) : undefined),
    present: columns => filled(trimmed(columns)),
    match: (columns, criterion) => matchText(trimmed(columns), criterion),
    order: {
      // Case does not count where engines agree on it. Folding would order as each engine likes, and rows that sort by
      // different columns are merged outside of it.
      by: columns => [beginningOf(call('upper', [trimmed(columns)], UNICODE))],
      toKey: () => undefined,
      fromKey: key => [key],
    },
  };
}

/** A criterion on an expression that gives the emitted text, or a blank or NULL where there is none. */
export function matchText(text: Expression, criterion: Criterion): Predicate | undefined {
  switch (criterion.kind) {
    case 'exact':
      if (!isEmittable(criterion.text)) return FALSE;
      return criterion.anyCase
        ? equalsAnyCase(text, criterion.text, criterion.anyCase)
        : equals(text, value(criterion.text, UNICODE));
    case 'uri-below':
      return isEmittable(criterion.text) ? matchBelow(text, criterion.text) : FALSE;
    case 'string':
      return matchString(text, criterion.mode, criterion.text);
    case 'digits':
      return matchDigits(text, criterion.any);
    case 'date':
    case 'number':
      return undefined;
  }
}

const EXTENSION = '*[xX#]*';

function matchDigits(text: Expression, tests: readonly DigitsTest[]): Predicate {
  const of = call('digits', [text], UNICODE);
  const wanted = (where: DigitsTest['where']): readonly string[] =>
    tests.filter(one => one.where === where && /^[0-9]+$/.test(one.digits)).map(({ digits }) => digits);
  const whole = wanted('whole').map(digits => value(digits, UNICODE));
  const begun = wanted('extended').map(
    digits => ({ kind: 'contains', of, where: 'start', texts: [digits], not: false }) as const,
  );
  return or(
    among(of, whole),
    ...wanted('end').map(digits => ({ kind: 'contains', of, where: 'end', texts: [digits], not: false }) as const),
    and(glob(text, EXTENSION), or(...begun)),
  );
}

function matchString(text: Expression, mode: StringMode, wanted: string): Predicate {
  if (mode === 'exact') return isEmittable(wanted) ? equals(text, value(wanted, UNICODE)) : FALSE;
  if (mode === 'word') {
    const of = call('words', [text], UNICODE);
    return and(filled(text), { kind: 'contains', of, where: 'anywhere', texts: [` ${wanted}`], not: false });
  }
  const folded = fold(wanted);
  const where = mode === 'starts' ? 'start' : 'anywhere';
  // Every text that there is contains the empty one; a NULL contains none.
  return and(
    filled(text),
    ...(folded === ''
      ? []
      : [
          { kind: 'contains' as const, of: call('fold', [text], UNICODE), where, texts: [folded], not: false } as const,
        ]),
  );
}

/** The URI itself, and those that continue it after a slash (https://hl7.org/fhir/R4/search.html#uri). */
export function matchBelow(text: Expression, uri: string): Predicate {
  return or(equals(text, value(uri, UNICODE)), {
    kind: 'contains',
    of: text,
    where: 'start',
    texts: [insideOf(uri)],
    not: false,
  });
}

/** The same of a URI that is known. */
export function isBelow(found: string, uri: string): boolean {
  return uri !== '' && (found === uri || found.startsWith(insideOf(uri)));
}

function insideOf(uri: string): string {
  return uri.endsWith('/') ? uri : `${uri}/`;
}

function emitted(raw: string): string | undefined {
  const text = trim(withoutControls(raw));
  return text === '' ? undefined : text;
}

function isEmittable(text: string): boolean {
  return text !== '' && !hasOuterSpace(text);
}
