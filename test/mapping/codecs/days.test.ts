/** Days counted from an epoch day, whole and with a fraction. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { nearestSingle } from '../../../src/sql/shared-functions.ts';
import { runsOf } from '../../share.ts';
import { dateCriterion, nullable, rowsOf } from './arbitrary.ts';
import {
  CLOCK,
  columnType,
  decodeAll,
  expectMatch,
  expectOrder,
  expectPresent,
  type TypedColumn,
  table,
} from './law.ts';

const zones = fc.constantFrom('America/New_York', 'Europe/Berlin', 'America/Sao_Paulo', 'Pacific/Apia', 'UTC');
const DAY = 86_400_000;

const NEW_YORK = 'America/New_York';

function made(of: string | ColumnType, fhirType: string, options: object, zone = NEW_YORK): Codec {
  return codecOf('days', [of], fhirType, options, zone);
}

function codecOf(
  name: string,
  of: readonly (string | ColumnType)[],
  fhirType: string,
  options?: object,
  zone = NEW_YORK,
): Codec {
  const columnTypes = of.map(type => (typeof type === 'string' ? columnType(type) : type));
  const found = CODECS[name]?.make(options, undefined, { zone, fhirType, columnTypes });
  if (!found || 'problem' in found) throw new Error(found?.problem);
  return found.codec;
}

const KEYS = [
  '0000-12-31 23:59:59.9999999~00000001',
  '0001-01-01 00:00:00.0000000',
  '2024-00-00 00:00:00.0000000',
  '2024-03-00',
  '2024-03-10',
  '2024-03-10 00:00:00.0000000',
  '2024-03-10 00:00:00.0000001',
  '2024-03-10 02:30:00.0000000',
  '2024-03-10 02:29:59.9990001',
  '2024-11-03 01:59:59.9999999~01800000',
  '2023-12-31 23:59:59.9999999',
  '9999-12-31 23:59:59.9999999',
];
const LOCALS = ['2024-03-10T02:30', '2024-03-10', '2024-11-03T01:30', '2024-03-01', '2024-01-01', '2018-11-04'].map(
  text => Date.parse(`${text}${text.includes('T') ? '' : 'T00:00'}Z`),
);
/** Days since 1970. */
const DAYS = [...LOCALS.map(local => Math.floor(local / DAY)), 19_791, 20_030, 19_723, 0, 1, -1, -25_567];

/** Fails unless a codec keeps its law over rows of such raw values. */
function expectLaw(
  make: (zone: string) => Codec,
  of: string | TypedColumn,
  raw: fc.Arbitrary<SqlValue>,
  numRuns = 9,
): void {
  expectLawOf(
    make,
    [of],
    nullable(raw).map(one => [one]),
    numRuns,
  );
}

function expectLawOf(
  make: (zone: string) => Codec,
  of: readonly (string | TypedColumn)[],
  row: fc.Arbitrary<readonly SqlValue[]>,
  numRuns = 9,
): void {
  const rows = table(...of);
  fc.assert(
    fc.property(zones, rowsOf(row), fc.gen(), (zone, raws, g) => {
      const codec = make(zone);
      rows.fill(raws);
      expectPresent(codec, rows);
      const values = decodeAll(codec, rows);
      for (let i = 0; i < 8; i++) expectMatch(codec, rows, g(dateCriterion, values, zone, LOCALS), zone, values);
      expectOrder(codec, rows, KEYS);
    }),
    { numRuns: runsOf(numRuns) },
  );
}

/** The day with number 0, in days since 1970. */
const EPOCHS: Readonly<Record<string, number>> = {
  '-4713-11-24': -2_440_588,
  '0001-01-01': -719_162,
  '1800-12-28': -61_730,
  '1840-12-31': -47_117,
  '1899-12-30': -25_569,
  '1967-12-31': -732,
  '1970-01-01': 0,
};
const epochs = Object.keys(EPOCHS);

describe('days as whole numbers', () => {
  const odd = fc.constantFrom(0, 1, -1, 2_958_465, 2_958_466, 2_932_896, 2_932_897, -719_162, -719_163, 5_373_484);

  it.each(['INT', 'BIGINT', 'DECIMAL(7,0)', 'DECIMAL(18,0)'])('keep the law in %s', declared => {
    for (const since of epochs) {
      const day = fc.constantFrom(...DAYS).map(at => at - (EPOCHS[since] ?? 0));
      const raw = fc.oneof({ weight: 4, arbitrary: day }, odd);
      expectLaw(zone => made(declared, 'date', { since }, zone), declared, raw, 3);
      expectLaw(zone => made(declared, 'instant', { since, at: '02:30' }, zone), declared, raw, 3);
    }
  });

  it.each([
    ['SMALLINT', fc.constantFrom(-32_768, 32_767, 0, 1, -1, 20_000, 19_791)],
    ['TINYINT', fc.constantFrom(0, 1, 255)],
    ['DECIMAL(5,0)', fc.constantFrom(99_999, -99_999, 0, 19_791)],
  ])('keep the law in %s, which holds few', (declared, raw) => {
    for (const since of epochs) {
      expectLaw(zone => made(declared, 'dateTime', { since }, zone), declared, raw, 3);
      expectLaw(zone => made(declared, 'dateTime', { since, at: '00:00' }, zone), declared, raw, 3);
    }
  });

  it('keep the law in a column of SQLite that holds any number', () => {
    const type: ColumnType = { kind: 'integer', bits: 64, any: 'mixed' };
    const raw = fc.oneof(fc.constantFrom<SqlValue>(45_365, 45_365.5, 'x', '', -1, 0, 1), odd);
    expectLaw(zone => made(type, 'date', { since: '1899-12-30' }, zone), { declared: 'INTEGER', type }, raw);
  });

  it.each([
    ['1800-12-28', 81_526, '2024-03-14'],
    ['1800-12-28', 4, '1801-01-01'],
    ['1840-12-31', 66_913, '2024-03-14'],
    ['1840-12-31', 1, '1841-01-01'],
    ['1899-12-30', 45_365, '2024-03-14'],
    ['1899-12-30', 61, '1900-03-01'],
    ['1970-01-01', 19_796, '2024-03-14'],
    ['1967-12-31', 20_528, '2024-03-14'],
    ['1858-11-17', 60_383, '2024-03-14'],
    ['1600-12-31', 154_571, '2024-03-14'],
    ['-4713-11-24', 2_460_384, '2024-03-14'],
    ['1970-01-01', 0, '1970-01-01'],
    ['1970-01-01', -1, '1969-12-31'],
    ['1967-12-31', -7000, '1948-10-31'],
    ['1970-01-01', -719_162, '0001-01-01'],
    ['1970-01-01', -719_163, undefined],
    ['1970-01-01', 2_932_896, '9999-12-31'],
    ['1970-01-01', 2_932_897, undefined],
    // With an epoch before 1900, negative numbers are no dates.
    ['1840-12-31', 0, undefined],
    ['1840-12-31', -1, undefined],
    ['1899-12-30', 0, undefined],
  ])('since %s: %j is %j', (since, raw, wanted) => {
    expect(made('INT', 'date', { since }).decode(raw)).toBe(wanted);
    expect(made('DECIMAL(8,0)', 'date', { since }).decode(String(raw))).toBe(wanted);
  });

  it('are searched by the column as it stands', () => {
    const { columns } = table('INT');
    const codec = made('INT', 'date', { since: '1840-12-31' }, 'UTC');
    const [start, end] = [Date.UTC(2024, 2, 14), Date.UTC(2024, 2, 15)];
    const within = [
      { edge: 'start', op: '>=', at: start },
      { edge: 'end', op: '<=', at: end },
    ] as const;
    expect(codec.inverse).toBe('indexed');
    expect(codec.match(columns, { kind: 'date', any: [within] }, CLOCK)).toMatchObject({
      ...{ kind: 'equals', left: columns[0], right: { value: 66_913 } },
    });
  });

  it('require the day to count from, and a time for an instant', () => {
    expect(() => made('INT', 'date', { since: '1840' })).toThrow('a day such as 1899-12-30');
    expect(() => made('INT', 'date', { since: '1840-02-30' })).toThrow('a day such as 1899-12-30');
    expect(() => made('INT', 'instant', { since: '1840-12-31' })).toThrow('an instant has a time of day');
    expect(() => made('DATE', 'date', { since: '1840-12-31' })).toThrow('does not read');
  });
});

describe('days with a fraction', () => {
  const since = '1899-12-30';
  const clock = fc.constantFrom(0, 1, 2, 43_200, 86_399, 9000, 30_600, 5_400);
  const day = fc.constantFrom(...DAYS).map(at => at - (EPOCHS[since] ?? 0));
  const exact = fc.tuple(day, clock).map(([at, second]) => at + second / 86_400);
  const near = fc
    .tuple(exact, fc.constantFrom(0, 1e-9, -1e-9, 5.787037037037037e-6, -5.787e-6, 4e-6))
    .map(([at, by]) => at + by);
  const random = fc.tuple(day, fc.double({ min: 0, max: 1, noNaN: true })).map(([at, by]) => at + by);
  const floats = fc.oneof(
    near,
    random,
    fc.constantFrom(0, 0.5, -1.25, 1, 0.999999999, 2_958_465.999999, 2_958_465.99999999, 2_958_466, 1e300, -1e300),
  );
  const WAYS = [
    ['date', {}],
    ['dateTime', {}],
    ['dateTime', { midnight: 'date' }],
    ['instant', {}],
  ] as const;

  it.each(WAYS)('keep the law in FLOAT as %s with %j', (fhirType, more) => {
    for (const from of [since, '1970-01-01'])
      expectLaw(zone => made('FLOAT', fhirType, { since: from, ...more }, zone), 'FLOAT', floats);
  });

  it.each(WAYS)('keep the law in REAL, of 32 bits, as %s with %j', (fhirType, more) => {
    expectLaw(
      zone => made('REAL', fhirType, { since, ...more }, zone),
      'REAL',
      floats.map(nearestSingle).filter(Number.isFinite),
    );
  });

  it.each(WAYS)('keep the law in DECIMAL as %s with %j', (fhirType, more) => {
    const limited = floats.filter(at => Math.abs(at) < 4e6);
    for (const scale of [2, 5, 8]) {
      const declared = `DECIMAL(${scale + 7},${scale})`;
      const raw = limited.map(at => Number(at.toFixed(scale)));
      expectLaw(zone => made(declared, fhirType, { since, ...more }, zone), declared, raw);
    }
  });

  it.each(WAYS)('keep the law in texts as %s with %j', (fhirType, more) => {
    const raw = fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .tuple(
            floats.filter(at => Math.abs(at) < 4e6),
            fc.nat(9),
          )
          .map(([at, digits]) => at.toFixed(digits)),
      },
      fc.constantFrom('', ' ', 'N/A', '45365.', '.5', ' 45361.5 ', '045361', '1e4', '45361,5', '2460384.1234567'),
    );
    for (const from of [since, '-4713-11-24'])
      expectLaw(zone => made('VARCHAR(30)', fhirType, { since: from, ...more }, zone), 'VARCHAR(30)', raw);
  });

  it.each(WAYS)('keep the law in a column of SQLite that holds any number, as %s with %j', (fhirType, more) => {
    const raw = fc.oneof(floats, fc.constantFrom<SqlValue>('x', '', 45_361, '45361.5'));
    for (const [declared, type] of [
      ['REAL', { kind: 'float', any: 'mixed' }],
      ['DECIMAL(9,2)', { kind: 'decimal', precision: 9, scale: 2, any: 'mixed' }],
    ] as const)
      expectLaw(zone => made(type, fhirType, { since, ...more }, zone), { declared, type }, raw);
  });

  // As xlrd and openpyxl read them: rounded to the second, and to the millisecond.
  it.each([
    [45_365, '2024-03-14T00:00:00-04:00', '2024-03-14T00:00:00.000-04:00'],
    [45_365.354_166_666_67, '2024-03-14T08:30:00-04:00', '2024-03-14T08:30:00.000-04:00'],
    [45_365.354_17, '2024-03-14T08:30:00-04:00', '2024-03-14T08:30:00.288-04:00'],
    [45_365.347_22, '2024-03-14T08:20:00-04:00', '2024-03-14T08:19:59.808-04:00'],
    [45_365.999_999, '2024-03-15T00:00:00-04:00', '2024-03-14T23:59:59.914-04:00'],
    [0.5, undefined, undefined],
    [-1.25, undefined, undefined],
    [2_958_465.999_99, '9999-12-31T23:59:59-05:00', '9999-12-31T23:59:59.136-05:00'],
    [2_958_466, undefined, undefined],
  ])('%j is %j, and as an instant %j', (raw, dateTime, instant) => {
    expect(made('FLOAT', 'dateTime', { since }).decode(raw)).toBe(dateTime);
    expect(made('FLOAT', 'instant', { since }).decode(raw)).toBe(instant);
    expect(made('DECIMAL(18,11)', 'dateTime', { since }).decode(String(raw))).toBe(dateTime);
  });

  it('are days alone at midnight where the mapping says so', () => {
    const codec = made('FLOAT', 'dateTime', { since, midnight: 'date' });
    expect(codec.decode(45_365)).toBe('2024-03-14');
    expect(codec.decode(45_365.5)).toBe('2024-03-14T12:00:00-04:00');
  });

  it('have the day of the time that they are rounded to', () => {
    expect(made('FLOAT', 'date', { since }).decode(45_365.999_999)).toBe('2024-03-15');
  });

  it('accept no time or midnight from the mapping', () => {
    expect(() => made('FLOAT', 'instant', { since, at: '00:00' })).toThrow('the fraction of others is a time');
    expect(() => made('INT', 'dateTime', { since, midnight: 'date' })).toThrow('numbers with a fraction');
  });

  it('compare the bare column with a float', () => {
    const { columns } = table('FLOAT');
    const codec = made('FLOAT', 'dateTime', { since }, 'UTC');
    const found = codec.match(
      columns,
      { kind: 'date', any: [[{ edge: 'start', op: '>=', at: Date.UTC(2024, 2, 14) }]] },
      CLOCK,
    );
    expect(codec.inverse).toBe('indexed');
    expect(JSON.stringify(found)).toContain('45364.9999942');
  });
});

describe('date-and-time of numbers that count', () => {
  const since = '1840-12-31';
  const days = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...DAYS).map(at => at - (EPOCHS[since] ?? 0)) },
    fc.constantFrom(0, -1, 1, 99_999, 66_543, 2_980_013, 2_980_014),
  );
  const WAYS = [
    ['dateTime', {}],
    ['dateTime', { at: '00:00' }],
    ['instant', { at: '02:30' }],
  ] as const;
  const COUNTED = [
    ['seconds', 1000, 0],
    ['milliseconds', 1, 0],
    ['clarion', 10, 1],
  ] as const;
  const locals = fc.constantFrom(
    0,
    1,
    9,
    10,
    999,
    1000,
    1010,
    9_000_000,
    9_000_500,
    43_200_000,
    86_399_990,
    86_399_999,
  );

  it.each(COUNTED)('keeps the law for days and %s', (time, unit, midnight) => {
    const times = fc.oneof(
      { weight: 5, arbitrary: locals.map(local => Math.floor(local / unit) + midnight) },
      fc.constantFrom(0, 1, -1, 86_400, 86_400_000, 8_640_000, 8_640_001),
    );
    for (const [fhirType, more] of WAYS) {
      for (const types of [
        ['INT', 'INT'],
        ['DECIMAL(7,0)', 'DECIMAL(8,0)'],
        ['BIGINT', 'BIGINT'],
      ]) {
        expectLawOf(
          zone => codecOf('date-and-time', types, fhirType, { date: 'days', since, time, ...more }, zone),
          types,
          fc.tuple(nullable(days), nullable(times)),
        );
      }
    }
  });

  it('keeps the law where the columns hold few days, or any number', () => {
    const times = fc.constantFrom(0, 1, 9000, 86_399, 86_400, -1);
    for (const [fhirType, more] of WAYS) {
      const options = { date: 'days', since, time: 'seconds', ...more };
      const few = ['DECIMAL(5,0)', 'DECIMAL(5,0)'];
      const row = fc.tuple(nullable(days.filter(day => day < 1e5)), nullable(times));
      expectLawOf(zone => codecOf('date-and-time', few, fhirType, options, zone), few, row);
      const type: ColumnType = { kind: 'integer', bits: 64, any: 'mixed' };
      const of = { declared: 'INTEGER', type };
      expectLawOf(
        zone => codecOf('date-and-time', [type, type], fhirType, options, zone),
        [of, of],
        fc.tuple(
          fc.oneof(days, fc.constantFrom<SqlValue>('x', 66_913.5, null)),
          fc.oneof(times, fc.constantFrom<SqlValue>('x', 9000.5, null)),
        ),
      );
    }
  });

  it('keeps the law for DATE and seconds', () => {
    const row = fc.tuple(
      nullable(fc.constantFrom('2024-03-10', '2024-03-09', '2024-11-03', '9999-12-31', '0001-01-01')),
      nullable(fc.constantFrom(0, 9000, 5400, 86_399, 86_400, -1)),
    );
    for (const [fhirType, more] of WAYS)
      expectLawOf(
        zone => codecOf('date-and-time', ['DATE', 'INT'], fhirType, { date: 'date', time: 'seconds', ...more }, zone),
        ['DATE', 'INT'],
        row,
      );
  });

  it.each([
    ['seconds', 66_913, 30_600, '2024-03-14T08:30:00-04:00'],
    ['seconds', 66_913, 0, '2024-03-14T00:00:00-04:00'],
    ['seconds', 66_913, 86_400, '2024-03-14'],
    ['seconds', 66_913, null, '2024-03-14'],
    ['seconds', 0, 30_600, undefined],
    ['milliseconds', 66_913, 30_600_999, '2024-03-14T08:30:00-04:00'],
    ['clarion', 66_913, 3_060_001, '2024-03-14T08:30:00-04:00'],
    ['clarion', 66_913, 1, '2024-03-14T00:00:00-04:00'],
    ['clarion', 66_913, 0, '2024-03-14'],
  ])('of %s reads %j and %j as %j', (time, date, clock, wanted) => {
    const codec = codecOf('date-and-time', ['INT', 'INT'], 'dateTime', { date: 'days', since, time });
    expect(codec.decode(date, clock)).toBe(wanted);
  });

  it('says what is missing', () => {
    const options = { date: 'days', time: 'seconds' };
    const of = (more: object, ...types: string[]) =>
      codecOf('date-and-time', types, 'dateTime', { ...options, ...more });
    expect(() => of({}, 'INT', 'INT')).toThrow('`since` is the day of the number 0');
    expect(() => of({ since: '1900' }, 'INT', 'INT')).toThrow('`since` is the day of the number 0');
    expect(() => of({ since }, 'VARCHAR(9)', 'INT')).toThrow('date-and-time with date: days does not read');
    expect(() => of({ since }, 'INT', 'SMALLINT')).toThrow('date-and-time with time: seconds does not read');
    expect(() => of({ since }, 'INT', 'VARCHAR(9)')).toThrow('date-and-time with time: seconds does not read');
    expect(() => of({ date: 'ymd8', since }, 'INT', 'INT')).toThrow('the first year of a century');
    expect(() => of({ date: 'date', since }, 'DATE', 'INT')).toThrow('`since` is for');
  });
});

describe('horolog', () => {
  const text = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...DAYS),
          fc.constantFrom(',0', ',9000', ',5400', ',86399', ',86400', '', ',', ',x', ' '),
        )
        .map(([day, clock]) => `${day + 47_117}${clock}`),
    },
    fc.constantFrom('', ' ', 'N/A', '0', '0,0', '-1,0', ',34200', '66913,30600 ', '66913.5,0', '66913,1,2', '066913,9'),
    fc.constantFrom('2980013,86399', '2980014,0', '12345678', '66913,00000001', '66913, 30600'),
  );

  it.each([
    ['date', undefined],
    ['dateTime', undefined],
    ['dateTime', { at: '00:00' }],
    ['instant', { at: '02:30' }],
  ] as const)('keeps the law as %s with %j', (fhirType, options) => {
    expectLaw(zone => codecOf('horolog', ['VARCHAR(16)'], fhirType, options, zone), 'VARCHAR(16)', text);
  });

  it.each([
    ['66913,30600', '2024-03-14T08:30:00-04:00', '2024-03-14'],
    ['66913,0', '2024-03-14T00:00:00-04:00', '2024-03-14'],
    ['66913', '2024-03-14', '2024-03-14'],
    ['66913,', '2024-03-14', '2024-03-14'],
    ['66913,86400', '2024-03-14', '2024-03-14'],
    ['0,0', undefined, undefined],
    ['66913,30600.5', undefined, undefined],
    ['', undefined, undefined],
  ])('reads %j as %j, and as a date %j', (raw, dateTime, date) => {
    expect(codecOf('horolog', ['VARCHAR(16)'], 'dateTime').decode(raw)).toBe(dateTime);
    expect(codecOf('horolog', ['VARCHAR(16)'], 'date').decode(raw)).toBe(date);
  });
});

/** A day since 1970 in the form `2024074`. */
function ordinal(day: number): number {
  const year = new Date(day * DAY).getUTCFullYear();
  return year * 1000 + day - Date.UTC(year, 0, 1) / DAY + 1;
}

describe('yddd', () => {
  const WAYS = [
    ['date', {}],
    ['dateTime', { at: '00:00' }],
    ['instant', { at: '02:30' }],
  ] as const;
  const leap = ['2024-12-31', '2000-12-31', '2023-12-31', '2024-02-29', '2100-12-31'].map(day => Date.parse(day) / DAY);
  const day = fc.constantFrom(...DAYS, ...leap).map(ordinal);
  const odd = fc.constantFrom(
    ...[0, 1, -1, 2_023_366, 2_024_366, 2_024_367, 2_024_000, 2_100_366, 1_900_366, 2_000_366, 9_999_365, 9_999_366],
    ...[999_365, 1_000_001, 10_000_001, 99_365, 74, 366, 367, 2_024_999],
  );

  it.each(['INT', 'BIGINT', 'DECIMAL(7,0)', 'DECIMAL(9,0)'])('keeps the law in %s', declared => {
    for (const [fhirType, more] of WAYS) {
      const raw = fc.oneof(
        { weight: 4, arbitrary: day },
        declared === 'DECIMAL(7,0)' ? odd.filter(at => at < 1e7) : odd,
      );
      expectLaw(zone => codecOf('yddd', [declared], fhirType, more, zone), declared, raw);
      // Days of the century before would be negative, and are no dates.
      const before = fc.constantFrom(-635, -900_000 + 1, -1);
      const counted = fc.oneof({ weight: 6, arbitrary: raw.map(at => (at > 1_900_000 ? at - 1_900_000 : at)) }, before);
      const options = { since: '1900', ...more };
      expectLaw(zone => codecOf('yddd', [declared], fhirType, options, zone), declared, counted);
    }
  });

  it.each(['SMALLINT', 'TINYINT', 'DECIMAL(5,0)', 'DECIMAL(6,0)'])('keeps the law in %s, which holds few', declared => {
    const all = fc.constantFrom(
      0,
      1,
      74,
      255,
      366,
      367,
      1001,
      24_074,
      32_365,
      32_366,
      32_767,
      99_365,
      124_074,
      999_365,
    );
    const most: Readonly<Record<string, number>> = { SMALLINT: 32_767, TINYINT: 255, 'DECIMAL(5,0)': 99_999 };
    const raw = all.filter(at => at <= (most[declared] ?? 999_999));
    for (const [fhirType, more] of WAYS)
      for (const since of ['1900', '2000'])
        expectLaw(zone => codecOf('yddd', [declared], fhirType, { since, ...more }, zone), declared, raw);
  });

  it.each(WAYS)('keeps the law in texts as %s with %j', (fhirType, more) => {
    const texts = fc.oneof({ weight: 4, arbitrary: day }, odd).map(String);
    const some = fc.constantFrom(
      '',
      ' ',
      'N/A',
      '2024074 ',
      ' 2024074',
      '02024074',
      '024074',
      '24074',
      '2024-74',
      '099365',
    );
    expectLaw(zone => codecOf('yddd', ['VARCHAR(9)'], fhirType, more, zone), 'VARCHAR(9)', fc.oneof(texts, some));
    const counted = fc.oneof(
      day.map(at => String(at - 1_900_000)),
      some,
      odd.map(String),
    );
    const options = { since: '1900', ...more };
    expectLaw(zone => codecOf('yddd', ['VARCHAR(9)'], fhirType, options, zone), 'VARCHAR(9)', counted);
  });

  it('keeps the law in a column of SQLite that holds more than it declares', () => {
    const type: ColumnType = { kind: 'decimal', precision: 6, scale: 0, any: 'mixed' };
    const raw = fc.constantFrom<SqlValue>(124_074, 2_980_014, 8_099_365, 1.5, 'x', -1, 0);
    const of = { declared: 'DECIMAL(6,0)', type };
    expectLaw(zone => codecOf('yddd', [type], 'date', { since: '1900' }, zone), of, raw);
    expectLaw(zone => codecOf('days', [type], 'date', { since: '1899-12-30' }, zone), of, raw);
  });

  it('keeps the law beside a time of day', () => {
    const types = ['DECIMAL(6,0)', 'DECIMAL(6,0)'];
    const row = fc.tuple(
      nullable(
        fc.oneof(
          day.map(at => at - 1_900_000).filter(at => at >= 0 && at < 1e6),
          fc.constantFrom(0, 123_366, 999_999),
        ),
      ),
      nullable(fc.constantFrom(0, 83_000, 15_960, 235_959, 240_000)),
    );
    for (const [fhirType, at] of [['dateTime'], ['instant', '00:00']] as const) {
      const options = { date: 'yddd', since: '1900', time: 'hhmmss', ...(at && { at }) };
      expectLawOf(zone => codecOf('date-and-time', types, fhirType, options, zone), types, row);
    }
  });

  it.each([
    ['INT', undefined, 2_024_074, '2024-03-14'],
    ['INT', undefined, 2_024_366, '2024-12-31'],
    ['INT', undefined, 2_023_366, undefined],
    ['INT', undefined, 24_074, undefined],
    ['CHAR(7)', undefined, '2024074', '2024-03-14'],
    ['INT', '1900', 124_074, '2024-03-14'],
    ['DECIMAL(6,0)', '1900', '99365', '1999-12-31'],
    ['INT', '1900', 1, '1900-01-01'],
    ['INT', '1900', 366, undefined],
    ['INT', '1900', 0, undefined],
    ['CHAR(6)', '1900', '099365', '1999-12-31'],
    ['CHAR(6)', '1900', '99365 ', '1999-12-31'],
    ['CHAR(5)', '2000', '24074', '2024-03-14'],
  ])('in %s since %s reads %j as %j', (declared, since, raw, wanted) => {
    expect(codecOf('yddd', [declared], 'date', since === undefined ? undefined : { since }).decode(raw)).toBe(wanted);
  });

  it('is searched by the column as it stands', () => {
    for (const declared of ['INT', 'CHAR(7)', 'DECIMAL(7,0)'])
      expect(codecOf('yddd', [declared], 'date').inverse).toBe('indexed');
    const codec = codecOf('yddd', ['INT'], 'date', { since: '1900' }, 'UTC');
    const within = [
      { edge: 'start', op: '>=', at: Date.UTC(2024, 2, 14) },
      { edge: 'end', op: '<=', at: Date.UTC(2024, 2, 15) },
    ] as const;
    const { columns } = table('INT');
    expect(codec.match(columns, { kind: 'date', any: [within] }, CLOCK)).toMatchObject({
      ...{ kind: 'equals', left: columns[0], right: { value: 124_074 } },
    });
  });
});
