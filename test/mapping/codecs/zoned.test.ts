/** Local times beside a column that says where the clocks stand: `zoned`. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contradicts } from '../../../src/law/readings.ts';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import type { DatetimeType } from '../../../src/mapping/codecs/stored-time.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import type { ColumnExpression, SqlValue } from '../../../src/sql/expression.ts';
import { localPiecesOf } from '../../../src/time/dtm.ts';
import { printLocal, zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { columnType, decodeAll, expectMatch, expectOrder, expectPresent, type Table, table } from './law.ts';

const NEW_YORK = 'America/New_York';
const ZONES = {
  704: NEW_YORK,
  705: 'America/Chicago',
  715: 'America/Chicago',
  706: 'America/Phoenix',
  9: 'Asia/Tokyo',
};

function made(types: readonly DatetimeType[], namedBy: string, fhirType: string, options: unknown, zone = NEW_YORK) {
  return CODECS['zoned']?.make(options, undefined, { zone, fhirType, columnTypes: [...types, columnType(namedBy)] });
}

function codecOf(
  type: DatetimeType,
  namedBy: string,
  fhirType: string,
  zone?: string,
  options: unknown = ZONES,
): Codec {
  const found = made([type], namedBy, fhirType, options, zone);
  if (!found || 'problem' in found) throw new Error(found?.problem);
  return found.codec;
}

function timed(declared: string, form?: DatetimeType['form']): DatetimeType {
  const type = columnType(declared);
  if (type.kind !== 'datetime') throw new Error(declared);
  return form ? { ...type, form } : type;
}

const AROUND = [
  '2024-03-10T02:30',
  '2024-03-10T03:15',
  '2024-11-03T01:30',
  '2024-11-03T00:59',
  '2024-07-01T00:00',
].flatMap(text => [-60_000, -1000, 0, 1000, 1_800_000, 3_600_000].map(by => Date.parse(`${text}:00Z`) + by));
const LATE = { min: Date.UTC(1971, 0, 1) / 1000, max: Date.UTC(2060, 0, 1) / 1000 };
const times = fc.oneof(
  fc.constantFrom(...AROUND),
  fc.integer(LATE).map(second => second * 1000),
);
const ANY = { kind: 'any', zone: NEW_YORK } as const;

const COLUMNS: readonly (readonly [name: string, type: DatetimeType, write: (at: number) => string])[] = [
  ['DATETIME', timed('DATETIME'), at => printLocal(at, 3)],
  ['DATETIME2(7)', timed('DATETIME2(7)'), at => `${printLocal(at, 3)}0001`],
  [
    'minutes with T',
    timed('DATETIME', { kind: 'layout', separator: 'T', length: 16 }),
    at => printLocal(at, 0).replace(' ', 'T').slice(0, 16),
  ],
  [
    'any form, in which some rows state an instant',
    timed('DATETIME2(7)', ANY),
    at => (at % 120_000 === 0 ? new Date(at).toISOString() : printLocal(at, 0)),
  ],
];
const NAMES: readonly (readonly [type: string, names: fc.Arbitrary<SqlValue>])[] = [
  ['SMALLINT', fc.constantFrom(704, 705, 715, 706, 9, 700)],
  ['VARCHAR(5)', fc.constantFrom('704', '705', '715  ', '706', '9', '09', 'EST', '')],
];

/** The table with the expressions that the codec reads. */
function readBy(codec: Codec, rows: Table): Table {
  const read = codec.reads?.(rows.columns);
  return read ? { ...rows, columns: read as readonly ColumnExpression[] } : rows;
}

describe.each(COLUMNS)('local times in %s', (_, type, write) => {
  it.each(NAMES)('are found and sorted as they are shown, with zones by %s', (namedBy, names) => {
    const rows = table({ declared: 'DATETIME', type }, namedBy);
    const row = fc.tuple(nullable(times), nullable(names));
    fc.assert(
      fc.property(
        fc.constantFrom('instant', 'dateTime'),
        fc.constantFrom(NEW_YORK, 'America/Chicago', 'UTC'),
        rowsOf(row),
        fc.gen(),
        (fhirType, zone, some, g) => {
          rows.fill(some.map(([at, name]) => [at === null ? null : write(at), name]));
          const codec = codecOf(type, namedBy, fhirType, zone);
          const of = readBy(codec, rows);
          const values = decodeAll(codec, of);
          some.forEach(([at], i) => {
            const value = values[i];
            if (at === null || typeof value !== 'string' || !write(at).endsWith('Z')) return;
            expect(Date.parse(value), `${value} for an instant`).toBe(at);
          });
          expectPresent(codec, of);
          expectOrder(codec, of, ['2024-03-10 00:00:00.0000000', '2024-11-03 01:59:59.9999999~01800000']);
          for (let i = 0; i < 4; i++) expectMatch(codec, of, g(dateCriterion, values, zone, AROUND), zone, values);
          // Later values have greater keys, whatever their zones, but for times that the pack's own clocks skip.
          const keyed = of.values(codec.order?.by(of.columns) ?? []).flatMap(([key], i) => {
            const value = values[i];
            return typeof value === 'string' && !SKIPPED.test(value)
              ? [{ key: String(key), at: Date.parse(value) }]
              : [];
          });
          const sorted = keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
          const late = sorted.filter(({ at }, i) => at < (sorted[i - 1]?.at ?? at) - 999);
          expect(late, 'values before one with a lesser key').toEqual([]);
        },
      ),
      RUNS,
    );
  });
});

const SKIPPED = /^2024-03-10T02/;

describe('zoned', () => {
  const datetime = timed('DATETIME');

  it.each([
    [705, '2024-07-01T08:30:00.000-05:00'],
    [704, '2024-07-01T08:30:00.000-04:00'],
    [706, '2024-07-01T08:30:00.000-07:00'],
    [12, '2024-07-01T08:30:00.000-04:00'],
    [null, '2024-07-01T08:30:00.000-04:00'],
  ])('with the zone %j gives %s', (name, wanted) => {
    expect(codecOf(datetime, 'SMALLINT', 'instant').decode('2024-07-01 08:30:00.000', name)).toBe(wanted);
  });

  it('refuses what has no clocks, and says what is expected', () => {
    const problem = (type: string, namedBy: string, fhirType: string, options: unknown) =>
      CODECS['zoned']?.make(options, undefined, {
        ...{ zone: NEW_YORK, fhirType },
        columnTypes: [columnType(type), columnType(namedBy)],
      });
    expect(problem('DATE', 'SMALLINT', 'dateTime', ZONES)).toMatchObject({ expected: 'a DATETIME first' });
    expect(problem('DATETIME', 'DATETIME', 'dateTime', ZONES)).toMatchObject({
      problem: expect.stringContaining('zone'),
    });
    expect(problem('DATETIME', 'SMALLINT', 'date', ZONES)).toMatchObject({
      problem: expect.stringContaining('via: date'),
    });
    expect(problem('DATETIME', 'SMALLINT', 'instant', { EST: NEW_YORK })).toMatchObject({
      problem: 'zoned: EST is no value of a column of whole numbers',
    });
    expect(problem('DATETIME', 'SMALLINT', 'instant', { 7: 'EST' })).toMatchObject({
      problem: expect.stringContaining('IANA'),
    });
    expect(problem('DATETIME', 'SMALLINT', 'instant', undefined)).toMatchObject({
      problem: expect.stringContaining('{zoned: {705: America/Chicago}}'),
    });
  });

  it('is contradicted by a value with the clocks of another zone', () => {
    const codec = codecOf(datetime, 'SMALLINT', 'instant');
    const stored = ['2024-07-01 08:30:00.000', 705];
    const differs = (value: string) =>
      contradicts({ codec, type: datetime, stored, value, zone: NEW_YORK, codeMaps: [] });
    expect(differs('2024-07-01T08:30:00.000-05:00')).toBe(false);
    expect(differs('2024-07-01T08:30:00.000-04:00')).toBe(true);
  });
});

it.each([NEW_YORK, 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Pacific/Apia', 'UTC'])(
  'the pieces of local time in %s are the offsets of its local times',
  name => {
    const zone = zoneOf(name);
    const pieces = localPiecesOf(zone);
    const changes = pieces.map(({ from }) => from).filter(from => from > LATE.min * 1000);
    const around = changes.flatMap(from =>
      [-7_200_000, -3_600_000, -60_000, -1000, 0, 60_000, 3_600_000].map(by => from + by),
    );
    for (const local of around) {
      const piece = pieces.findLast(({ from }) => from <= local);
      expect(piece?.offset, printLocal(local, 0)).toBe(zone.offsetOf(local));
    }
  },
);
