/**
 * Telephone numbers are found by their digits, in any stored form and any searched form. The cases are those of
 * docs/ccds-documents.md.
 */
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openFixture } from '../engines/fixture.ts';
import { type Demo, demoOver } from '../law/demo.ts';
import { type Client, restUnderTest } from './rest-under-test.ts';

/** Number of a patient → their home telephone, as stored. */
const KEPT: Readonly<Record<number, string>> = {
  1: '207 - 5550188',
  2: '+1 207 555 0188 x12',
  3: '1.207.555.0188',
  4: '(H)2075550188 call pm',
  5: '555-0188',
  6: '207 555 01889',
  8: '+44 20 7946 0188',
  9: '+998 1234 5678 9012',
  10: '+998 1234 5678 9012 3',
  12: '2 0 7-5 5 5 0 1 8 8',
  13: '207_555_0188#7',
  14: '0118 207 555 0188',
};

let demo: Demo;
let client: Client;
beforeAll(async () => {
  const { database, close } = await openFixture(14, async file => {
    const written = new DatabaseSync(file);
    written.exec("UPDATE PT_MST SET HM_PH = NULL, WK_PH = NULL, CELL_PH = 'N/A'");
    const keep = written.prepare('UPDATE PT_MST SET HM_PH = ? WHERE PT_NO = ?');
    for (const [patient, number] of Object.entries(KEPT)) keep.run(number, Number(patient));
    written.close();
  });
  demo = { ...(await demoOver(database)), close };
  client = await (await restUnderTest(demo.facade)).client();
});
afterAll(() => demo.close());

const found = async (search: string): Promise<readonly number[]> => {
  const { status, body } = await client.json(`/api/patientsummary?${new URLSearchParams({ search })}`);
  expect(status).toBe(200);
  return (body as { patients: { patientId: number }[] }).patients
    .map(({ patientId }) => patientId)
    .toSorted((a, b) => a - b);
};

/** Patients with the number 207 555 0188, with or without the country code and an extension. */
const THE_NUMBER = [1, 2, 3, 4, 12, 13];

describe('a telephone number is found by its digits', () => {
  test.each<[asked: string, patients: readonly number[]]>([
    ['2075550188', THE_NUMBER],
    ['207-555-0188', THE_NUMBER],
    ['(207) 555-0188', THE_NUMBER],
    ['207 - 5550188', THE_NUMBER],
    ['207/555.0188', THE_NUMBER],
    ['12075550188', THE_NUMBER],
    ['+1 207 555 0188', THE_NUMBER],
    ['1-207-555-0188', THE_NUMBER],
    ['+1 (207) 555–0188', THE_NUMBER],
    ['tel:+1-207-555-0188', THE_NUMBER],
    ['Tel. 207 555 0188', THE_NUMBER],
    // A searched extension must match.
    ['207 555 0188 x12', [2]],
    ['+1 207 555 0188 ext. 12', [2]],
    ['207-555-0188 #7', [13]],
    ['207-555-0188 x99', []],
    // Without an area code, the number matches in any area.
    ['555-0188', [1, 3, 4, 5, 12, 14]],
    ['5550188', [1, 3, 4, 5, 12, 14]],
    // Another country code makes another number.
    ['+44 20 7946 0188', [8]],
    ['442079460188', [8]],
    ['20 7946 0188', []],
    // The longest valid numbers have 15 digits.
    ['+998 1234 5678 9012', [9]],
    ['+998 1234 5678 9012 3', []],
    // One digit more or less makes another number.
    ['207 555 0189', []],
    ['207 555 018', []],
    ['207 555 01889', [6]],
    ['207 555', []],
    ['0000000000', []],
  ])('%s', async (asked, patients) => {
    expect(await found(asked)).toEqual(patients);
  });
});
