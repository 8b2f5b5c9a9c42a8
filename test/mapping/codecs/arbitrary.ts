/** Random raw values of legacy tables, including defective ones, and criteria near the values of the rows. */
import fc from 'fast-check';
import type { Criterion, DateEdge, NumberEdge } from '../../../src/mapping/criterion.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { wordsIn } from '../../../src/sql/shared-functions.ts';
import { runsOf } from '../../share.ts';
import { intervalOf, toInstant } from './oracle.ts';

/** Few runs: preparing a statement takes longer than running it over many rows. */
export const RUNS = { numRuns: runsOf(32) };

/** A table of one to forty rows; each criterion of a run is tested on all of them. */
export function rowsOf<T>(row: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(row, { minLength: 1, maxLength: 40, size: 'max' });
}

const BLANKS = ['', ' ', '  ', '\t', '\r\n', '        '];
const PIECES = [
  'A',
  'a',
  'b',
  'Ä',
  'é',
  'e\u0301',
  ' ',
  '  ',
  '%',
  '_',
  '[',
  ']',
  '*',
  '?',
  '\\',
  "'",
  '"',
  '/',
  '^',
  '\t',
  '\n',
  '0',
  '1',
  '-',
  '.',
  '<',
  '#',
  '&amp;',
  '&lt;',
  '日',
  '😀',
];

/** Text with blanks, wildcards, quotes, accents and tabs. */
export const text: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...BLANKS,
    'N/A',
    'Smith',
    ' Smith',
    'Smith  ',
    'SMITH',
    "O'Brien",
    'Müller',
    'a b',
    'a  b',
    'http://x.org/a',
    'http://x.org/a/b',
  ),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map(pieces => pieces.join('')),
);

export const nullable = <T extends SqlValue>(raw: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(raw, { freq: 10 });

/** A part of an emitted text, or another text. */
export function textNear(emitted: readonly unknown[]): fc.Arbitrary<string> {
  const texts = emitted.filter(value => value !== undefined).map(String);
  if (texts.length === 0) return text;
  const some = fc.constantFrom(...texts);
  const part = fc.tuple(some, fc.nat(4), fc.nat(4)).map(([whole, from, length]) => whole.slice(from, from + length));
  const changed = fc.tuple(some, fc.constantFrom(' ', '%', 'x', '\t')).map(([whole, more]) => whole + more);
  const cased = some.map(whole => (whole === whole.toUpperCase() ? whole.toLowerCase() : whole.toUpperCase()));
  return fc.oneof(some, some, part, changed, cased, text).map(found => found.toWellFormed());
}

export function exact(emitted: readonly unknown[]): fc.Arbitrary<Criterion> {
  return textNear(emitted).map(found => ({ kind: 'exact', text: found }));
}

export function stringCriterion(emitted: readonly unknown[]): fc.Arbitrary<Criterion> {
  return fc
    .record({
      kind: fc.constant('string' as const),
      mode: fc.constantFrom('starts' as const, 'exact' as const, 'contains' as const, 'word' as const),
      text: textNear(emitted),
    })
    .map(asked => (asked.mode === 'word' ? { ...asked, text: wordsIn(asked.text).at(-1) ?? 'x' } : asked));
}

export function uriBelow(emitted: readonly unknown[]): fc.Arbitrary<Criterion> {
  return textNear(emitted).map(found => ({ kind: 'uri-below', text: found }));
}

/** Digits of a value, complete or in part, or others. */
export function digitsCriterion(emitted: readonly unknown[]): fc.Arbitrary<Criterion> {
  const near = textNear(emitted).map(found => found.replace(/[^0-9]/g, ''));
  const test = fc.record({
    digits: fc.oneof(near, near, fc.constantFrom('', '0', '01', '1x')),
    where: fc.constantFrom('whole' as const, 'end' as const, 'extended' as const),
  });
  return fc.array(test, { maxLength: 3 }).map(any => ({ kind: 'digits', any }));
}

/** Instants at, just before and just after the ends of the values' intervals, and around clock changes. */
function instantNear(emitted: readonly unknown[], zone: string, locals: readonly number[]): fc.Arbitrary<number> {
  const ends = emitted.flatMap(value => {
    if (typeof value !== 'string') return [];
    const { start, end } = intervalOf(value, zone);
    return [start, end];
  });
  const near = [...ends, ...locals.map(local => toInstant(local, zone))];
  const shift = fc.constantFrom(0, 0, 1, -1, 999, -999, 1000, -1000, 1_800_000, -1_800_000, 3_600_000, -3_600_000);
  return fc.tuple(fc.constantFrom(...near), shift).map(([at, by]) => at + by);
}

/** Searches by date: any conjunction of bounds, mostly those that prefixes make. */
export function dateCriterion(
  emitted: readonly unknown[],
  zone: string,
  locals: readonly number[],
): fc.Arbitrary<Criterion> {
  const at = instantNear(emitted, zone, locals);
  const edge: fc.Arbitrary<DateEdge> = fc.oneof(
    fc.record({ edge: fc.constant('start' as const), op: fc.constantFrom('>=' as const, '<' as const), at }),
    fc.record({ edge: fc.constant('end' as const), op: fc.constantFrom('<=' as const, '>' as const), at }),
  );
  const within = fc.tuple(at, at).map(([a, b]): readonly DateEdge[] => [
    { edge: 'start', op: '>=', at: Math.min(a, b) },
    { edge: 'end', op: '<=', at: Math.max(a, b) },
  ]);
  const outside = fc
    .tuple(at, at)
    .map(([a, b]): readonly (readonly DateEdge[])[] => [
      [{ edge: 'start', op: '<', at: Math.min(a, b) }],
      [{ edge: 'end', op: '>', at: Math.max(a, b) }],
    ]);
  const any = fc.oneof(
    edge.map(one => [[one]]),
    within.map(one => [one]),
    outside,
    fc.array(fc.array(edge, { maxLength: 3 }), { maxLength: 3 }),
  );
  return any.map(found => ({ kind: 'date', any: found }));
}

const DIGITS = fc.constantFrom(
  '0',
  '5',
  '4.9',
  '5.0',
  '5.00',
  '5.1',
  '-1',
  '100',
  '99.999',
  '0.1',
  '2147483647',
  '4.95',
  '5.05',
  '2.5e1',
);

export function numberCriterion(emitted: readonly unknown[]): fc.Arbitrary<Criterion> {
  const own = emitted.flatMap(value => {
    const digits = typeof value === 'object' && value !== null && 'decimal' in value ? String(value.decimal) : value;
    if (digits === undefined) return [];
    const [mantissa = '', exponent] = String(digits).split('e');
    const more = mantissa.includes('.') ? `${mantissa}1` : `${mantissa}.1`;
    return [String(digits), exponent === undefined ? more : `${more}e${exponent}`];
  });
  const at = own.length === 0 ? DIGITS : fc.oneof(DIGITS, fc.constantFrom(...own));
  const edge: fc.Arbitrary<NumberEdge> = fc.record(
    { op: fc.constantFrom('<', '<=', '>', '>='), at, whole: fc.constant(true) },
    { requiredKeys: ['op', 'at'] },
  );
  return fc
    .array(fc.array(edge, { minLength: 1, maxLength: 2 }), { maxLength: 2 })
    .map(any => ({ kind: 'number', any }));
}
