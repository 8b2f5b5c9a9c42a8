/** DATETIMEOFFSET columns, as SQL Server reads them: rows have the local times of UTC. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { datetimeCodec } from '../../../src/mapping/codecs/datetime.ts';
import { type InstantOptions, type InstantType, instantCodec } from '../../../src/mapping/codecs/instant.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import { instantLiteral, readLiteral } from '../../../src/mapping/load/rows/literal.ts';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { printLocal, zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { columnType, decodeAll, expectMatch, expectOrder, expectPresent, type TypedColumn, table } from './law.ts';

const NEW_YORK = 'America/New_York';
const SPRING = Date.UTC(2024, 2, 10, 7);
const AUTUMN = Date.UTC(2024, 10, 3, 6);

function instant(declared: string): InstantType {
  const type = columnType(declared);
  if (type.kind !== 'instant') throw new Error(declared);
  return type;
}

function codec(zone: string, gives: InstantOptions['gives'], declared = 'DATETIMEOFFSET(7)') {
  return instantCodec({ zone: zoneOf(zone), columnType: instant(declared), gives });
}

/** SQLite orders such texts as SQL Server orders the instants. */
function utcTexts(declared: string): TypedColumn {
  return { declared: 'TEXT', type: instant(declared) };
}

const AROUND = [SPRING, AUTUMN, AUTUMN - 3_600_000, AUTUMN + 3_600_000, Date.UTC(2024, 2, 10, 5)].flatMap(at =>
  [-1000, -1, 0, 1, 999, 1000, 1_800_000].map(by => at + by),
);
const ENDS = ['0001-01-01T00:00Z', '0001-01-01T05:00Z', '9999-12-31T23:59:59Z', '9999-12-31T18:29:59Z'].map(Date.parse);

function stored(at: number, rest: number, fraction: number): string {
  const text = `${printLocal(at, 3)}${String(rest).padStart(4, '0')}`;
  return text.slice(0, fraction === 0 ? 19 : 20 + fraction);
}

const moments = fc.oneof(
  fc.constantFrom(...AROUND, ...ENDS),
  fc.integer({ min: Date.UTC(1890, 0, 1), max: Date.UTC(2060, 0, 1) }),
);
const raws = (fraction: number): fc.Arbitrary<SqlValue> =>
  nullable(fc.tuple(moments, fc.constantFrom(0, 1, 9999)).map(([at, rest]) => stored(at, rest, fraction)));

const KEYS = [
  '0001-01-01 00:00:00.0000000',
  '2024-00-00 00:00:00.0000000',
  '2024-03-10',
  '2024-03-10 02:30:00.0000000',
  '2024-03-10 02:30:00.1234567',
  '2024-11-03 01:30:00.0000001',
  '2024-11-03 01:59:59.9999999',
  '2024-11-03 01:59:59.9999999~01800000',
  '2024-11-03 01:59:59.9999999~018000000001',
  '2024-11-03 02:00:00.0000000',
  '9999-12-31 23:59:59.9970000',
];

describe('a column of moments with offsets', () => {
  it.each([
    ['2024-03-14 13:30:00.0000000', '2024-03-14T09:30:00-04:00'],
    ['2024-03-10 06:59:59.9999999', '2024-03-10T01:59:59-05:00'],
    ['2024-03-10 07:00:00.0000000', '2024-03-10T03:00:00-04:00'],
    ['2024-11-03 05:59:59.0000000', '2024-11-03T01:59:59-04:00'],
    ['2024-11-03 06:00:00.0000000', '2024-11-03T01:00:00-05:00'],
    ['0001-01-01 00:00:00.0000000', undefined],
    [null, undefined],
  ])('%j is %j by the zone of the pack', (raw, wanted) => {
    expect(codec(NEW_YORK, 'dateTime').decode(raw)).toBe(wanted);
  });

  it('gives instants with milliseconds, and the day that the zone has', () => {
    expect(codec(NEW_YORK, 'instant').decode('2024-03-14 13:30:00.1239999')).toBe('2024-03-14T09:30:00.123-04:00');
    expect(codec(NEW_YORK, 'day').decode('2024-03-14 03:30:00.0000000')).toBe('2024-03-13');
    expect(codec('UTC', 'dateTime', 'DATETIMEOFFSET(0)').decode('2024-03-14 13:30:00')).toBe('2024-03-14T13:30:00Z');
  });

  it('keeps 100 ns and the instant in cursors, also in the hour that clocks repeat', () => {
    const { order } = codec(NEW_YORK, 'instant');
    for (const raw of ['2024-11-03 05:30:00.1234567', '2024-11-03 06:30:00.1234567', '2024-11-03 06:30:00.1230000']) {
      const key = order?.toKey([raw]) ?? '';
      expect(order?.fromKey(key)).toEqual([raw]);
    }
    expect(order?.toKey(['2024-11-03 06:30:00.1234567'])).toBe('2024-11-03 01:59:59.9999999~018001234567');
  });

  for (const zone of [NEW_YORK, 'UTC', 'Asia/Kolkata', 'America/St_Johns', 'America/Sao_Paulo']) {
    it.each<[InstantOptions['gives'], number]>([
      ['dateTime', 7],
      ['dateTime', 0],
      ['instant', 7],
      ['instant', 2],
      ['day', 7],
    ])(`finds in ${zone} what it emits as %s with %s digits, and sorts by the instant`, (gives, fraction) => {
      const declared = `DATETIMEOFFSET(${fraction})`;
      const rows = table(utcTexts(declared));
      const of = codec(zone, gives, declared);
      fc.assert(
        fc.property(rowsOf(raws(fraction)), fc.gen(), (some, g) => {
          rows.fill(some.map(raw => [raw]));
          expectPresent(of, rows);
          expectOrder(of, rows, KEYS);
          const values = decodeAll(of, rows);
          for (let i = 0; i < 3; i++) expectMatch(of, rows, g(dateCriterion, values, zone, [...AROUND]), zone, values);
        }),
        RUNS,
      );
    });
  }

  it('emits, finds and sorts like SQLite on a copy with written offsets', () => {
    const zone = zoneOf(NEW_YORK);
    const type = {
      ...{ kind: 'datetime', name: 'datetime2', fraction: 7, form: { kind: 'any', zone: NEW_YORK } },
    } as const satisfies ColumnType;
    const copy = datetimeCodec({ zone, columnType: type, fhirType: 'dateTime', midnight: 'time' });
    const rows = table({ declared: 'DATETIMEOFFSET', type });
    const of = codec(NEW_YORK, 'dateTime');
    fc.assert(
      fc.property(fc.array(fc.tuple(moments, fc.integer({ min: -840, max: 840 })), { minLength: 1 }), some => {
        const [first, last] = ['0001-01-03T00:00Z', '9999-12-30T00:00Z'].map(Date.parse);
        const held = some.filter(([at]) => at > (first ?? 0) && at < (last ?? 0));
        rows.fill(held.map(([at, minutes]) => [`${printLocal(at + minutes * 60_000, 3)}4567 ${offsetText(minutes)}`]));
        const utc = held.map(([at]) => stored(at, 4567, 7));
        expect(decodeAll(copy, rows)).toEqual(utc.map(raw => of.decode(raw)));
        expect(rows.values(rows.columns).map(raws => copy.order?.toKey(raws))).toEqual(
          utc.map(raw => of.order?.toKey([raw])),
        );
      }),
    );
  });

  it('reads literals by the zone, and what means no value by UTC too', () => {
    const type = { ...instant('DATETIMEOFFSET(3)'), zone: NEW_YORK };
    expect(readLiteral('2024-03-14 08:30', type, 'mssql')).toBe('2024-03-14 12:30:00.000');
    expect(readLiteral('2024-03-10 02:30', type, 'mssql')).toBe('2024-03-10 07:00:00.000');
    expect(readLiteral('99991231', type, 'mssql')).toBe('9999-12-31 05:00:00.000');
    expect(instantLiteral('99991231', type)).toBe('9999-12-31 00:00:00.000');
    expect(readLiteral('soon', type, 'mssql')).toBeUndefined();
    const copy: ColumnType = {
      kind: 'datetime',
      name: 'datetime2',
      fraction: 7,
      form: { kind: 'any', zone: NEW_YORK },
    };
    expect(instantLiteral('99991231', copy)).toBe('9999-12-30 19:00:00.0000000');
    expect(instantLiteral('99991231', columnType('DATETIME'))).toBeUndefined();
  });

  it('refuses what is for local times', () => {
    const context = { zone: NEW_YORK, fhirType: 'dateTime', columnTypes: [instant('DATETIMEOFFSET(7)')] };
    expect(CODECS['datetime']?.make({ midnight: 'date' }, undefined, context)).toMatchObject({
      problem: expect.stringContaining('midnight'),
    });
    expect(CODECS['date']?.make({ at: '00:00' }, undefined, context)).toMatchObject({
      problem: expect.stringContaining('DATE column'),
    });
  });
});

function offsetText(minutes: number): string {
  const of = Math.abs(minutes);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(of / 60))}:${two(of % 60)}`;
}
