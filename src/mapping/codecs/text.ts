/**
 * `text`: a text column as string or markdown, trimmed on both sides; an empty text is absent. In: the raw text. Out:
 * the text. Other codecs share its trimming and case-insensitive comparison. Control characters that FHIR forbids are
 * removed from the resource but not from the search: values that contain them are the one exception to the law.
 * https://hl7.org/fhir/R4/datatypes.html#string
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { among, and, call, compare, equals, FALSE, filled, glob, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { fold } from '../../sql/shared-functions.ts';
import { walk } from '../../sql/walk.ts';
import type { AnyCase, Criterion, DigitsTest, StringMode } from '../criterion.ts';
import { type Codec, only } from './codec.ts';

/** Reads text, trimmed on both sides. */
export function textCodec(): Codec {
  const trimmed = (columns: readonly Expression[]): Expression => call('trim', [only(columns)], UNICODE);
  return {
    label: 'text',
    yields: ['string', 'markdown', 'uri', 'url', 'canonical', 'code', 'id'],
    columns: 1,
    inverse: 'computed',
    decode: raw => (typeof raw === 'string' ? emitted(raw) : undefined),
    present: columns => filled(trimmed(columns)),
    match: (columns, criterion) => matchText(trimmed(columns), criterion),
    order: {
      // Ignores case as far as the engines agree on it. Folding would order differently in each engine, and rows that
      // sort by different columns are merged outside of the engine.
      by: columns => [beginningOf(call('upper', [trimmed(columns)], UNICODE))],
      toKey: () => undefined,
      fromKey: key => [key],
    },
  };
}

/** Reads one row of a text that is stored in several rows. `separated`: trailing blanks do not count. */
export function lineCodec(separated: boolean): Codec {
  return {
    label: 'line',
    yields: ['string'],
    columns: 1,
    inverse: 'none',
    decode: raw => {
      if (typeof raw !== 'string' || trim(raw) === '') return undefined;
      return separated ? trimEnd(raw) : raw;
    },
    present: columns => filled(call('trim', [only(columns)], UNICODE)),
    match: () => undefined,
  };
}

/** Applies a criterion to an expression that gives the emitted text, or blank or NULL if there is none. */
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
  // Every text contains the empty one; NULL contains none.
  return and(
    filled(text),
    ...(folded === ''
      ? []
      : [
          { kind: 'contains' as const, of: call('fold', [text], UNICODE), where, texts: [folded], not: false } as const,
        ]),
  );
}

/** Matches the URI, and URIs that continue it after a slash (https://hl7.org/fhir/R4/search.html#uri). */
export function matchBelow(text: Expression, uri: string): Predicate {
  return or(equals(text, value(uri, UNICODE)), {
    kind: 'contains',
    of: text,
    where: 'start',
    texts: [insideOf(uri)],
    not: false,
  });
}

/** True if the found URI is `uri`, or continues it after a slash. */
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

/** Removes blanks, tabs and line ends on both sides, as `trim` in SQL. `trimEnd` is `rtrim` in SQL. */
export function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return from === 0 && to === text.length ? text : text.slice(from, to);
}

/** Removes blanks (U+0020) on the right. */
export function trimEnd(text: string): string {
  let to = text.length;
  while (to > 0 && text.charCodeAt(to - 1) === 32) to--;
  return to === text.length ? text : text.slice(0, to);
}

/** True if trimming would change a text, so that no trimmed value equals it. */
export function hasOuterSpace(text: string): boolean {
  return trim(text) !== text;
}

// FHIR's strings hold no control characters but tab, CR and LF (https://hl7.org/fhir/R4/datatypes.html#string).
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const HAS_CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Removes the control characters that FHIR forbids. */
export function withoutControls(text: string): string {
  return HAS_CONTROL.test(text) ? text.replace(CONTROL, '') : text;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 13 || code === 10;
}

/** Returns the text with its ASCII letters in upper case. */
export function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, letters => letters.toUpperCase());
}

/** True if the text has ASCII letters, and so further spellings. */
export function hasCase(text: string): boolean {
  return /[A-Za-z]/.test(text);
}

/**
 * Tests that the expression equals the text in any case of ASCII letters, the only case on which all engines agree. If
 * the text, or its beginning, has few spellings, an index on the bare column is used.
 * https://hl7.org/fhir/R4/search.html#token
 */
export function equalsAnyCase(of: Expression, text: string, how: AnyCase): Predicate {
  const computed = equals(call('upper', [of], UNICODE), value(upperAscii(text), UNICODE));
  if (how === 'listed') return computed;
  const [begin = ''] = BEGINNING.exec(text) ?? [];
  const spellings = spellingsOf(begin);
  if (begin.length === text.length)
    return among(
      of,
      spellings.map(one => value(one, UNICODE)),
    );
  // Only a bare column can have an index.
  if (begin === '' || of.kind !== 'column') return computed;
  return and(or(...spellings.map(one => beginsWith(of, one))), computed);
}

/** Visible ASCII characters with at most three letters, so there are at most eight spellings. */
const BEGINNING = /^(?:[!-@[-`{-~]*[A-Za-z]){0,3}[!-@[-`{-~]*/;

function spellingsOf(text: string): readonly string[] {
  let spellings = [''];
  for (const character of text) {
    const ways = hasCase(character) ? [character.toLowerCase(), character.toUpperCase()] : [character];
    spellings = spellings.flatMap(before => ways.map(way => before + way));
  }
  return spellings;
}

/** Tests for texts from this beginning up to the next possible beginning. */
function beginsWith(of: Expression, begin: string): Predicate {
  const behind = begin.slice(0, -1) + String.fromCharCode(begin.charCodeAt(begin.length - 1) + 1);
  return and(compare(of, '>=', value(begin, UNICODE)), compare(of, '<', value(behind, UNICODE)));
}

/** A link with three sort keys of this length still fits into a request. */
const CHARACTERS = 256;

/**
 * Limits what rows sort by. In: an expression of columns. Out: the expression, or its beginning if a column may be
 * longer, because page links contain sort values, and the length of a request is limited.
 */
export function beginningOf(text: Expression): Expression {
  const types: ColumnType[] = [];
  walk({ expressions: [text] }, { column: ({ type }) => void types.push(type) });
  return types.some(isLong) ? call('substring', [text, 1, CHARACTERS], UNICODE) : text;
}

function isLong(type: ColumnType): boolean {
  return type.kind === 'text' && (type.length === 'max' || type.length > CHARACTERS);
}
