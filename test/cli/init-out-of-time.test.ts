/**
 * `lintel init` when the time for reading rows ends in the middle, on SQLite. The end is that of a signal which the
 * test itself aborts, so no clock decides it.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { type Candidates, withEvidence } from '../../src/workbench/init/evidence.ts';
import { namesIn, proposalsFor } from '../../src/workbench/init/propose.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const TABLES = `
  CREATE TABLE PATIENT (PID INTEGER PRIMARY KEY, LNAME VARCHAR(40), FNAME VARCHAR(40), DOB VARCHAR(10), SEX CHAR(1));
  CREATE TABLE ENCOUNTER (NO INTEGER PRIMARY KEY, PATIENT_ID INTEGER, START_DATE VARCHAR(10), STATUS CHAR(1));
  CREATE TABLE ALLERGY (NO INTEGER PRIMARY KEY, PATIENT_ID INTEGER, ALLERGEN VARCHAR(40), ONSET_DATE VARCHAR(10));
  INSERT INTO PATIENT VALUES (1, 'Quxa', 'Quxb', '14/03/1970', 'F'), (2, 'Quxc', 'Quxd', '25/04/1980', 'M');
  INSERT INTO ENCOUNTER VALUES (11, 1, '2024-03-14', 'F'), (12, 2, '2024-03-15', 'F');
  INSERT INTO ALLERGY VALUES (21, 1, 'Nuts', '2020-01-02'), (22, 2, 'Milk', '2020-01-03');`;

/**
 * Candidates when the time ends after the rows of so many were read, or as the database is asked for the `question`th
 * time.
 */
async function endedAfter(most: number, question = Number.POSITIVE_INFINITY): Promise<Candidates> {
  const file = join(temporaryFolder(), 'some.sqlite');
  const made = new DatabaseSync(file);
  made.exec(TABLES);
  made.close();
  const database = openSqlite(file);
  try {
    const catalog = await database.catalog();
    const names = namesIn(catalog, (await database.survey?.(catalog)) ?? new Map());
    const time = new AbortController();
    if (most === 0) time.abort();
    let asked = 0;
    const ending: typeof database = {
      ...database,
      query(plan, how) {
        if (++asked === question) time.abort();
        return database.query(plan, how);
      },
    };
    return await withEvidence(ending, proposalsFor(names), names, time.signal, done => {
      if (done === most) time.abort();
    });
  } finally {
    await database.close();
  }
}

/** Tables of the candidates, and whether rows of them were read. */
function read({ proposals }: Candidates): Readonly<Record<string, boolean>> {
  return Object.fromEntries(
    proposals.map(({ table, elements }) => [table, elements.some(({ seen }) => seen !== undefined)]),
  );
}

test('candidates that the time did not suffice for are scored by their names', async () => {
  expect(read(await endedAfter(1))).toEqual({ PATIENT: true, ENCOUNTER: false, ALLERGY: false });
  expect(read(await endedAfter(0))).toEqual({ PATIENT: false, ENCOUNTER: false, ALLERGY: false });
});

test('a statement that the time ends leaves its candidate unread, and the candidates before it read', async () => {
  const wereRead: string[][] = [];
  for (const question of [1, 2, 3]) {
    const tables = Object.entries(read(await endedAfter(Number.POSITIVE_INFINITY, question)));
    expect(tables).toHaveLength(3);
    wereRead.push(tables.flatMap(([table, isRead]) => (isRead ? [table] : [])));
  }
  expect(wereRead).toEqual([[], ['PATIENT'], ['PATIENT', 'ENCOUNTER']]);
});

test('with time for all of them the rows of each are read', async () => {
  expect(read(await endedAfter(Number.POSITIVE_INFINITY))).toEqual({ PATIENT: true, ENCOUNTER: true, ALLERGY: true });
});
