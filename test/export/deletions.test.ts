import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { writeFixture } from '../fixtures/built.ts';
import { clinic, contents, finished, kickOff, type Manifest, served } from './exporting.ts';

const SINCE = '_since=2025-01-01T00:00:00Z';

interface Deletions {
  readonly type: string;
  readonly entry: readonly { readonly request: { readonly method: string; readonly url: string } }[];
}

/** The URLs in the files of deletions, in order; each line is a transaction that consists of DELETEs. */
async function deletedIn({ deleted }: Manifest): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { type, url, count } of deleted) {
    const response = await fetch(url);
    expect([type, response.headers.get('content-type')]).toEqual(['Bundle', 'application/fhir+ndjson']);
    const lines = (await response.text()).trimEnd().split('\n');
    expect(lines).toHaveLength(count);
    for (const line of lines) {
      const bundle = JSON.parse(line) as Deletions;
      expect(bundle.type).toBe('transaction');
      for (const { request } of bundle.entry) {
        expect(request.method).toBe('DELETE');
        found.push(request.url);
      }
    }
  }
  return found.toSorted();
}

/**
 * Weighings 3 (of person 3), 4 (of person 4) and 23 (of person 3) are deleted, the last one long ago; person 5 has
 * left.
 */
function withDeletions(): ReturnType<typeof clinic> {
  const where = clinic(20, 3);
  where.change(`UPDATE WEIGHING SET GONE = 'Y', UPD = '2025-06-01 10:00:00.000' WHERE NO IN (3, 4);
    UPDATE WEIGHING SET GONE = 'Y' WHERE NO = 23;
    UPDATE WEIGHING SET GONE = 'N', UPD = '2025-06-01 10:00:00.000' WHERE NO = 24;
    INSERT INTO LEFT_FOR_GOOD VALUES (5, '2025-06-01 10:00:00.000'), (6, '2023-06-01 10:00:00.000');`);
  return where;
}

test('resources deleted since an instant are listed, others are not', async () => {
  const { fhir } = await served(withDeletions());
  const all = await finished(await kickOff(`${fhir}/$export?_type=Observation,Patient&${SINCE}`));
  expect(await deletedIn(all)).toEqual(['Observation/w-3', 'Observation/w-4', 'Patient/5']);
  expect(await contents(all)).toEqual(['Observation/w-24']);
  expect(all.error).toEqual([]);
  const until = await finished(await kickOff(`${fhir}/$export?_type=Observation&${SINCE}&_until=2025-05-01T00:00:00Z`));
  expect(until.deleted).toEqual([]);
  const whole = await finished(await kickOff(`${fhir}/$export?_type=Observation,Patient`));
  expect(whole.deleted).toEqual([]);
  const found = await contents(whole);
  for (const gone of ['Observation/w-3', 'Observation/w-23', 'Patient/5', 'Patient/6'])
    expect(found).not.toContain(gone);
});

test('the export of a group lists deletions of its members only', async () => {
  const { fhir } = await served(withDeletions());
  const manifest = await finished(await kickOff(`${fhir}/Group/g-1/$export?_type=Observation&${SINCE}`));
  expect(await deletedIn(manifest)).toEqual(['Observation/w-3']);
  const one = await finished(await kickOff(`${fhir}/Patient/$export?_type=Observation&patient=Patient/4&${SINCE}`));
  expect(await deletedIn(one)).toEqual(['Observation/w-4']);
});

test('types without recorded deletions are named in the error file', async () => {
  const { fhir } = await served(withDeletions());
  const manifest = await finished(
    await kickOff(`${fhir}/$export?_type=Observation,Device&_since=2025-01-01T00:00:00Z`),
  );
  const texts = await Promise.all(manifest.error.map(async ({ url }) => (await fetch(url)).text()));
  expect(texts.join('')).toContain('the mappings do not say which records of these types were deleted: Device');
});

test('an undeleted row is exported as a resource again, not as a deletion', async () => {
  const where = withDeletions();
  const { fhir } = await served(where);
  where.change("UPDATE WEIGHING SET GONE = NULL, UPD = '2025-07-01 10:00:00.000' WHERE NO = 3");
  const manifest = await finished(await kickOff(`${fhir}/$export?_type=Observation&${SINCE}`));
  expect(await deletedIn(manifest)).toEqual(['Observation/w-4']);
  expect(await contents(manifest)).toContain('Observation/w-3');
});

/** The ids that a statement on the demo's tables returns, as references to a type. */
function ids(database: DatabaseSync, type: string, sql: string): readonly string[] {
  return database
    .prepare(sql)
    .all()
    .map(row => `${type}/${Object.values(row)[0]}`);
}

test('deletions of the demo are listed from every kind of mark, filtered by patient', async () => {
  const { folder } = clinic(1, 1);
  const file = join(folder, 'fixture.sqlite');
  writeFixture(14, file);
  const { fhir } = await served({ environment: { DATABASE_URL: `sqlite:${file}`, DATA_DIR: folder, PORT: '0' } });
  const types = '_type=Patient,AllergyIntolerance,Encounter';
  const path = `Patient/$export?patient=Patient/12&${types},Procedure&_since=1990-01-01T00:00:00Z`;
  const ofOne = await deletedIn(await finished(await kickOff(`${fhir}/${path}`)));
  const database = new DatabaseSync(file, { readOnly: true });
  const voided = (table: string, key: string): string =>
    `SELECT ${key} FROM ${table} JOIN REC_VOID ON TBL_NM = '${table}' AND REC_KEY = ${key}`;
  expect(ofOne).toEqual(
    [
      ...ids(database, 'AllergyIntolerance', "SELECT ALG_ID FROM ALLRGY WHERE DEL_FL = 'Y' AND PT_NO = 12"),
      ...ids(database, 'Encounter', `${voided('ENC_HDR', 'ENC_NO')} WHERE PT_NO = 12`),
      ...ids(database, 'Procedure', `${voided('PROC_HX', 'PRC_ID')} WHERE PT_NO = 12`),
    ].toSorted(),
  );
  expect(ofOne).toHaveLength(3);
  const all = await deletedIn(await finished(await kickOff(`${fhir}/$export?${types}&_since=1990-01-01T00:00:00Z`)));
  const encounters = ids(database, 'Encounter', voided('ENC_HDR', 'ENC_NO'));
  expect(all.filter(one => one.startsWith('Encounter/'))).toEqual(encounters.toSorted());
  expect(all).toContain('Patient/11');
  database.close();
  for (const one of ofOne) expect((await fetch(`${fhir}/${one}`)).status).toBe(404);
});
