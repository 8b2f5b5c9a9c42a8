/**
 * Columns of type DATETIMEOFFSET: resources, searches, order, pages and conditions follow the instant, whatever offset
 * a row was written with, on SQL Server and on a copy of the database in SQLite alike.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { problemsOf, runSections } from '../../src/check/run.ts';
import { SECTIONS } from '../../src/check/sections.ts';
import type { Facade } from '../../src/facade.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import type { Database } from '../../src/sql/database.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { checkAgainst, facadeOf } from '../../src/start/setup.ts';
import { ENGINE } from '../engines/fixture.ts';
import { createTestDatabase } from '../engines/mssql.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SCHEMA = [
  `CREATE TABLE PERSON (ID INT NOT NULL PRIMARY KEY, BORN DATETIMEOFFSET(6) NULL, UPD DATETIMEOFFSET(6) NULL,
    SEEN DATETIMEOFFSET(6) NULL, GONE DATETIMEOFFSET(6) NULL)`,
  `CREATE TABLE VISIT (AT DATETIMEOFFSET(6) NOT NULL PRIMARY KEY, NO INT NOT NULL, PERSON_ID INT NOT NULL,
    LEFT_AT DATETIMEOFFSET(6) NULL)`,
  'CREATE UNIQUE INDEX VISIT_NO ON VISIT (NO)',
  'CREATE INDEX PERSON_UPD ON PERSON (UPD)',
];

const PEOPLE = [
  // The day in New York differs from the day where it was written.
  `1, '1970-02-03 03:00:00 +01:00', '2024-03-14 08:30:00.123456 -04:00', NULL, NULL`,
  // The instant of row 1, and 100 ns and more before and after it.
  `2, NULL, '2024-03-14 13:30:00.123456 +01:00', '2024-03-14 12:30:00.123457 +00:00', NULL`,
  `3, '1970-02-03 00:00:00 -05:00', '2024-03-14 23:30:00.123457 +11:00', NULL, NULL`,
  `4, NULL, '2024-03-14 08:30:00.123455 -04:00', NULL, NULL`,
  // Both are half past one on New York's clocks.
  `5, NULL, '2024-11-03 05:30:00.000001 +00:00', NULL, NULL`,
  `6, NULL, '2024-11-03 06:30:00.000001 +00:00', NULL, NULL`,
  // Sentinels, by the clocks of UTC and of New York, and at the ends of the calendar.
  `7, '9999-12-31 00:00:00 +00:00', '9999-12-31 00:00:00 -05:00', NULL, NULL`,
  `8, '0001-01-01 00:00:00 +00:00', NULL, NULL, NULL`,
  `9, NULL, '2024-01-01 00:00:00 +00:00', NULL, '2024-05-01 00:00:00 +02:00'`,
];

const VISITS = [
  `'2024-03-14 08:30:00.123456 -04:00', 1, 1, '2024-03-14 15:00:00 +01:00'`,
  `'2024-03-14 12:30:00.123457 +00:00', 2, 1, '2024-03-14 13:00:00 +01:00'`,
  `'2024-11-03 06:30:00.5 +00:00', 3, 5, '2999-01-01 00:00:00 +00:00'`,
  `'2024-11-03 05:30:00.5 +00:00', 4, 5, NULL`,
  `'2023-12-31 23:59:59 -05:00', 5, 5, NULL`,
];

const PACK = {
  'pack.yaml': `name: offsets
title: Offsets
zone: America/New_York
absent: { date: ["99991231"] }
`,
  'person.yaml': `mapping: people
resource: Patient
source:
  table: PERSON
  as: p
  key: [ID]
  changed: [UPD, SEEN]
  deleted: { present: [GONE] }
  deleted-at: GONE
id: "{ID}"
elements:
  active: { first: [{ const: false, if: { BORN: { lt: 1970-02-03 } } }, true] }
  birthDate: { from: BORN }
`,
  'visit.yaml': `mapping: visits
resource: Encounter
source:
  table: VISIT
  as: v
  key: [AT]
  where: { AT: { ge: 2024-01-01 } }
  lookup: { p: { table: PERSON, on: { UPD: AT }, pick: [ID] } }
id: "{NO}"
elements:
  status: { first: [{ const: finished, if: { LEFT_AT: { before: now } } }, in-progress] }
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB
  subject: { ref: people, on: { ID: PERSON_ID } }
  period: { start: { from: AT }, end: { from: LEFT_AT, if: { AT: { before: LEFT_AT } } } }
  reasonCode: { text: { from: p.ID } }
`,
};

let database: Database;
let facade: Facade;
let done: () => Promise<void> = async () => {};

async function open(): Promise<Database> {
  const inserts = [
    ...PEOPLE.map(row => `INSERT INTO PERSON VALUES (${row})`),
    ...VISITS.map(row => `INSERT INTO VISIT VALUES (${row})`),
  ];
  if (ENGINE === 'mssql') {
    const there = await createTestDatabase();
    done = there.drop;
    await there.batch(...SCHEMA, ...inserts);
    return there.open();
  }
  const file = join(temporaryFolder(afterAll), 'offsets.sqlite');
  const copy = new DatabaseSync(file);
  copy.exec([...SCHEMA, ...inserts].join(';'));
  copy.close();
  return openSqlite(file);
}

beforeAll(async () => {
  const pack = join(temporaryFolder(afterAll), 'pack');
  mkdirSync(pack);
  for (const [name, text] of Object.entries(PACK)) writeFileSync(join(pack, name), text);
  database = await open();
  const { pack: loaded, changed, catalog } = await checkAgainst(database, readPackFiles(pack), {});
  expect(loaded.problems).toEqual([]);
  if (!loaded.registry) throw new Error('the pack has problems');
  const { registry } = loaded;
  const settings = {
    page: { size: 50, max: 1000, bytes: 64_000_000 },
    linkSecret: new Uint8Array(32),
    clock: () => NOW,
  };
  const facadeOver = (over: Database): Facade => facadeOf(registry, over, changed, settings);
  facade = facadeOver(database);
  checked = () =>
    runSections(SECTIONS, {
      ...{ registry, database, catalog, facadeOver, now: NOW, seed: 1, budgetSeconds: undefined },
      ...{ values: true, all: true },
    });
});
afterAll(async () => {
  await database?.close();
  await done();
});

const NOW = Date.UTC(2025, 0, 1);
const CONTEXT = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
let checked: () => ReturnType<typeof runSections>;

interface Answer {
  readonly entry?: readonly { readonly resource: Readonly<Record<string, unknown>> }[];
  readonly link: readonly { readonly relation: string; readonly url: string }[];
}

async function search(type: string, ...parameters: readonly (readonly [string, string])[]): Promise<Answer> {
  return JSON.parse((await facade.search({ type, parameters }, CONTEXT)).json);
}

async function ids(type: string, ...parameters: readonly (readonly [string, string])[]): Promise<readonly unknown[]> {
  return ((await search(type, ...parameters)).entry ?? []).map(({ resource }) => resource['id']);
}

it('serves moments by the zone of the pack, whatever offset they were written with', async () => {
  const { entry = [] } = await search('Patient', ['_sort', '_id']);
  expect(entry.map(({ resource: { id, birthDate, active, meta } }) => [id, birthDate, active, meta])).toMatchObject([
    ['1', '1970-02-02', false, { lastUpdated: '2024-03-14T08:30:00.123-04:00' }],
    ['2', undefined, true, { lastUpdated: '2024-03-14T08:30:00.123-04:00' }],
    ['3', '1970-02-03', true, { lastUpdated: '2024-03-14T08:30:00.123-04:00' }],
    ['4', undefined, true, { lastUpdated: '2024-03-14T08:30:00.123-04:00' }],
    ['5', undefined, true, { lastUpdated: '2024-11-03T01:30:00.000-04:00' }],
    ['6', undefined, true, { lastUpdated: '2024-11-03T01:30:00.000-05:00' }],
    ['7', undefined, true, undefined],
    ['8', undefined, true, undefined],
  ]);
  const visits = (await search('Encounter', ['_sort', '_id'])).entry ?? [];
  expect(visits.map(({ resource: { id, status, period, reasonCode } }) => [id, status, period, reasonCode])).toEqual([
    ['1', 'finished', { start: '2024-03-14T08:30:00-04:00', end: '2024-03-14T10:00:00-04:00' }, [{ text: '1' }]],
    ['2', 'finished', { start: '2024-03-14T08:30:00-04:00' }, [{ text: '3' }]],
    ['3', 'in-progress', { start: '2024-11-03T01:30:00-05:00', end: '2998-12-31T19:00:00-05:00' }, undefined],
    ['4', 'in-progress', { start: '2024-11-03T01:30:00-04:00' }, undefined],
  ]);
});

it('finds by the instant, and by the day of the zone', async () => {
  expect(await ids('Patient', ['birthdate', '1970-02-02'])).toEqual(['1']);
  expect(await ids('Patient', ['birthdate', 'gt1970-02-02'])).toEqual(['3']);
  expect(await ids('Patient', ['birthdate:missing', 'true'])).toEqual(['2', '4', '5', '6', '7', '8']);
  expect(await ids('Patient', ['_lastUpdated', '2024-11-03T06:30:00Z'])).toEqual(['6']);
  expect(await ids('Patient', ['_lastUpdated', 'lt2024-03-14T12:30:01Z'])).toEqual(['1', '2', '3', '4']);
  expect(await ids('Encounter', ['date', '2024-03-14'])).toEqual(['1']);
  expect(await ids('Encounter', ['date', 'ge2024-03-14'], ['date', 'lt2024-03-15'])).toEqual(['1', '2']);
  expect(await ids('Encounter', ['date', 'sa2024-11-03T01:30:00-04:00'])).toEqual(['3']);
});

it('sorts and pages by the instant to its last digit', async () => {
  const sorted = ['4', '1', '2', '3', '5', '6', '7', '8'];
  expect(await ids('Patient', ['_sort', '_lastUpdated'])).toEqual(sorted);
  for (const [type, sort, wanted] of [
    ['Patient', '_lastUpdated', sorted],
    ['Patient', '-_lastUpdated', ['6', '5', '2', '3', '1', '4', '7', '8']],
    ['Encounter', '_id', ['1', '2', '3', '4']],
    ['Encounter', '-date', ['3', '4', '2', '1']],
  ] as const) {
    const found: unknown[] = [];
    let parameters: readonly (readonly [string, string])[] | undefined = [
      ['_sort', sort],
      ['_count', '1'],
    ];
    while (parameters) {
      const { entry = [], link } = await search(type, ...parameters);
      found.push(...entry.map(({ resource }) => resource['id']));
      const next = link.find(({ relation }) => relation === 'next');
      parameters = next && [...new URL(next.url).searchParams];
    }
    expect(found, `${type} ${sort}`).toEqual(wanted);
  }
});

it('passes a check of every row and search', async () => {
  const sections = await checked();
  expect(problemsOf(sections).filter(({ severity }) => severity === 'error')).toEqual([]);
});
