/** Time stamps of HL7 v2, as interface engines keep them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Codec, only } from '../../../src/mapping/codecs/codec.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { and, isNull, not } from '../../../src/sql/construct.ts';
import type { Predicate } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { render } from '../../../src/sql/render.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const NEW_YORK = 'America/New_York';
const zones = fc.constantFrom(
  NEW_YORK,
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Pacific/Apia',
  'UTC',
);
const TYPES = [
  ['dateTime', undefined],
  ['date', undefined],
  ['instant', undefined],
  ['dateTime', '00:00'],
  ['instant', '00:00'],
] as const;

function made(fhirType: string, at?: string, zone = NEW_YORK): Codec {
  const options = at === undefined ? undefined : { at };
  const found = CODECS['dtm']?.make(options, undefined, { zone, fhirType, columnTypes: [UNICODE] });
  if (!found || 'problem' in found) throw new Error(found?.problem);
  return found.codec;
}

const DATES = '2024 202403 20240310 20240309 20240311 20241103 20240229 20240230 202413 20240300 0001 00010101';
const dates = fc.constantFrom(...DATES.split(' '), '99991231', '20231231', '20240101', '20180218', '20111230', '0000');
const times = fc.constantFrom('', '', '00', '01', '0130', '0230', '083005', '000000', '235959', '24', '2460', '08300');
const fractions = fc.constantFrom('', '', '.1', '.123', '.1234', '.0001', '.9999', '.', '.12345678');
const offsets = fc.constantFrom('', '', '', '-0500', '+0000', '-0400', '+1400', '-1400', '+0530', '+1401', '-05', 'Z');
const odd = fc.constantFrom('', '""', ' ', ' 20240310', '2024031008:30', 'N/A', '20240310083005^D');
const stamps = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(dates, times, fractions, offsets, fc.constantFrom('', '', ' ')).map(of => of.join('')),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(dates, fc.constantFrom('0130', '013000.5', '0629'), offsets).map(of => of.join('')),
  },
  odd,
);
const KEYS = [
  '0001-01-01 00:00:00.0000000',
  '2024-00-00 00:00:00.0000000',
  '2024-03-00',
  '2024-03-10 00:00:00.0000001',
  '2024-11-03 01:59:59.9999999~01800000',
  '2024-02-29 23:59:59.9990000',
  '9999-12-31 23:59:59.9999999',
];
const LOCALS = ['2024-03-10T02:30', '2024-03-10T00:00', '2024-11-03T01:30', '2024-01-01T00:00', '2018-02-18T00:00'].map(
  text => Date.parse(`${text}Z`),
);

describe('dtm', () => {
  it.each(TYPES)('keeps the law as %s at %s', (fhirType, at) => {
    const rows = table('VARCHAR(30)');
    fc.assert(
      fc.property(zones, rowsOf(nullable(stamps)), fc.gen(), (zone, raws, g) => {
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
    ['202403', '2024-03'],
    ['20240310', '2024-03-10'],
    ['20240310-0500', '2024-03-10'],
    ['2024-0500', '2024'],
    ['2024031008', '2024-03-10T08:00:00-04:00'],
    ['202403100830', '2024-03-10T08:30:00-04:00'],
    ['20240310083005', '2024-03-10T08:30:05-04:00'],
    ['20240310083005 ', '2024-03-10T08:30:05-04:00'],
    ['20240310083005.123', '2024-03-10T08:30:05-04:00'],
    ['20240310083005.1234-0500', '2024-03-10T09:30:05-04:00'],
    ['202403100830+0000', '2024-03-10T04:30:00-04:00'],
    ['202411030130-0500', '2024-11-03T01:30:00-05:00'],
    ['202411030130-0400', '2024-11-03T01:30:00-04:00'],
    ['202411030130', '2024-11-03T01:30:00-04:00'],
    ['99991231235959', '9999-12-31T23:59:59-05:00'],
    ['99991231235959-0500', undefined],
    ['21000101-0500', '2100-01-01'],
    ['202403100830-1500', undefined],
    ['202403100830-0560', undefined],
    ['2024031024', undefined],
    ['20240310083060', undefined],
    ['202403100830.5', undefined],
    ['20240230', undefined],
    ['20240300', undefined],
    ['202400', undefined],
    ['0000', undefined],
    ['202', undefined],
    ['20240', undefined],
    [' 20240310', undefined],
    ['""', undefined],
    ['', undefined],
  ])('reads %j as %j', (raw, wanted) => {
    expect(made('dateTime').decode(raw)).toBe(wanted);
  });

  it.each([
    ['instant', undefined, '20240310083005.1239-0500', '2024-03-10T09:30:05.123-04:00'],
    ['instant', undefined, '202403100830', undefined],
    ['instant', undefined, '20240310', undefined],
    ['instant', '00:00', '202403100830', '2024-03-10T08:30:00.000-04:00'],
    ['instant', '00:00', '20240311', '2024-03-11T00:00:00.000-04:00'],
    ['instant', '00:00', '20240311+0000', '2024-03-10T20:00:00.000-04:00'],
    ['instant', '00:00', '202403', undefined],
    ['date', undefined, '20240310233000-0800', '2024-03-10'],
    ['date', undefined, '202403', '2024-03'],
    ['date', undefined, '20240310250000', undefined],
  ])('as %s at %s reads %j as %j', (fhirType, at, raw, wanted) => {
    expect(made(fhirType, at).decode(raw)).toBe(wanted);
  });

  it('reads texts only, and accepts no time for a date', () => {
    const make = (type: string, fhirType: string, options?: unknown) =>
      CODECS['dtm']?.make(options, undefined, { zone: NEW_YORK, fhirType, columnTypes: [columnType(type)] });
    expect(make('BIGINT', 'dateTime')).toMatchObject({ problem: expect.stringContaining('dtm does not read') });
    expect(make('CHAR(8)', 'instant')).toMatchObject({ expected: expect.stringContaining('dtm: {at: "00:00"}') });
    expect(make('VARCHAR(26)', 'date', { at: '00:00' })).toMatchObject({ problem: expect.stringContaining('`at`') });
  });

  /** The range of an index scan, next to the exact test: from one of these days to the other. */
  const bounds = (from: string, to: string): readonly unknown[] => {
    const { columns } = table('VARCHAR(30)');
    const any = [
      [
        { edge: 'start' as const, op: '>=' as const, at: Date.parse(from) },
        { edge: 'end' as const, op: '<=' as const, at: Date.parse(to) },
      ],
    ];
    const of = made('dateTime').match(columns, { kind: 'date', any }, CLOCK);
    const parts: readonly Predicate[] = of?.kind === 'and' ? of.of : [];
    return parts.flatMap(part =>
      part.kind === 'compare' && part.left.kind === 'column' && part.right.kind === 'value'
        ? [[part.op, part.right.value, part.native]]
        : [],
    );
  };

  it.each([
    ['2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z', '20240309', '20240312'],
    ['2024-03-01T05:00:00Z', '2024-04-01T04:00:00Z', '20240229', '202404'],
    ['2024-01-01T05:00:00Z', '2025-01-01T05:00:00Z', '2023', '2025'],
  ])('from %s to %s reads an index from %s to %s', (from, to, least, end) => {
    const found = bounds(from, to);
    expect(found).toHaveLength(2);
    expect(found[0]).toMatchObject(['>=', expect.stringMatching(new RegExp(`^${least}`)), true]);
    expect(found[1]).toMatchObject(['<', expect.stringMatching(new RegExp(`^${end}`)), true]);
  });

  it('is written in T-SQL for each zone, with the changes of its clocks', () => {
    const { columns } = table('VARCHAR(30)');
    const text = (zone: string, fhirType: string): string => {
      const { order } = made(fhirType, undefined, zone);
      const orderBy = (order?.by(columns) ?? []).map(by => ({ by, descending: false }));
      const from = {
        table: { name: identifier('T') },
        alias: identifier('t'),
        joins: [],
        where: and(not(isNull(only(columns)))),
      };
      return render({ from, columns, orderBy, limit: 1, shape: 'rows' }, MSSQL).text;
    };
    expect(text('UTC', 'dateTime')).toContain("(VALUES ('0001-01-01T00:00:00', 0, '')) AS v");
    const changes = text(NEW_YORK, 'dateTime');
    expect(changes).toContain("('2024-03-10T07:00:00', -240, '')");
    expect(changes).toContain(
      "('2024-11-03T06:00:00', -300, '2024-11-03 01:59:59.9999999~'), ('2024-11-03T07:00:00', -300, '')",
    );
    expect(text(NEW_YORK, 'date')).not.toContain('VALUES');
  });
});
