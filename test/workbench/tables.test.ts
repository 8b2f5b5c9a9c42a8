/** The view Tables as its page requests it: the tables, their mappings, values of their rows, and targets of keys. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { profileTable } from '../../src/profile/table.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { likelyKeys } from '../../src/workbench/likely-keys.ts';
import type {
  WireDetail,
  WireLikelyKeys,
  WireProfile,
  WireSizes,
  WireTables,
} from '../../src/workbench/wire/tables.ts';
import { keptClinic } from '../cli/small-clinic.ts';
import { type BenchOver, openBenchOn } from './opened-bench.ts';

const STAYS = 12_000;
const clinic = keptClinic({
  'pack.yaml': `name: small
title: A small clinic
zone: Europe/Warsaw
deny: ["*.SECRET"]
systems: { loinc: http://loinc.org, ucum: http://unitsofmeasure.org }
`,
});
const file = join(clinic.folder, 'clinic.sqlite');

let bench: BenchOver;
beforeAll(async () => {
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE WARD (CODE VARCHAR(8) COLLATE RTRIM PRIMARY KEY, TITLE VARCHAR(40));
    CREATE TABLE STAFF_MST (STAFF_NO INTEGER PRIMARY KEY, LST_NM VARCHAR(40), SECRET TEXT);
    CREATE TABLE STAY (ID INTEGER PRIMARY KEY, PERSON_ID INTEGER REFERENCES PERSON, WARD VARCHAR(8), ATT_STAFF_NO INTEGER,
      SIGNED INTEGER, SECRET TEXT, OUT_DT CHAR(8), PNAME VARCHAR(40), STS CHAR(1));
    CREATE VIEW STAYING AS SELECT * FROM STAY WHERE OUT_DT IS NULL;
    INSERT INTO WARD VALUES ('ICU', 'Intensive care'), ('SUR', 'Surgery');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO STAFF_MST SELECT 7000 + 13 * i, 'DOE', 'canary' FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${STAYS})
      INSERT INTO STAY SELECT i, 1 + i % 2, CASE i % 2 WHEN 0 THEN 'ICU' ELSE 'SUR' END, 7013 + 13 * (i % 60), 7013 + 13 * (i % 60),
        'canary', CASE i % 4 WHEN 0 THEN '20230230' WHEN 1 THEN '99991231' ELSE '20230228' END, 'KOWALSKI^ANNA',
        CASE i % 3 WHEN 0 THEN ' ' WHEN 1 THEN 'A' ELSE 'X' END FROM n;`);
  database.close();
  bench = await openBenchOn(clinic.environment, 600_000);
});
afterAll(async () => {
  await bench.close();
  rmSync(clinic.folder, { recursive: true, force: true });
});

const ask = <T>(path: string, body: object = { unsaved: {} }): Promise<T> => bench.asked(path, body);

const one = (table: string, more: object = {}): object => ({ unsaved: {}, table, ...more });

describe('the list', () => {
  test('has all tables with their columns, and which the unsaved texts read', async () => {
    const of = async (unsaved: object): Promise<readonly (readonly [string, readonly string[]])[]> => {
      const { tables } = await ask<WireTables>('tables', { unsaved, again: false });
      return tables.map(({ name, columns, mapped }) => [name, mapped.map(i => columns[i] ?? '')]);
    };
    expect(await of({})).toEqual([
      ['PERSON', ['ID', 'SURNAME', 'BORN', 'SEX']],
      ['STAFF_MST', []],
      ['STAY', []],
      ['STAYING', []],
      ['WARD', []],
      ['WEIGHING', ['NO', 'PERSON_ID', 'TAKEN', 'KG']],
    ]);
    const text = readFileSync(join(clinic.pack, 'person.yaml'), 'utf8').replace('  birthDate: { from: BORN }\n', '');
    expect((await of({ 'person.yaml': text }))[0]).toEqual(['PERSON', ['ID', 'SURNAME', 'SEX']]);
  });

  test('of a pack with errors is marked', async () => {
    const { mapped } = await ask<WireTables>('tables', { unsaved: { 'person.yaml': 'mapping: [' }, again: false });
    expect(mapped).toBe('stale');
  });

  test('shows counted sizes or bounds; none for a view', async () => {
    expect((await ask<WireSizes>('tables/sizes', {})).sizes).toEqual({
      person: { count: 2, kind: 'exact' },
      staff_mst: { count: 60, kind: 'exact' },
      stay: { count: STAYS, kind: 'most' },
      ward: { count: 2, kind: 'exact' },
      weighing: { count: 2, kind: 'exact' },
    });
  });

  test('reads the schema again on request, and gives no bound of rows without numbers', async () => {
    const database = new DatabaseSync(file);
    database.exec(`CREATE TABLE LATER (ID INTEGER PRIMARY KEY) WITHOUT ROWID; INSERT INTO LATER SELECT ID FROM STAY`);
    const names = async (again: boolean) =>
      (await ask<WireTables>('tables', { unsaved: {}, again })).tables.map(({ name }) => name);
    expect(await names(false)).not.toContain('LATER');
    expect(await names(true)).toContain('LATER');
    expect((await ask<WireSizes>('tables/sizes', {})).sizes).not.toHaveProperty('later');
    database.exec('DROP TABLE LATER');
    database.close();
    await names(true);
  });
});

describe('one table', () => {
  test('has keys, indexes, foreign keys, and the places of the pack that read it', async () => {
    const found = await ask<WireDetail>('tables/one', one('weighing'));
    expect(found).toMatchObject({
      name: 'WEIGHING',
      key: ['NO'],
      mapped: 'current',
      rows: { count: 2, kind: 'exact' },
    });
    expect(found.indexes).toContainEqual({ name: 'WEIGHING_PERSON', columns: ['PERSON_ID'], unique: false });
    const uses = Object.fromEntries(found.columns.map(({ name, uses: of }) => [name, of]));
    expect(uses['KG']).toEqual([
      { mapping: 'weights', element: 'valueQuantity.value', place: { file: 'weighing.yaml', line: 10, column: 27 } },
    ]);
    expect(uses['PERSON_ID']).toMatchObject([{ mapping: 'weights', element: 'subject', place: { line: 8 } }]);
    expect(uses['NO']).toMatchObject([{ mapping: 'weights', place: { file: 'weighing.yaml', line: 1 } }]);
    const stay = await ask<WireDetail>('tables/one', one('stay'));
    expect(stay.foreignKeys).toEqual([{ columns: ['PERSON_ID'], table: 'person', theirs: ['ID'] }]);
    expect(stay.columns.every(({ uses: of }) => of.length === 0)).toBe(true);
    expect((await ask<WireDetail>('tables/one', one('person'))).referencedBy).toEqual([
      { columns: ['PERSON_ID'], table: 'stay', theirs: [] },
    ]);
  });

  test('that is missing is reported', async () => {
    const gone = await bench.post('tables/one', one('nowhere'));
    expect([gone.status, await gone.json()]).toEqual([404, { error: 'The database has no such table any more' }]);
  });
});

describe('a profile', () => {
  test('is marked as a sample, without names and denied columns', async () => {
    const found = await ask<WireProfile>('tables/profile', one('stay'));
    expect(found).toMatchObject({ read: 10_000, sample: 'from 20 places along ID', cut: false });
    const columns = Object.fromEntries(found.columns.map(column => [column.name, column]));
    expect(columns['SECRET']).toEqual({ name: 'SECRET', why: '`deny` of pack.yaml' });
    expect(columns['OUT_DT']?.profile).toMatchObject({
      forms: [{ what: 'yyyymmdd', rows: 10_000 }],
      impossible: [{ what: '02-30', rows: 2500 }],
      sentinels: [{ what: '99991231', rows: 2500 }],
    });
    expect(columns['STS']?.profile).toMatchObject({ blanks: expect.any(Number), distinct: { count: 2 } });
    expect(columns['STS']?.profile?.frequent?.map(({ what }) => what).sort()).toEqual(['A', 'X']);
    expect(columns['PNAME']?.profile?.forms).toEqual([{ what: 'ABC^ABC', rows: 10_000 }]);
    expect(JSON.stringify(found)).not.toMatch(/KOWALSKI|canary/);
  });

  test('of one column shows its values, of a denied column nothing', async () => {
    const { columns } = await ask<WireProfile>('tables/profile', one('stay', { column: 'PNAME' }));
    expect(columns).toMatchObject([
      { name: 'PNAME', profile: { frequent: [{ what: 'KOWALSKI^ANNA', rows: 10_000 }] } },
    ]);
    const denied = await ask<WireProfile>('tables/profile', one('stay', { column: 'SECRET' }));
    expect(denied.columns).toEqual([{ name: 'SECRET', why: '`deny` of pack.yaml' }]);
  });

  test('is refused if the deny rules cannot be read', async () => {
    const refused = await bench.post('tables/profile', {
      unsaved: { 'pack.yaml': 'deny: ["*.SECRET"' },
      table: 'stay',
    });
    expect([refused.status, await refused.json()]).toEqual([
      409,
      { error: 'pack.yaml cannot be read, so its deny rules are unknown: no row is read' },
    ]);
  });

  test('queries no denied column, and stops when it is left', async () => {
    const database = openSqlite(file);
    const catalog = await database.catalog();
    const info = catalog.tables.get('stay');
    if (!info) throw new Error('no table');
    const left = new AbortController();
    const plans: SqlPlan[] = [];
    const watched: typeof database = {
      ...database,
      query(plan, options) {
        plans.push(plan);
        if (plans.length === 4) left.abort();
        return database.query(plan, options);
      },
    };
    const isDenied = (_: unknown, { name }: { readonly name: string }): boolean => name === 'SECRET';
    const options = { rows: 1000, size: { count: STAYS, kind: 'most' }, milliseconds: 60_000 } as const;
    const showing = (column: { readonly name: string }) => (isDenied(undefined, column) ? 'never' : 'codes');
    const profile = profileTable(watched, { name: identifier('STAY') }, info, {
      ...options,
      signal: left.signal,
      showing,
    });
    await expect(profile).rejects.toMatchObject({ reason: 'cancelled' });
    expect(plans).toHaveLength(4);
    const looking = {
      milliseconds: 60_000,
      signal: new AbortController().signal,
      isDenied,
      declared: new Set<string>(),
    };
    await likelyKeys(watched, catalog, info, looking);
    expect(plans.length).toBeGreaterThan(6);
    expect(JSON.stringify(plans)).not.toContain('SECRET');
    await database.close();
  });

  test('ends after its time budget, with the rows read so far', async () => {
    const database = openSqlite(file);
    const info = (await database.catalog()).tables.get('stay');
    if (!info) throw new Error('no table');
    const found = await profileTable(database, { name: identifier('STAY') }, info, {
      ...{ rows: 10_000, size: undefined, milliseconds: 0, signal: new AbortController().signal },
      showing: () => 'codes',
    });
    expect(found).toMatchObject({ cut: true, read: 0, sample: 'until the time budget ended' });
    await database.close();
  });
});

test('undeclared keys are found by name, else by values', async () => {
  const { keys, cut } = await ask<WireLikelyKeys>('tables/likely', one('stay'));
  expect(cut).toBe(false);
  expect(keys).toEqual([
    { column: 'WARD', table: 'ward', theirs: 'CODE', by: 'name', sampled: 2, found: 2 },
    { column: 'ATT_STAFF_NO', table: 'staff_mst', theirs: 'STAFF_NO', by: 'name', sampled: 60, found: 60 },
    { column: 'SIGNED', table: 'staff_mst', theirs: 'STAFF_NO', by: 'values', sampled: 60, found: 60 },
  ]);
});

test('a written pack file is read for the next request', async () => {
  writeFileSync(
    join(clinic.pack, 'stay.yaml'),
    `mapping: stays
resource: Encounter
source: { table: STAY, as: s, key: [ID], where: { STS: A } }
id: "{ID}"
elements:
  status: finished
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB
  subject: { ref: people, on: { ID: PERSON_ID } }
`,
  );
  const { columns } = await ask<WireDetail>('tables/one', one('stay'));
  const uses = columns.find(({ name }) => name === 'STS')?.uses;
  expect(uses).toMatchObject([{ mapping: 'stays', place: { file: 'stay.yaml', line: 1 } }]);
  rmSync(join(clinic.pack, 'stay.yaml'));
});
