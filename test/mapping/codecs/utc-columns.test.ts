/** DATETIME columns that the mapping declares as UTC, `{datetime: {zone: UTC}}`, next to local ones. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contradicts } from '../../../src/law/readings.ts';
import { type InstantOptions, instantCodec } from '../../../src/mapping/codecs/instant.ts';
import type { DatetimeType } from '../../../src/mapping/codecs/stored-time.ts';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import type { TimeForm } from '../../../src/sql/column-type.ts';
import { printLocal, zoneOf } from '../../../src/time/zone.ts';
import { searchSmall } from '../../plan/small-pack.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const zones = fc.constantFrom('America/New_York', 'Asia/Kolkata', 'America/Sao_Paulo', 'UTC');
const SPRING = Date.UTC(2024, 2, 10, 7);
const AUTUMN = Date.UTC(2024, 10, 3, 6);
const AROUND = [SPRING, AUTUMN, AUTUMN - 3_600_000, Date.UTC(2024, 2, 10, 5)].flatMap(at =>
  [-60_000, -1000, 0, 1000, 60_000, 1_800_000].map(by => at + by),
);
const moments = fc.oneof(
  fc.constantFrom(...AROUND),
  fc.integer({ min: Date.UTC(1901, 0, 1) / 60_000, max: Date.UTC(2060, 0, 1) / 60_000 }).map(minute => minute * 60_000),
);

/** From then on all of these zones have offsets that FHIR can write. */
const WHOLE_MINUTES = Date.UTC(1914, 0, 2);

function timed(declared: string, form?: TimeForm): DatetimeType {
  const type = columnType(declared);
  if (type.kind !== 'datetime') throw new Error(declared);
  return form ? { ...type, form } : type;
}

/** Characters of a day that are told. */
const DAYS: Readonly<Record<string, number>> = { day: 10, month: 7, year: 4 };
const MINUTES: TimeForm = { kind: 'layout', separator: 'T', length: 16 };
const COLUMNS: readonly (readonly [name: string, type: DatetimeType, write: (at: number) => string])[] = [
  ['DATETIME', timed('DATETIME'), at => printLocal(at, 3)],
  ['DATETIME2(7)', timed('DATETIME2(7)'), at => `${printLocal(at, 3)}0000`],
  ['DATETIME2(0)', timed('DATETIME2(0)'), at => printLocal(at, 0)],
  ['minutes with T', timed('DATETIME', MINUTES), at => printLocal(at, 0).replace(' ', 'T').slice(0, 16)],
  ['any form', timed('DATETIME2(7)', { kind: 'any', zone: 'UTC' }), at => new Date(at).toISOString().replace('Z', '')],
];

describe.each(COLUMNS)('a column in UTC: %s', (name, type, write) => {
  it.each<InstantOptions['gives']>(['dateTime', 'instant', 'day', 'month', 'year'])(
    'finds and sorts what it emits as %s',
    gives => {
      const rows = table({ declared: 'DATETIME', type });
      fc.assert(
        fc.property(zones, zones, rowsOf(nullable(moments)), fc.gen(), (zone, clock, some, g) => {
          rows.fill(some.map(at => [at === null ? null : write(at)]));
          const of = instantCodec({ zone: zoneOf(zone), shown: zoneOf(clock), columnType: type, gives });
          const values = decodeAll(of, rows);
          expectPresent(of, rows);
          if (of.order) expectOrder(of, rows);
          expect(of.order === undefined).toBe(gives === 'month' || gives === 'year');
          for (let i = 0; i < 3; i++) expectMatch(of, rows, g(dateCriterion, values, zone, AROUND), zone, values);
          // Expected: the instant itself on clocks in that zone, or its day there.
          some.forEach((at, i) => {
            const local = at === null ? undefined : new Date(at).toLocaleString('sv', { timeZone: clock });
            const told = DAYS[gives];
            const step = name === 'minutes with T' ? 60_000 : 1000;
            const instant = at === null ? Number.NaN : Math.floor(at / step) * step;
            if (told !== undefined) expect(values[i]).toBe(local?.slice(0, told));
            else if (at !== null && at >= WHOLE_MINUTES)
              expect(String(values[i]).slice(0, 16)).toBe(local?.slice(0, 16).replace(' ', 'T'));
            if (told === undefined) expect(Date.parse(String(values[i]))).toBe(instant);
            const stored = at === null ? null : write(at);
            const reading = { codec: of, type, stored: [stored], zone, codeMaps: [] };
            if (at === null) return;
            expect(contradicts({ ...reading, value: values[i] as string })).toBe(false);
            expect(contradicts({ ...reading, value: '2001-02-03T04:05:06Z' })).toBe(true);
          });
        }),
        RUNS,
      );
    },
  );
});

it('refuses what is for local times, and days alone', () => {
  const make = (declared: string, options: object, name = 'datetime'): unknown =>
    CODECS[name]?.make(options, undefined, {
      ...{ zone: 'America/New_York', fhirType: 'dateTime', columnTypes: [columnType(declared)] },
    });
  expect(make('DATETIME', { zone: 'UTC', midnight: 'date' })).toMatchObject({
    problem: expect.stringContaining('UTC'),
  });
  expect(make('DATE', { zone: 'UTC' })).toMatchObject({ problem: expect.stringContaining('day') });
  expect(make('DATETIME', { zone: 'Asia/Tokyo' })).toMatchObject({ problem: expect.stringContaining('UTC') });
  expect(make('DATETIME', { clock: 'Asia/Tokyo' })).toMatchObject({ problem: expect.stringContaining('moments') });
  expect(make('DATETIME', { zone: 'UTC', clock: 'Tokyo' })).toMatchObject({ problem: expect.stringContaining('IANA') });
  expect(make('DATE', { zone: 'UTC' }, 'date')).toMatchObject({ problem: expect.stringContaining('day') });
});

/** An hour ago in UTC: a time that New York's clocks will reach only later. */
const AGO = printLocal(Date.now() - 3_600_000, 0);
const SCHEMA = `
CREATE TABLE NOTE (NO INTEGER NOT NULL PRIMARY KEY, MADE_UTC DATETIME, UPD_UTC DATETIME, GONE_UTC DATETIME);
CREATE INDEX NOTE_MADE ON NOTE (MADE_UTC);
INSERT INTO NOTE VALUES
  (1, '2024-03-10 06:59:59', '2024-11-03 05:30:00', NULL), (2, '2024-03-10 07:00:00', '2024-11-03 06:30:00', NULL),
  (3, '2024-03-11 03:30:00', '2024-11-03 07:30:00', '2024-01-01 00:00:00'),
  (4, '2024-03-11 04:00:00', NULL, '2999-01-01 00:00:00'), (5, '2024-03-11 04:00:00', NULL, '${AGO}');
`;
const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\n',
  'note.yaml': `mapping: notes
resource: DocumentReference
source:
  table: NOTE
  as: n
  key: [NO]
  where: { none: { GONE_UTC: { before: now, via: { datetime: { zone: UTC } } } } }
  changed: { from: UPD_UTC, via: { datetime: { zone: UTC } } }
id: "{NO}"
elements:
  status: current
  date: { from: MADE_UTC, via: { datetime: { zone: UTC } } }
  content: [{ attachment: { title: Note } }]
`,
};

it('stands in `changed` and in conditions, and an index serves its search', async () => {
  const all = await searchSmall(SCHEMA, PACK, 'DocumentReference');
  expect(all.ids).toEqual(['1', '2', '4']);
  expect(all.resources.map(one => one['date'])).toEqual([
    '2024-03-10T01:59:59.000-05:00',
    '2024-03-10T03:00:00.000-04:00',
    '2024-03-11T00:00:00.000-04:00',
  ]);
  expect(all.resources[1]?.meta?.lastUpdated).toBe('2024-11-03T01:30:00.000-05:00');
  expect((await searchSmall(SCHEMA, PACK, 'DocumentReference?date=2024-03-11')).ids).toEqual(['4']);
  const changed = 'DocumentReference?_lastUpdated=gt2024-11-03T05:45:00Z';
  expect((await searchSmall(SCHEMA, PACK, changed)).ids).toEqual(['2']);
  expect((await searchSmall(SCHEMA, PACK, 'DocumentReference?_sort=-_lastUpdated')).ids).toEqual(['2', '1', '4']);
  const { served } = await searchSmall(SCHEMA, PACK, 'DocumentReference?date=ge2024-03-10T07:00:00Z&_sort=date');
  expect(served.join()).toContain('NOTE_MADE');
});

const MOUNTAINS = `
CREATE TABLE PLACE (TZ INTEGER NOT NULL PRIMARY KEY, ZONE VARCHAR(40));
CREATE TABLE PERSON (NO INTEGER NOT NULL PRIMARY KEY, BORN_UTC DATETIME, BORN_TZ INTEGER, SEEN_UTC DATETIME);
CREATE INDEX PERSON_BORN ON PERSON (BORN_UTC);
INSERT INTO PLACE VALUES (126, 'America/Chicago'), (127, 'America/Denver'), (128, 'America/New_York');
INSERT INTO PERSON VALUES
  (1, '1970-01-02 05:30:00', 126, '2024-03-10 08:30:00'), (2, '1970-01-02 06:30:00', 126, '2024-03-10 08:30:00'),
  (3, '1970-01-02 06:30:00', 127, '2024-03-10 08:30:00'), (4, '1970-01-02 05:15:00', 128, '2024-03-10 08:30:00'),
  (5, '1970-01-02 05:30:00', 0, NULL), (6, NULL, 127, NULL);
`;
const PEOPLE = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/Chicago\n',
  'person.yaml': `mapping: people
resource: Patient
source:
  table: PERSON
  as: p
  key: [NO]
  lookup: { tz: { table: PLACE, on: { TZ: BORN_TZ } } }
id: "{NO}"
elements:
  birthDate:
    first:
      - { from: BORN_UTC, via: { date: { zone: UTC, clock: America/Denver } }, if: { tz.ZONE: America/Denver } }
      - { from: BORN_UTC, via: { date: { zone: UTC, clock: America/New_York } }, if: { tz.ZONE: America/New_York } }
      - { from: BORN_UTC, via: { date: { zone: UTC } } }
  deceasedDateTime: { from: SEEN_UTC, via: { datetime: { zone: UTC, clock: America/Denver } } }
`,
};

it('shows the day by the zone that a column of the row names', async () => {
  const all = await searchSmall(MOUNTAINS, PEOPLE, 'Patient');
  const days = ['1970-01-01', '1970-01-02', '1970-01-01', '1970-01-02', '1970-01-01', undefined];
  expect(all.resources.map(one => one['birthDate'])).toEqual(days);
  expect(all.resources[0]?.['deceasedDateTime']).toBe('2024-03-10T01:30:00-07:00');
  const { ids, served } = await searchSmall(MOUNTAINS, PEOPLE, 'Patient?birthdate=1970-01-01');
  expect(ids).toEqual(['1', '3', '5']);
  expect(served.join()).toContain('PERSON_BORN');
  expect((await searchSmall(MOUNTAINS, PEOPLE, 'Patient?birthdate=gt1970-01-01')).ids).toEqual(['2', '4']);
  expect((await searchSmall(MOUNTAINS, PEOPLE, 'Patient?birthdate:missing=true')).ids).toEqual(['6']);
  const sorted = (await searchSmall(MOUNTAINS, PEOPLE, 'Patient?_sort=birthdate')).ids;
  expect(sorted.map(id => days[Number(id) - 1])).toEqual(days.toSorted());
  expect((await searchSmall(MOUNTAINS, PEOPLE, 'Patient?death-date=2024-03-10T08:30:00Z')).ids).toHaveLength(4);
});
