import { expect, test } from 'vitest';
import {
  overlaps,
  type RangeParameters,
  RangeProblem,
  readableRange,
  readRange,
  type Span,
} from '../../src/ccda/range.ts';

const ZONE = 'America/New_York';

test.each<[title: string, parameters: RangeParameters, range: readonly (string | undefined)[] | undefined]>([
  ['nothing asked is everything', {}, undefined],
  ['a date is that one day', { date: '2020-05-17' }, ['2020-05-17', '2020-05-17']],
  ['a range', { rangeStart: '2020-01-01', rangeEnd: '2020-12-31' }, ['2020-01-01', '2020-12-31']],
  ['equal ends are one day', { rangeStart: '2020-01-01', rangeEnd: '2020-01-01' }, ['2020-01-01', '2020-01-01']],
  ['an open end', { rangeStart: '2020-01-01' }, ['2020-01-01', undefined]],
  ['an open start', { rangeEnd: '2020-12-31' }, [undefined, '2020-12-31']],
  [
    'a date in a range is the date',
    { date: '2020-05-17', rangeStart: '2020-01-01', rangeEnd: '2020-12-31' },
    ['2020-05-17', '2020-05-17'],
  ],
  ['a date at the end of a range', { date: '2020-12-31', rangeEnd: '2020-12-31' }, ['2020-12-31', '2020-12-31']],
  ['a leap day', { date: '2024-02-29' }, ['2024-02-29', '2024-02-29']],
])('%s', (_title, parameters, range) => {
  const read = readRange(parameters);
  expect(read && [read.first, read.last]).toEqual(range);
});

test.each<[parameters: RangeParameters, problem: string]>([
  [{ date: '2020-02-30' }, 'date expects a day as yyyy-MM-dd'],
  [{ date: '2023-02-29' }, 'date expects a day as yyyy-MM-dd'],
  [{ date: '20200101' }, 'date expects a day as yyyy-MM-dd'],
  [{ date: '01/02/2020' }, 'date expects a day as yyyy-MM-dd'],
  [{ date: '2020-1-1' }, 'date expects a day as yyyy-MM-dd'],
  [{ date: '2020' }, 'date expects a day as yyyy-MM-dd'],
  [{ date: '2020-01-01T00:00:00' }, 'date expects a day as yyyy-MM-dd'],
  [{ rangeStart: 'yesterday' }, 'rangeStart expects a day as yyyy-MM-dd'],
  [{ rangeEnd: '2020-13-01' }, 'rangeEnd expects a day as yyyy-MM-dd'],
  [{ rangeStart: '2020-12-31', rangeEnd: '2020-01-01' }, 'rangeStart is after rangeEnd'],
  [{ date: '2019-12-31', rangeStart: '2020-01-01' }, 'date lies outside of rangeStart and rangeEnd'],
  [{ date: '2021-01-01', rangeEnd: '2020-12-31' }, 'date lies outside of rangeStart and rangeEnd'],
])('%j is refused', (parameters, problem) => {
  expect(() => readRange(parameters)).toThrow(new RangeProblem(problem));
});

test.each<[title: string, span: Span, first: string | undefined, last: string | undefined, within: boolean]>([
  ['a point on the first day', { start: '2020-01-01', end: '2020-01-01' }, '2020-01-01', '2020-12-31', true],
  [
    'a point on the last day, at any time',
    { start: '2020-12-31T23:59:00-05:00', end: '2020-12-31T23:59:00-05:00' },
    '2020-01-01',
    '2020-12-31',
    true,
  ],
  ['a point on the day before', { start: '2019-12-31', end: '2019-12-31' }, '2020-01-01', '2020-12-31', false],
  [
    'a point on the day after',
    { start: '2021-01-01T00:00:00-05:00', end: '2021-01-01T00:00:00-05:00' },
    '2020-01-01',
    '2020-12-31',
    false,
  ],
  [
    'an instant that is another day in the zone',
    { start: '2021-01-01T03:00:00Z', end: '2021-01-01T03:00:00Z' },
    '2020-01-01',
    '2020-12-31',
    true,
  ],
  ['begins before, open end', { start: '2010-05-05' }, '2020-01-01', '2020-12-31', true],
  ['begins before, ends within', { start: '2010-05-05', end: '2020-01-01' }, '2020-01-01', '2020-12-31', true],
  ['begins within, open end', { start: '2020-12-31' }, '2020-01-01', '2020-12-31', true],
  ['spans the whole range', { start: '2010-05-05', end: '2030-01-01' }, '2020-01-01', '2020-12-31', true],
  ['ends before', { start: '2010-05-05', end: '2019-12-31' }, '2020-01-01', '2020-12-31', false],
  ['begins after', { start: '2021-01-01' }, '2020-01-01', '2020-12-31', false],
  ['has no date', {}, '2020-01-01', '2020-12-31', true],
  ['has only an end, within', { end: '2020-06-01' }, '2020-01-01', '2020-12-31', true],
  ['has only an end, before', { end: '2019-06-01' }, '2020-01-01', '2020-12-31', false],
  ['a month that begins before', { start: '2020-01', end: '2020-01' }, '2020-01-15', '2020-12-31', true],
  ['a month that ends before', { start: '2019-12', end: '2019-12' }, '2020-01-01', '2020-12-31', false],
  ['a year', { start: '2020', end: '2020' }, '2020-06-01', '2020-06-01', true],
  ['an open end of the range', { start: '2019-12-31', end: '2019-12-31' }, undefined, '2020-01-01', true],
  ['an open start of the range', { start: '2030-01-01', end: '2030-01-01' }, '2020-01-01', undefined, true],
  ['a February of a leap year', { start: '2024-02', end: '2024-02' }, '2024-02-29', '2024-02-29', true],
  ['a February of none', { start: '2023-02', end: '2023-02' }, '2023-03-01', '2023-03-01', false],
])('%s', (_title, span, first, last, within) => {
  expect(overlaps(span, { first, last }, ZONE)).toBe(within);
});

test('without a range every date is inside', () => {
  expect(overlaps({ start: '1900-01-01', end: '1900-01-01' }, undefined, ZONE)).toBe(true);
});

test('a range is written in words', () => {
  expect(readableRange({ first: '2020-01-01', last: '2020-12-31' })).toBe('2020-01-01 to 2020-12-31');
  expect(readableRange({ first: '2020-01-01', last: '2020-01-01' })).toBe('2020-01-01');
  expect(readableRange({ first: '2020-01-01', last: undefined })).toBe('from 2020-01-01 on');
  expect(readableRange({ first: undefined, last: '2020-12-31' })).toBe('until 2020-12-31');
});
