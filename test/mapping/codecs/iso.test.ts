/** Moments of ISO 8601 in texts, as CSV files, logs and interfaces have them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import { UNICODE } from '../../../src/sql/column-type.ts';
import type { Predicate } from '../../../src/sql/expression.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const NEW_YORK = 'America/New_York';
const zones = fc.constantFrom(NEW_YORK, 'Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC');
const TYPES = [
  ['dateTime', undefined],
  ['date', undefined],
  ['instant', undefined],
  ['dateTime', '00:00'],
  ['instant', '00:00'],
] as const;

function made(fhirType: string, at?: string, zone = NEW_YORK): Codec {
  const options = at === undefined ? undefined : { at };
  const found = CODECS['iso']?.make(options, undefined, { zone, fhirType, columnTypes: [UNICODE] });
  if (!found || 'problem' in found) throw new Error(found?.problem);
  return found.codec;
}

const DATES = '2024 2024-03 2024-03-10 2024-03-09 2024-03-11 2024-11-03 2024-02-29 2024-02-30 2024-13 0001 0001-01-01';
const dates = fc.constantFrom(...DATES.split(' '), '9999-12-31', '2023-12-31', '2024-01-01', '2018-02-18', '20240310');
const clocks = fc.constantFrom('', 'T00:00', 'T01:30', ' 02:30', 'T08:30:05', ' 00:00:00', 'T23:59:59', 'T24:00');
const fractions = fc.constantFrom('', '', '.1', '.123', '.1234', '.0001', '.9999', '.', '.123456789', '.1234567891');
const offsets = fc.constantFrom('', '', 'Z', '-05:00', '+0000', '-04', '+14:00', ' -14:00', '+05:30', '+14:01', '-5');
const odd = fc.constantFrom('', 'N/A', ' ', ' 2024-03-10', '2024-03-10T08', '03/10/2024', '2024-03-10Z');
const texts = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(dates, clocks, fractions, offsets, fc.constantFrom('', '', ' ')).map(of => of.join('')),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(dates, fc.constantFrom('T01:30', ' 01:30:00.5', 'T06:29'), offsets).map(of => of.join('')),
  },
  odd,
);
const KEYS = [
  '0001-01-01 00:00:00.0000000',
  '2024-03-00',
  '2024-03-10 00:00:00.0000001',
  '9999-12-31 23:59:59.9999999',
];
const LOCALS = ['2024-03-10T02:30', '2024-03-10T00:00', '2024-11-03T01:30', '2024-01-01T00:00', '2018-02-18T00:00'].map(
  text => Date.parse(`${text}Z`),
);

describe('iso', () => {
  it.each(TYPES)('keeps the law as %s at %s', (fhirType, at) => {
    const rows = table('VARCHAR(40)');
    fc.assert(
      fc.property(zones, rowsOf(nullable(texts)), fc.gen(), (zone, raws, g) => {
        const codec = made(fhirType, at, zone);
        rows.fill(raws.map(raw => [raw]));
        expectPresent(codec, rows);
        const values = decodeAll(codec, rows);
        for (let i = 0; i < 8; i++) expectMatch(codec, rows, g(dateCriterion, values, zone, LOCALS), zone, values);
        expectOrder(codec, rows, KEYS);
      }),
      RUNS,
    );
  });

  it.each([
    ['2024', '2024'],
    ['2024-03', '2024-03'],
    ['2024-03-10', '2024-03-10'],
    ['2024-03-10T08:30', '2024-03-10T08:30:00-04:00'],
    ['2024-03-10 08:30:05', '2024-03-10T08:30:05-04:00'],
    ['2024-03-10T08:30:05.123456789', '2024-03-10T08:30:05-04:00'],
    ['2016-09-27T07:48:18Z', '2016-09-27T03:48:18-04:00'],
    ['2016-09-27T07:48Z', '2016-09-27T03:48:00-04:00'],
    ['2016-09-27 07:48:18.5 +02:00', '2016-09-27T01:48:18-04:00'],
    ['2016-09-27T07:48:18+0200', '2016-09-27T01:48:18-04:00'],
    ['2016-09-27T07:48:18+02 ', '2016-09-27T01:48:18-04:00'],
    ['2024-11-03T01:30:00-05:00', '2024-11-03T01:30:00-05:00'],
    ['2016-09-27T07:48:18+15:00', undefined],
    ['2016-09-27T07', undefined],
    ['2016-09-27Z', undefined],
    ['20160927T074818Z', undefined],
    ['2016-09-27T07:48:18z', undefined],
    ['2016-09-27T07:48:60Z', undefined],
    ['2016-02-30', undefined],
    ['2100-01-01T00:00:00Z', undefined],
    ['27/09/2016', undefined],
    ['', undefined],
  ])('reads %j as %j', (raw, wanted) => {
    expect(made('dateTime').decode(raw)).toBe(wanted);
  });

  it.each([
    ['instant', undefined, '2016-09-27T07:48:18.1239Z', '2016-09-27T03:48:18.123-04:00'],
    ['instant', undefined, '2016-09-27T07:48Z', undefined],
    ['instant', '00:00', '2016-09-27T07:48Z', '2016-09-27T03:48:00.000-04:00'],
    ['instant', '00:00', '2016-09-27', '2016-09-27T00:00:00.000-04:00'],
    ['instant', '00:00', '2016-09', undefined],
    ['date', undefined, '2016-09-27T23:30:00-08:00', '2016-09-27'],
  ])('as %s at %s reads %j as %j', (fhirType, at, raw, wanted) => {
    expect(made(fhirType, at).decode(raw)).toBe(wanted);
  });

  it('reads texts only, and needs a time of day for an instant', () => {
    const make = (type: string, fhirType: string, options?: unknown) =>
      CODECS['iso']?.make(options, undefined, { zone: NEW_YORK, fhirType, columnTypes: [columnType(type)] });
    expect(make('BIGINT', 'dateTime')).toMatchObject({ problem: expect.stringContaining('iso does not read') });
    expect(make('CHAR(10)', 'instant')).toMatchObject({ expected: expect.stringContaining('iso: {at: "00:00"}') });
    expect(make('VARCHAR(26)', 'date', { at: '00:00' })).toMatchObject({ problem: expect.stringContaining('`at`') });
  });

  it.each([
    ['2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z', '2024-03-09', '2024-03-12'],
    ['2024-03-01T05:00:00Z', '2024-04-01T04:00:00Z', '2024-02-29', '2024-04'],
    ['2024-01-01T05:00:00Z', '2025-01-01T05:00:00Z', '2023', '2025'],
  ])('from %s to %s reads an index from %s to %s', (from, to, least, end) => {
    const any = [
      [
        { edge: 'start' as const, op: '>=' as const, at: Date.parse(from) },
        { edge: 'end' as const, op: '<=' as const, at: Date.parse(to) },
      ],
    ];
    const of = made('dateTime').match(table('VARCHAR(40)').columns, { kind: 'date', any }, CLOCK);
    const parts: readonly Predicate[] = of?.kind === 'and' ? of.of : [];
    const bounds = parts.flatMap(part =>
      part.kind === 'compare' && part.left.kind === 'column' && part.right.kind === 'value'
        ? [[part.op, part.right.value, part.native]]
        : [],
    );
    expect(bounds).toEqual([
      ['>=', expect.stringMatching(new RegExp(`^${least}`)), true],
      ['<', expect.stringMatching(new RegExp(`^${end}`)), true],
    ]);
  });
});
