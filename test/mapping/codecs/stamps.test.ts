/** Timestamps in one column, in the forms of old systems. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import { stepped, writtenDateStep } from '../../../src/mapping/codecs/text-step.ts';
import { type ColumnType, UNICODE } from '../../../src/sql/column-type.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { runsOf } from '../../share.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { columnType, decodeAll, expectMatch, expectOrder, expectPresent, type TypedColumn, table } from './law.ts';
import { writtenTexts } from './written-texts.ts';

const NEW_YORK = 'America/New_York';
const zones = fc.constantFrom(NEW_YORK, 'Europe/Berlin', 'America/Sao_Paulo', 'Pacific/Apia', 'UTC');
const TYPES = [
  ['dateTime', undefined],
  ['date', undefined],
  ['dateTime', '00:00'],
  ['instant', '00:00'],
] as const;

function made(
  name: string,
  declared: string | ColumnType,
  fhirType: string,
  at?: string,
  zone = NEW_YORK,
  since?: string,
): Codec {
  const type = typeof declared !== 'string' ? declared : declared === 'unicode' ? UNICODE : columnType(declared);
  const options = at || since ? { ...(at && { at }), ...(since && { since }) } : undefined;
  const found = CODECS[name]?.make(options, undefined, { zone, fhirType, columnTypes: [type] });
  if (!found || 'problem' in found) throw new Error(found?.problem);
  return found.codec;
}

const KEYS = [
  '0001-01-01 00:00:00.0000000',
  '2024-00-00 00:00:00.0000000',
  '2024-03-00',
  '2024-03-00 00:00:00.0000000',
  '2024-03-10',
  '2024-03-10 00:00:00.0000000',
  '2024-03-10 00:00:00.0000001',
  '2024-03-09 23:59:59.9999999',
  '2024-03-09 23:59:59.9999999~00000000',
  '2024-11-03 01:59:59.9999999~01800000',
  '2024-02-29 23:59:59.9990000',
  '2023-12-31 23:59:59.9999999',
  '9999-12-31 23:59:59.9999999',
];
const LOCALS = ['2024-03-10T02:30', '2024-03-10', '2024-11-03T01:30', '2024-03-01', '2024-01-01', '2018-11-04'].map(
  text => Date.parse(`${text}${text.includes('T') ? '' : 'T00:00'}Z`),
);

/** Fails unless a codec keeps its law over rows of such raw values. */
function expectLaw(
  make: (zone: string) => Codec,
  declared: string | TypedColumn,
  raw: fc.Arbitrary<SqlValue>,
  runs = RUNS,
): void {
  const rows = table(declared);
  fc.assert(
    fc.property(zones, rowsOf(nullable(raw)), fc.gen(), (zone, raws, g) => {
      const codec = make(zone);
      rows.fill(raws.map(one => [one]));
      expectPresent(codec, rows);
      const values = decodeAll(codec, rows);
      for (let i = 0; i < 8; i++) expectMatch(codec, rows, g(dateCriterion, values, zone, LOCALS), zone, values);
      expectOrder(codec, rows, KEYS);
    }),
    runs,
  );
}

const DAYS = '20240310 20240309 20240311 20240229 20240230 20240300 20240301 20240000 20231231 20240101 20241103';
const days = fc.constantFrom(...DAYS.split(' '), '20181104', '00010101', '99991231', '00000000', '20241300');
const CLOCKS = '000000 000001 023000 083005 235959 240000 240001 246000 013000 0830 12';
const clocks = fc.constantFrom(...CLOCKS.split(' '));

describe('ymd14', () => {
  const text = fc.oneof(
    fc.tuple(days, clocks, fc.constantFrom('', '', ' ', 'x')).map(parts => parts.join('')),
    days,
    fc.constantFrom('', ' ', 'N/A', ' 20240310083005', '20240310.083005'),
  );

  it.each(TYPES)('keeps the law for texts as %s at %s', (fhirType, at) => {
    expectLaw(zone => made('ymd14', 'VARCHAR(16)', fhirType, at, zone), 'VARCHAR(16)', text);
  });

  it.each(TYPES)('keeps the law for numbers as %s at %s', (fhirType, at) => {
    const number = fc.oneof(
      fc.tuple(days, clocks).map(parts => Number(parts.join(''))),
      fc.constantFrom(0, -1, 20_240_310, 99_999_999_999_999, 202_403_100_830),
    );
    for (const declared of ['BIGINT', 'DECIMAL(14,0)'])
      expectLaw(zone => made('ymd14', declared, fhirType, at, zone), declared, number);
  });

  it.each([
    ['20240314083000', '2024-03-14T08:30:00-04:00'],
    ['20240314083000 ', '2024-03-14T08:30:00-04:00'],
    ['20240314', '2024-03-14'],
    ['20240300', '2024-03'],
    ['20240314240000', '2024-03-15T00:00:00-04:00'],
    ['99991231240000', undefined],
    ['202403140830', undefined],
    ['20240314250000', undefined],
    ['20240230083000', undefined],
    ['20240300083000', undefined],
    ['', undefined],
  ])('reads %j as %j', (raw, wanted) => {
    expect(made('ymd14', 'VARCHAR(16)', 'dateTime').decode(raw)).toBe(wanted);
  });
});

describe('ymd14 with the time behind a point', () => {
  const dates = ['20240310', '20240309', '20240311', '20240229', '20240230', '20240300', '20240000', '20231231'];
  const date = fc.constantFrom(...dates, '20240101', '20241103', '20181104', '20241300', '25991231', '17000101');
  const times = '.023 .083005 .235959 .24 .240001 .2461 .013 .000001 .1 .0 .000 .08 .99 .0830050 .0830051 .25';
  const time = fc.constantFrom('', ...times.split(' '));
  const stamp = fc.tuple(date, time).map(parts => parts.join(''));
  const OF: readonly (readonly [since: string | undefined, counted: (text: string) => string])[] = [
    [undefined, text => text],
    ['1700', text => String(Number(text.slice(0, 8)) - 17_000_000).padStart(7, '0') + text.slice(8)],
  ];
  const FEW = { numRuns: runsOf(7) };
  const odd = fc.constantFrom(
    0,
    -1,
    0.5,
    -3_240_314.083,
    99_991_231.24,
    99_991_231.235959,
    10_101.083,
    99_999_999,
    1e12,
  );

  it.each(TYPES)('keeps the law for texts as %s at %s', (fhirType, at) => {
    const [, counted] = OF[1] ?? [];
    const some = fc.constantFrom(
      '',
      ' ',
      'N/A',
      '3240314.083 ',
      '3240314.',
      '.083',
      '03240314',
      '0000000',
      '324031',
      '9999999',
    );
    const raw = fc.oneof({ weight: 4, arbitrary: stamp.map(counted ?? String) }, some, odd.map(String));
    expectLaw(zone => made('ymd14', 'VARCHAR(16)', fhirType, at, zone, '1700'), 'VARCHAR(16)', raw, FEW);
  });

  it.each(TYPES)('keeps the law for numbers as %s at %s', (fhirType, at) => {
    for (const [since, counted] of OF) {
      const raw = fc.oneof({ weight: 4, arbitrary: stamp.map(text => Number(counted(text))) }, odd);
      const noisy = fc.oneof(
        raw,
        raw.map(number => number + 1e-7),
        fc.constant(3_240_314.0830000001),
      );
      const make = (declared: string | ColumnType) => (zone: string) =>
        made('ymd14', declared, fhirType, at, zone, since);
      for (const [declared, digits] of [
        ['DECIMAL(15,6)', 6],
        ['DECIMAL(13,4)', 4],
        ['DECIMAL(15,7)', 7],
      ] as const)
        expectLaw(
          make(declared),
          declared,
          raw.filter(number => Math.abs(number) < 1e8).map(number => Number(number.toFixed(digits))),
          FEW,
        );
      expectLaw(make('FLOAT'), 'FLOAT', noisy, FEW);
      const loose: ColumnType = { kind: 'decimal', precision: 38, scale: 0, any: 'mixed' };
      const any = fc.oneof(noisy, fc.constantFrom<SqlValue>('x', '', 3_240_314));
      expectLaw(make(loose), { declared: 'NUMERIC', type: loose }, any, FEW);
    }
  });

  it.each([
    ['3240314.083', '2024-03-14T08:30:00-04:00'],
    ['3240314.083005', '2024-03-14T08:30:05-04:00'],
    ['3240314.1', '2024-03-14T10:00:00-04:00'],
    ['3240314.24', '2024-03-15T00:00:00-04:00'],
    ['3240314', '2024-03-14'],
    ['3240300', '2024-03'],
    ['3240000', '2024'],
    ['3240314.25', undefined],
    ['3240314.0860', undefined],
    ['3240300.083', undefined],
    ['0', undefined],
  ])('since 1700 %s is %j', (raw, wanted) => {
    for (const declared of ['DECIMAL(13,6)', 'FLOAT', 'VARCHAR(14)']) {
      if (raw === '0' && declared.startsWith('V')) continue;
      const codec = made('ymd14', declared, 'dateTime', undefined, NEW_YORK, '1700');
      expect(codec.decode(declared === 'FLOAT' ? Number(raw) : raw), declared).toBe(wanted);
      expect(codec.inverse, declared).toBe('indexed');
    }
  });

  it('is not for whole numbers', () => {
    expect(() => made('ymd14', 'INT', 'dateTime', undefined, NEW_YORK, '1700')).toThrow('days alone are read by ymd8');
    expect(() => made('ymd14', 'DECIMAL(20,12)', 'dateTime')).toThrow('does not read');
  });
});

/** A timestamp written in a form, as the codec reads it. */
function written(
  form: string,
  fhirType: string,
  { from, at, zone }: { from?: number; at?: string; zone?: string } = {},
) {
  return stepped([writtenDateStep(form, from)], made('ymd14', 'unicode', fhirType, at, zone));
}

describe('written dates with a time', () => {
  it.each([
    ['DD/MM/YYYY HH:mm', '14/03/2024 08:30', '2024-03-14T08:30:00-04:00'],
    ['DD/MM/YYYY HH:mm', '14/03/2024  08:30', '2024-03-14T08:30:00-04:00'],
    ['DD/MM/YYYY HH:mm', '14/03/2024', '2024-03-14'],
    ['DD/MM/YYYY HH:mm', '14/03/2024 ', '2024-03-14'],
    ['DD/MM/YYYY HH:mm', '00/03/2024', '2024-03'],
    ['DD/MM/YYYY HH:mm', '14/03/2024 24:00', '2024-03-15T00:00:00-04:00'],
    ['DD/MM/YYYY HH:mm', '14/03/2024 8:30', undefined],
    ['DD/MM/YYYY HH:mm', '14/03/2024 08:60', undefined],
    ['DD/MM/YYYY HH:mm', '31/02/2024 08:30', undefined],
    ['DD/MM/YYYY HH:mm', '00/03/2024 08:30', undefined],
    ['DD/MM/YYYY HH:mm', '14/03/2024 08:30:15', undefined],
    ['DD/MM/YYYY HH:mm', '14/03/202408:30', undefined],
    ['MM/DD/YYYY hh:mm AM', '03/14/2024 08:30 AM', '2024-03-14T08:30:00-04:00'],
    ['MM/DD/YYYY hh:mm AM', '03/14/2024 08:30 pm', '2024-03-14T20:30:00-04:00'],
    ['MM/DD/YYYY hh:mm AM', '03/14/2024 12:00 AM', '2024-03-14T00:00:00-04:00'],
    ['MM/DD/YYYY hh:mm AM', '03/14/2024 12:30 PM', '2024-03-14T12:30:00-04:00'],
    ['MM/DD/YYYY hh:mm AM', '03/14/2024 00:30 AM', undefined],
    ['MM/DD/YYYY hh:mm AM', '03/14/2024 13:30 PM', undefined],
    ['M/D/YYYY h:mm:ss AM', '3/4/2024 8:05:09 PM', '2024-03-04T20:05:09-05:00'],
    ['M/D/YYYY h:mm:ss AM', '3/4/2024 8:05 PM', '2024-03-04T20:05:00-05:00'],
    ['MON D YYYY h:mmAM', 'Mar  4 2024  8:30AM', '2024-03-04T08:30:00-05:00'],
    ['MON D YYYY h:mmAM', 'Mar 14 2024 12:30PM', '2024-03-14T12:30:00-04:00'],
    ['MON D, YYYY@HH:mm:ss', 'FEB 04, 2015@14:00:14', '2015-02-04T14:00:14-05:00'],
    ['MON D, YYYY@HH:mm:ss', 'FEB 04, 2015@14:00', '2015-02-04T14:00:00-05:00'],
    ['MON D, YYYY@HH:mm:ss', 'FEB 04, 2015@24:00', '2015-02-05T00:00:00-05:00'],
    ['MON D, YYYY@HH:mm:ss', 'FEB 04, 2015', '2015-02-04'],
    ['MON D, YYYY@HH:mm:ss', 'FEB 04, 2015 14:00', undefined],
    ['MON D, YYYY, h:mm:ss AM', 'Mar 4, 2024, 8:30:00 PM', '2024-03-04T20:30:00-05:00'],
    ['M/D/YYYY, h:mm:ss AM', '3/14/2024, 8:30:00 AM', '2024-03-14T08:30:00-04:00'],
    ['DD-MON-YYYY HH:mm:ss', '14-MAR-2024 08:30:05', '2024-03-14T08:30:05-04:00'],
    ['DD-MON-YYYY HH:mm:ss', '14-MAR-2024 08:30', '2024-03-14T08:30:00-04:00'],
    ['YYYY.MM.DD H:mm', '2024.03.14 8:30', '2024-03-14T08:30:00-04:00'],
    ['YYYY-MM-DDTHH:mm:ss', '2024-03-14T08:30:05.123', '2024-03-14T08:30:05-04:00'],
    ['YYYYMMDDHHmmss', '20240314083005', '2024-03-14T08:30:05-04:00'],
    ['YYYYMMDDHHmmss', '202403140830', '2024-03-14T08:30:00-04:00'],
    ['YYYYMMDDHHmmss', '20240314', '2024-03-14'],
    ['YYYYMMDDHHmmss', '20240314083005.1234', '2024-03-14T08:30:05-04:00'],
    ['YYYYMMDDHHmmss', '2024031408', undefined],
    ['DD/MM/YYYY HH:mm', '31/12/9999 24:00', undefined],
  ])('as %s: %j is %j', (form, raw, wanted) => {
    expect(written(form, 'dateTime').decode(raw)).toBe(wanted);
  });

  it('with years of two digits have their century', () => {
    expect(written('DD-MON-YY HH:mm', 'dateTime', { from: 1930 }).decode('14-MAR-24 08:30')).toBe(
      '2024-03-14T08:30:00-04:00',
    );
    expect(written('MM/DD/YY HH:mm', 'dateTime', { from: 1930 }).decode('00/00/00')).toBeUndefined();
  });

  it('without a time are midnight where the mapping says so', () => {
    const codec = written('DD/MM/YYYY HH:mm', 'instant', { at: '00:00' });
    expect(codec.decode('14/03/2024')).toBe('2024-03-14T00:00:00.000-04:00');
    expect(codec.decode('00/03/2024')).toBeUndefined();
  });

  it('are days where an element is a date', () => {
    expect(written('DD/MM/YYYY HH:mm', 'date').decode('14/03/1980 00:00')).toBe('1980-03-14');
  });

  it.each<[form: string, from?: number]>([
    ['DD/MM/YYYY HH:mm'],
    ['M/D/YYYY h:mm:ss AM'],
    ['YYYYMMDDHHmmss'],
    ['DD-MON-YY HH:mm', 1935],
    ['MON D YYYY h:mmAM'],
    ['MON D, YYYY@HH:mm:ss'],
    ['M/D/YYYY, h:mm AM'],
  ])('keep the law as %s from %j', (form, from) => {
    for (const [fhirType, at] of TYPES)
      expectLaw(
        zone => written(form, fhirType, { zone, ...(from !== undefined && { from }), ...(at && { at }) }),
        'VARCHAR(40)',
        writtenTexts(form),
      );
  });
});
