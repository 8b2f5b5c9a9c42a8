import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { epochCodec } from '../../../src/mapping/codecs/epoch.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { runsOf } from '../../share.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const SPRING = Date.UTC(2024, 2, 10, 7);
const AUTUMN = Date.UTC(2024, 10, 3, 6);
const LOCALS = [Date.UTC(2024, 2, 10, 2, 30), Date.UTC(2024, 10, 3, 1, 30)];

function integer(declared: string): Extract<ColumnType, { kind: 'integer' }> {
  const type = columnType(declared);
  if (type.kind !== 'integer') throw new Error(declared);
  return type;
}

/** Keys of values of every precision, in the form of other codecs; New York skips one hour, and repeats another. */
const KEYS = [
  '0001-01-01 00:00:00.0000000',
  '2024-00-00 00:00:00.0000000',
  '2024-03-10',
  '2024-03-10 02:30:00.0000000',
  '2024-11-00 00:00:00.0000000',
  '2024-11-03 01:30:00.0000001',
  '2024-11-03 01:59:59.9999999',
  '2024-11-03 01:59:59.9999999~01800000',
  '2024-11-03 02:00:00.0000000',
  '2060-07-01 00:00:00.0000000',
  '9999-12-31 23:59:59.9970000',
];

describe('epoch', () => {
  const seconds = epochCodec({
    zone: zoneOf('America/New_York'),
    columnType: integer('INT'),
    fhirType: 'dateTime',
    unit: 1000,
  });

  it.each([
    [0, '1969-12-31T19:00:00-05:00'],
    [-1, '1969-12-31T18:59:59-05:00'],
    [AUTUMN / 1000 - 1, '2024-11-03T01:59:59-04:00'],
    [AUTUMN / 1000, '2024-11-03T01:00:00-05:00'],
    [SPRING / 1000 - 1, '2024-03-10T01:59:59-05:00'],
    [SPRING / 1000, '2024-03-10T03:00:00-04:00'],
    [null, undefined],
  ])('of %j is %j, in both passes of a repeated hour', (raw, wanted) => {
    expect(seconds.decode(raw)).toBe(wanted);
  });

  it('with milliseconds is an instant with milliseconds', () => {
    const codec = epochCodec({
      zone: zoneOf('UTC'),
      columnType: integer('BIGINT'),
      fhirType: 'instant',
      unit: 1,
    });
    expect(codec.decode('1710054000123')).toBe('2024-03-10T07:00:00.123Z');
    expect(codec.decode('-1')).toBe('1969-12-31T23:59:59.999Z');
    expect(codec.decode('9223372036854775807')).toBeUndefined();
    expect(codec.decode('-9223372036854775808')).toBeUndefined();
  });

  it('sorts the second pass of a repeated hour after the first, and before later times', () => {
    const keys = [-1, 0, 1, 1800, 3599, 3600].map(by => seconds.order?.toKey([AUTUMN / 1000 + by]));
    expect(keys).toEqual([
      '2024-11-03 01:59:59.0000000',
      '2024-11-03 01:59:59.9999999~00000000',
      '2024-11-03 01:59:59.9999999~00001000',
      '2024-11-03 01:59:59.9999999~01800000',
      '2024-11-03 01:59:59.9999999~03599000',
      '2024-11-03 02:00:00.0000000',
    ]);
    expect(keys).toEqual(keys.toSorted());
  });

  const near = fc.tuple(
    fc.constantFrom(SPRING, AUTUMN, 0, Date.UTC(2011, 11, 30, 10)),
    fc.constantFrom(0, 1, -1, 999, -1000, 1000, 1_800_000, -1_800_000, 3_600_000, 86_400_000),
  );
  it.each([
    ['INT', 'dateTime', 1000],
    ['BIGINT', 'dateTime', 1000],
    ['BIGINT', 'dateTime', 1],
    ['BIGINT', 'instant', 1],
    ['INT', 'instant', 1000],
  ] as const)('keeps the law for %s as %s, counted by %j ms', (declared, fhirType, unit) => {
    const type = integer(declared);
    const rows = table(declared);
    const raw = fc.oneof(
      { weight: 5, arbitrary: near.map(([at, by]) => Math.floor((at + by) / unit)) },
      fc.constantFrom(2_147_483_647, -2_147_483_648),
      ...(declared === 'BIGINT' ? [fc.constantFrom(253_402_300_800_000, -62_135_596_800, 9_007_199_254_740_991)] : []),
    );
    const zones = fc.constantFrom('America/New_York', 'Pacific/Apia', 'Europe/Berlin', 'Asia/Kolkata', 'UTC');
    fc.assert(
      fc.property(zones, rowsOf(nullable(raw)), fc.gen(), (zone, raws, g) => {
        const codec = epochCodec({ zone: zoneOf(zone), columnType: type, fhirType, unit });
        rows.fill(raws.map((one): readonly SqlValue[] => [one]));
        expectPresent(codec, rows);
        const values = decodeAll(codec, rows);
        for (let i = 0; i < 6; i++) expectMatch(codec, rows, g(dateCriterion, values, zone, LOCALS), zone, values);
        expectOrder(codec, rows, KEYS);
      }),
      RUNS,
    );
  });
});

describe('epoch as a date', () => {
  const at = fc
    .tuple(
      fc.constantFrom(SPRING, AUTUMN, 0, Date.UTC(2011, 11, 30, 10), Date.UTC(2024, 2, 14), Date.UTC(2024, 2, 14, 4)),
      fc.constantFrom(0, 1, -1, 1000, -1000, 43_200_000, 86_400_000),
    )
    .map(([moment, by]) => moment + by);
  const zones = fc.constantFrom('America/New_York', 'Pacific/Apia', 'Europe/Berlin', 'Asia/Kolkata', 'UTC');

  it.each([
    ['INT', 'epoch', {}, 1000],
    ['BIGINT', 'epoch', { zone: 'UTC' }, 1000],
    ['BIGINT', 'epoch', { unit: 'milliseconds' }, 1],
    ['BIGINT', 'epoch', { unit: 'milliseconds', zone: 'UTC' }, 1],
    ['FLOAT', 'epoch', {}, 1000],
    ['FLOAT', 'julian', { zone: 'UTC' }, 86_400_000],
  ] as const)('keeps the law for %s by %s %j', (declared, name, options, unit) => {
    const rows = table(declared);
    const raw = at.map(moment =>
      name === 'julian'
        ? moment / unit + 2_440_587.5
        : declared === 'FLOAT'
          ? moment / unit
          : Math.floor(moment / unit),
    );
    const given = Object.keys(options).length > 0 ? options : undefined;
    fc.assert(
      fc.property(zones, rowsOf(nullable(raw)), fc.gen(), (zone, raws, g) => {
        const made = CODECS[name]?.make(given, undefined, {
          ...{ zone, fhirType: 'date', columnTypes: [columnType(declared)] },
        });
        if (!made || 'problem' in made) throw new Error(made?.problem);
        rows.fill(raws.map((one): readonly SqlValue[] => [one]));
        expectPresent(made.codec, rows);
        const values = decodeAll(made.codec, rows);
        for (let i = 0; i < 6; i++) expectMatch(made.codec, rows, g(dateCriterion, values, zone, LOCALS), zone, values);
        expectOrder(made.codec, rows, KEYS);
      }),
      RUNS,
    );
  });

  it('is the day that clocks of the zone show, or those of UTC', () => {
    const of = (options?: object) => {
      const context = { zone: 'America/New_York', fhirType: 'date', columnTypes: [columnType('INT')] };
      const made = CODECS['epoch']?.make(options, undefined, context);
      return made && 'codec' in made ? made.codec.decode(1_710_374_400) : made?.problem;
    };
    expect(of()).toBe('2024-03-13');
    expect(of({ zone: 'UTC' })).toBe('2024-03-14');
    expect(of({ zone: 'Europe/Berlin' })).toMatch('`zone` is UTC');
  });

  it('takes a zone for a date alone', () => {
    const context = { zone: 'America/New_York', fhirType: 'instant', columnTypes: [columnType('INT')] };
    expect(CODECS['epoch']?.make({ zone: 'UTC' }, undefined, context)).toMatchObject({
      problem: '`zone` says which day a date is; moments have no zone',
    });
  });
});

describe('the offset at an instant', () => {
  it.each(['America/New_York', 'Pacific/Apia', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Asia/Kolkata', 'UTC'])(
    'equals that of Intl, in %s',
    name => {
      const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
      const told = (instant: number): number => {
        const text = format.formatToParts(instant).find(part => part.type === 'timeZoneName')?.value ?? '';
        const [, sign, hours = '0', minutes = '0'] = /GMT(?:([+-])(\d\d):(\d\d))?/.exec(text) ?? [];
        return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000 + 0;
      };
      fc.assert(
        fc.property(fc.integer({ min: Date.UTC(1971, 0, 1), max: Date.UTC(2036, 0, 1) }), instant => {
          expect(zoneOf(name).offsetAt(instant)).toBe(told(instant));
        }),
        { numRuns: runsOf(300) },
      );
    },
  );
});
