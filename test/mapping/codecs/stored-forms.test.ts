/**
 * The law of the date codecs on columns with the mixed values of SQLite files: every ISO spelling, instants, days,
 * junk, numbers, bytes and NULL. The meaning of a row is known from how it was made.
 */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { dateAndTimeCodec } from '../../../src/mapping/codecs/date-and-time.ts';
import { datetimeCodec } from '../../../src/mapping/codecs/datetime.ts';
import { computedEpochCodec } from '../../../src/mapping/codecs/epoch.ts';
import type { TimedType } from '../../../src/mapping/codecs/stored-time.ts';
import type { ColumnType, TimeForm } from '../../../src/sql/column-type.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { instantOfCount } from '../../../src/time/epoch-units.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, RUNS, rowsOf } from './arbitrary.ts';
import { decodeAll, expectMatch, expectOrder, expectPresent, type Table, table } from './law.ts';
import { offsetAt, toInstant } from './oracle.ts';

const ZONES = [
  'America/New_York',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Australia/Lord_Howe',
  'Atlantic/Azores',
  'UTC',
];
/** Instants around clock changes, including the repeated hour of autumn, and others. */
const INSTANTS = [
  '2024-03-10T06:59:59.999Z',
  '2024-03-10T07:00:00.000Z',
  '2024-11-03T05:30:00.000Z',
  '2024-11-03T06:00:00.000Z',
  '2024-11-03T06:30:00.500Z',
  '2024-11-03T06:59:59.000Z',
  '2024-11-03T07:00:00.000Z',
  '2024-10-27T00:30:00.000Z',
  '2024-10-27T01:00:00.000Z',
  '2024-10-27T01:15:00.250Z',
  '2018-02-18T01:30:00.000Z',
  '2018-02-18T02:30:00.000Z',
  '2024-04-06T15:10:00.000Z',
  '2025-10-15T00:00:00.000Z',
  '2025-10-15T23:59:59.000Z',
  '1999-12-31T23:59:59.000Z',
].map(text => Date.parse(text));

/** The value of a row, and its instant or day; without either it has no value. */
interface Stored {
  readonly raw: SqlValue;
  readonly instant?: number;
  readonly day?: string;
}

const two = (number: number): string => String(number).padStart(2, '0');
const iso = (local: number): string => new Date(local).toISOString();

/** Texts of one instant as programs write it. */
function spellings(instant: number, zone: string): readonly Stored[] {
  const local = instant + offsetAt(instant, zone);
  const text = iso(local);
  const day = text.slice(0, 10);
  const time = text.slice(11, 23);
  const of = (raw: string, to: number): Stored => ({ raw, instant: toInstant(to, zone), day });
  const second = Math.floor(local / 1000) * 1000;
  const minute = Math.floor(local / 60_000) * 60_000;
  const offset = offsetAt(instant, zone) / 60_000;
  const sign = offset < 0 ? '-' : '+';
  const [hours, minutes] = [two(Math.floor(Math.abs(offset) / 60)), two(Math.abs(offset) % 60)];
  const utc = iso(instant);
  return [
    of(`${day} ${time}`, local),
    of(`${day} ${time.slice(0, 8)}`, second),
    of(`${day}T${time.slice(0, 8)}`, second),
    of(`${day} ${time}456`, local),
    of(`${day} ${time.slice(0, 5)}`, minute),
    of(` ${day} ${time.slice(0, 8)} `, second),
    of(day, Math.floor(local / 86_400_000) * 86_400_000),
    {
      raw: `${utc.slice(0, 10)} ${utc.slice(11, 19)}Z`,
      instant: Math.floor(instant / 1000) * 1000,
      day: utc.slice(0, 10),
    },
    { raw: utc, instant, day: utc.slice(0, 10) },
    { raw: `${day}T${time}${sign}${hours}:${minutes}`, instant, day },
    ...(minutes === '00' ? [{ raw: `${day} ${time}${sign}${hours}`, instant, day }] : []),
    { raw: `${day}T${time}${sign}${hours}${minutes}`, instant, day },
  ];
}

const JUNK: readonly SqlValue[] = [
  ...[
    null,
    '',
    '   ',
    'unknown',
    '0000-00-00',
    '0000-00-00 00:00:00',
    '2024-02-30',
    '2024-13-01 08:00',
    '2024-03-10 24:00:00',
  ],
  ...['2024-03-10 08:60', '20240310', '03/10/2024', '2024-03-10 08', '2024-03-10T08:00:00+99:00', '2024-3-1'],
  ...[20240310, 1_700_000_000, 2_460_380.5, 0, -1, Buffer.from('2024-03-10')],
];

function rowsIn(zone: string): fc.Arbitrary<readonly Stored[]> {
  const written = fc.constantFrom(...INSTANTS).chain(instant => fc.constantFrom(...spellings(instant, zone)));
  const junk = fc.constantFrom(...JUNK).map((raw): Stored => ({ raw }));
  return rowsOf(fc.oneof({ arbitrary: written, weight: 4 }, { arbitrary: junk, weight: 1 }));
}

const any = (zone: string): TimeForm => ({ kind: 'any', zone });
const datetime = (form: TimeForm, fraction = 7): TimedType => ({ kind: 'datetime', name: 'datetime2', fraction, form });

function expectFaces(codec: Codec, rows: Table, g: fc.GeneratorValue, zone: string): readonly unknown[] {
  expectPresent(codec, rows);
  const values = decodeAll(codec, rows);
  for (let i = 0; i < 4; i++) {
    const at = g(fc.constantFrom, ...INSTANTS);
    expectMatch(codec, rows, g(dateCriterion, values, zone, [at + offsetAt(at, zone)]), zone, values);
  }
  expectOrder(codec, rows);
  return values;
}

/** Expected meaning of each row: an instant or a day. */
function expectMeant(values: readonly unknown[], stored: readonly Stored[], as: 'instant' | 'dateTime' | 'date'): void {
  const meant = stored.map(({ instant, day }) => {
    if (as === 'date') return day;
    return instant === undefined || as === 'instant' ? instant : Math.floor(instant / 1000) * 1000;
  });
  const found = values.map(value => (as === 'date' || value === undefined ? value : Date.parse(String(value))));
  expect(found).toEqual(meant);
}

describe('columns whose rows are written in any form', () => {
  it.each(['instant', 'dateTime'] as const)('DATETIME as %s', fhirType => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES).chain(zone => fc.tuple(fc.constant(zone), rowsIn(zone))),
        fc.gen(),
        ([zone, stored], g) => {
          const columnType = datetime(any(zone));
          const rows = table({ declared: 'DATETIME', type: columnType });
          rows.fill(stored.map(({ raw }) => [raw]));
          const codec = datetimeCodec({ zone: zoneOf(zone), columnType, fhirType, midnight: 'time' });
          expectMeant(expectFaces(codec, rows, g, zone), stored, fhirType);
        },
      ),
      RUNS,
    );
  });

  it.each(['date', 'absent'] as const)('DATETIME where midnight is %s', midnight => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES).chain(zone => fc.tuple(fc.constant(zone), rowsIn(zone))),
        fc.gen(),
        ([zone, stored], g) => {
          const columnType = datetime(any(zone));
          const rows = table({ declared: 'TIMESTAMP', type: columnType });
          rows.fill(stored.map(({ raw }) => [raw]));
          expectFaces(datetimeCodec({ zone: zoneOf(zone), columnType, fhirType: 'dateTime', midnight }), rows, g, zone);
        },
      ),
      RUNS,
    );
  });

  it('DATE, by its written day', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES).chain(zone => fc.tuple(fc.constant(zone), rowsIn(zone))),
        fc.gen(),
        ([zone, stored], g) => {
          const columnType: TimedType = { kind: 'date', form: any(zone) };
          const rows = table({ declared: 'DATE', type: columnType });
          rows.fill(stored.map(({ raw }) => [raw]));
          const codec = datetimeCodec({ zone: zoneOf(zone), columnType, fhirType: 'date', midnight: 'time' });
          expectMeant(expectFaces(codec, rows, g, zone), stored, 'date');
        },
      ),
      RUNS,
    );
  });

  it('a day of any form beside a time of any form', () => {
    const times: readonly SqlValue[] = [
      '08:30',
      '08:30:00',
      '23:59:59.5',
      '00:00',
      '8:30',
      '24:00',
      'noon',
      null,
      830,
      Buffer.from('08:30'),
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES).chain(zone => fc.tuple(fc.constant(zone), rowsIn(zone))),
        fc.gen(),
        ([zone, stored], g) => {
          const dateType: ColumnType = { kind: 'date', form: any(zone) };
          const timeType: ColumnType = { kind: 'time', fraction: 7, form: any(zone) };
          const rows = table({ declared: 'DATE', type: dateType }, { declared: 'TIME', type: timeType });
          rows.fill(stored.map(({ raw }) => [raw, g(fc.constantFrom, ...times)]));
          expectFaces(dateAndTimeCodec({ zone: zoneOf(zone), dateType, timeType, time: 'time' }), rows, g, zone);
        },
      ),
      RUNS,
    );
  });
});

describe('numbers that count moments, whatever the column declares', () => {
  const COUNTS = [
    { unit: 'seconds', count: (instant: number): number => Math.floor(instant / 1000), ms: 1000 },
    { unit: 'seconds', count: (instant: number): number => instant / 1000, ms: 1 },
    { unit: 'milliseconds', count: (instant: number): number => instant, ms: 1 },
    { unit: 'days', count: (instant: number): number => instant / 86_400_000 + 2_440_587.5, ms: 1 },
  ] as const;

  it.each(
    COUNTS.flatMap(counted => ['DATETIME', 'DATE', 'REAL', 'NUMERIC'].map(declared => ({ ...counted, declared }))),
  )('$unit in $declared', ({ unit, count, ms, declared }) => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        rowsOf(fc.oneof(fc.constantFrom(...INSTANTS), fc.constantFrom('2024-03-10', null, 'x', 1e300, -1e300))),
        fc.gen(),
        (zone, raws, g) => {
          const rows = table({ declared, type: datetime(any(zone)) });
          rows.fill(raws.map(raw => [typeof raw === 'number' && INSTANTS.includes(raw) ? count(raw) : raw]));
          const codec = computedEpochCodec(unit, { zone: zoneOf(zone), fhirType: 'instant' });
          const columns = codec.reads?.(rows.columns) as Table['columns'];
          const values = expectFaces(codec, { ...rows, columns }, g, zone);
          const meant = raws.map(raw =>
            typeof raw === 'number' && INSTANTS.includes(raw) ? Math.floor(raw / ms) * ms : undefined,
          );
          expect(values.map(value => value && Date.parse(String(value)))).toEqual(meant);
        },
      ),
      RUNS,
    );
  });

  it('are read as SQLite reads them', () => {
    const database = new DatabaseSync(':memory:');
    const days = database.prepare('SELECT julianday(?) AS j');
    for (const instant of INSTANTS) {
      const text = iso(instant).replace('T', ' ').slice(0, 23);
      expect(instantOfCount(Number(days.get(text)?.['j']), 'days')).toBe(instant);
    }
  });

  it('reads seconds with a fraction to the millisecond', () => {
    // 1.001 times 1,000 is a little less than 1,001.
    for (const ms of [1001, 1_700_000_000_123, -1_700_000_000_123])
      expect(instantOfCount(ms / 1000, 'seconds')).toBe(ms);
    // This value times 1,000 would be rounded up.
    expect(instantOfCount(0.11699999999999999, 'seconds')).toBe(116);
    fc.assert(
      fc.property(fc.integer({ min: -4e12, max: 4e12 }), ms => {
        expect(instantOfCount(ms / 1000, 'seconds')).toBe(ms);
      }),
    );
  });
});

describe('columns whose rows are all of one layout', () => {
  const layouts = [
    { length: 10, separator: ' ' },
    { length: 16, separator: ' ' },
    { length: 16, separator: 'T' },
    { length: 19, separator: 'T' },
    { length: 23, separator: 'T' },
    { length: 26, separator: ' ' },
  ] as const;
  const cut = (instant: number, zone: string, { length, separator }: (typeof layouts)[number]): string =>
    `${iso(instant + offsetAt(instant, zone)).slice(0, 23)}000000`.replace('T', separator).slice(0, length);

  it.each(layouts)('$length characters with "$separator"', layout => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        rowsOf(fc.constantFrom(null, ...INSTANTS)),
        fc.constantFrom('date' as const, 'absent' as const, 'time' as const),
        fc.constantFrom('dateTime' as const, 'instant' as const, 'date' as const),
        fc.gen(),
        (zone, instants, midnight, fhirType, g) => {
          const columnType = datetime({ kind: 'layout', ...layout }, Math.max(0, layout.length - 20));
          const rows = table({ declared: 'DATETIME', type: columnType });
          rows.fill(instants.map(at => [at === null ? null : cut(at, zone, layout)]));
          const codec = datetimeCodec({ zone: zoneOf(zone), columnType, fhirType, midnight });
          const values = expectFaces(codec, rows, g, zone);
          expect(codec.inverse).toBe('indexed');
          if (midnight === 'time')
            expect(values.every((value, i) => (value === undefined) === (instants[i] === null))).toBe(true);
        },
      ),
      RUNS,
    );
  });

  it('a row of another form is no value', () => {
    const codec = datetimeCodec({
      zone: zoneOf('UTC'),
      columnType: datetime({ kind: 'layout', separator: 'T', length: 19 }, 0),
      fhirType: 'dateTime',
      midnight: 'time',
    });
    expect(codec.decode('2024-03-10T08:00:00')).toBe('2024-03-10T08:00:00Z');
    for (const other of ['2024-03-10 08:00:00', '2024-03-10', '2024-03-10T08:00:00Z', '2024-03-10T08:00', 5, null])
      expect(codec.decode(other)).toBeUndefined();
  });
});

describe('columns whose rows are all instants in UTC of one layout', () => {
  const layouts = [
    { length: 17, separator: 'T' },
    { length: 20, separator: 'T' },
    { length: 20, separator: ' ' },
    { length: 22, separator: 'T' },
    { length: 23, separator: ' ' },
    { length: 24, separator: 'T' },
  ] as const;
  /** At the ends of the calendar the local year may be out of range. */
  const AT_THE_ENDS = [
    '0001-01-01T00:00:00.000Z',
    '0001-01-01T12:00:00.000Z',
    '9999-12-31T12:00:00.000Z',
    '9999-12-31T23:59:59.000Z',
  ];
  const instants = [...INSTANTS, ...AT_THE_ENDS.map(text => Date.parse(text))];

  it.each(layouts)('$length characters with "$separator"', utc => {
    const written = (instant: number): string =>
      `${iso(instant)
        .slice(0, utc.length - 1)
        .replace('T', utc.separator)
        .replace(/\.$/, '')}Z`;
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        rowsOf(fc.constantFrom(null, ...instants)),
        fc.constantFrom('date' as const, 'absent' as const, 'time' as const, 'time' as const),
        fc.constantFrom('dateTime' as const, 'instant' as const, 'date' as const),
        fc.gen(),
        (zone, stored, midnight, fhirType, g) => {
          const columnType = datetime({ kind: 'any', zone, utc });
          const rows = table({ declared: 'DATETIME', type: columnType });
          rows.fill(stored.map(at => [at === null ? null : written(at)]));
          const codec = datetimeCodec({ zone: zoneOf(zone), columnType, fhirType, midnight });
          const values = expectFaces(codec, rows, g, zone);
          expect(codec.inverse).toBe(midnight === 'time' && fhirType !== 'date' ? 'indexed' : 'computed');
          if (midnight !== 'time' || fhirType === 'date') return;
          const unit =
            utc.length === 17 ? 60_000 : fhirType === 'dateTime' || utc.length === 20 ? 1000 : 10 ** (24 - utc.length);
          for (const [i, at] of stored.entries()) {
            const value = values[i];
            if (at !== null && INSTANTS.includes(at))
              expect(Date.parse(String(value))).toBe(Math.floor(at / unit) * unit);
            if (at === null) expect(value).toBeUndefined();
          }
        },
      ),
      RUNS,
    );
  });
});
