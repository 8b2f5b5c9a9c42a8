/** Rows with valid but unusual values: the check finds no fault in them, and compares them correctly. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from '../cli/lintel.ts';
import { smallClinic, WEIGHTS } from '../cli/small-clinic.ts';

const CODES = `sex:
  system: http://hl7.org/fhir/administrative-gender
  rows: { F: female, M: male }
kinds:
  table: KIND
  key: [CD]
  code: STD
  system: http://terminology.hl7.org/CodeSystem/observation-category
`;

/** The small clinic with further mappings and rows, checked completely. */
async function checked(files: Readonly<Record<string, string>>, rows: string): Promise<string> {
  const { environment } = smallClinic(files);
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(rows);
  database.close();
  return (await lintel(environment, 'check', '--all')).out;
}

test('codes with separators of searches in them', async () => {
  const weights = WEIGHTS.replace(
    'code: loinc#29463-7 Body weight',
    'code: { coding: [{ system: loinc, code: { from: CD } }] }',
  )
    .replace('status: final', 'status: final\n  identifier: [{ system: "urn:x", value: { from: CD } }]')
    .replace('unit: kg', 'unit: { from: CD }')
    .replace('elements:', 'needs: [code]\nelements:');
  const out = await checked(
    { 'weighing.yaml': weights },
    `ALTER TABLE WEIGHING ADD COLUMN CD VARCHAR(40) COLLATE RTRIM;
    UPDATE WEIGHING SET CD = 'a|b' WHERE NO = 7;
    UPDATE WEIGHING SET CD = 'c\\d$e,f|' WHERE NO = 8;
    INSERT INTO WEIGHING VALUES (9, 1, NULL, 60, '|a'), (10, 1, NULL, 60, 'a\\'), (11, 1, NULL, 60, '\\|'), (12, 1, NULL, 60, 'a')`,
  );
  expect(out).toMatch(/ 0 errors, \d+ warnings?$/);
});

test('numbers exactly a tenth away from each other', async () => {
  const out = await checked(
    {},
    'UPDATE WEIGHING SET KG = 6.4; INSERT INTO WEIGHING VALUES (9, 1, NULL, 7.04), (10, 1, NULL, 5.76), (11, 1, NULL, 18.1), (12, 1, NULL, 16.29)',
  );
  expect(out).toMatch(/ 0 errors, 0 warnings$/);
});

test('pieces whose alias is the name of a table', async () => {
  const weights = WEIGHTS.replace(
    'status: final',
    'status: final\n  category: [{ each: { split: KINDS, by: ";", as: kind }, item: { from: kind.piece, via: kinds } }]',
  );
  const out = await checked(
    { 'weighing.yaml': weights, 'codes.yaml': CODES },
    `CREATE TABLE KIND (CD VARCHAR(8) COLLATE RTRIM NOT NULL PRIMARY KEY, STD VARCHAR(20));
    INSERT INTO KIND VALUES ('A', 'vital-signs'), ('B', 'exam');
    ALTER TABLE WEIGHING ADD COLUMN KINDS VARCHAR(40);
    UPDATE WEIGHING SET KINDS = 'A;B'`,
  );
  expect(out).toMatch(/ 0 errors, 0 warnings$/);
});

test('texts, numbers and blanks in a column of bytes', async () => {
  const photos = `mapping: photos
resource: Media
source: { table: PHOTO, as: f, key: [NO] }
id: "{NO}"
compartment: { none: a test }
needs: [content]
elements:
  status: completed
  deviceName: { const: camera, if: { present: [FILE] } }
  content: { needs: [data], contentType: image/png, data: { from: FILE, via: base64 } }
`;
  const out = await checked(
    { 'photo.yaml': photos },
    `CREATE TABLE PHOTO (NO INTEGER NOT NULL PRIMARY KEY, FILE BLOB);
    INSERT INTO PHOTO VALUES (1, x'0102'), (2, 'abc'), (3, '  '), (4, ''), (5, 5), (6, NULL), (7, x''), (8, x'20'),
      (9, 9007199254740993);`,
  );
  expect(out).toMatch(/ 0 errors, \d+ warnings?$/);
});

test.each([
  ['DATETIME', "'2024-01-02 10:00:00'", 'sent: { from: VALUE }'],
  ['DATE', "'2024-01-02'", 'sent: { from: VALUE, via: date }'],
  ['TIME', "'10:00:00'", 'sent: { from: [DAY, VALUE], via: { date-and-time: { date: date, time: time } } }'],
  ['UNIQUEIDENTIFIER', "'0F8FAD5B-D9CB-469F-A165-70867728950E'", 'identifier: [{ value: { from: VALUE } }]'],
  ['INTEGER', '7', 'identifier: [{ value: { from: VALUE } }]'],
  ['BIGINT', '7', 'identifier: [{ value: { from: VALUE } }]'],
  ['DECIMAL(8,2)', '7.5', 'identifier: [{ value: { from: VALUE } }]'],
  ['VARCHAR(40)', "'a'", 'identifier: [{ value: { from: VALUE } }]'],
])('an integer that JavaScript cannot hold, in a column declared %s', async (declared, sound, element) => {
  const notes = `mapping: notes
resource: Communication
source: { table: NOTE, as: n, key: [NO] }
id: "{NO}"
compartment: { none: a test }
elements:
  status: completed
  ${element}
`;
  const out = await checked(
    { 'note.yaml': notes },
    `CREATE TABLE NOTE (NO INTEGER NOT NULL PRIMARY KEY, DAY DATE, VALUE ${declared});
    INSERT INTO NOTE VALUES (1, '2024-01-02', ${sound}), (2, NULL, 'N/A'),
      (3, '2024-01-02', 9007199254740993), (4, NULL, NULL);`,
  );
  expect(out).toMatch(/ 0 errors, \d+ warnings?$/);
});
