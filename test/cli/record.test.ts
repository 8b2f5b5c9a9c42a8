/** `lintel test --record`: its output, its files and its exit codes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { formOf } from '../../src/profile/form.ts';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

test('prints a test with invented values, and writes nothing', async () => {
  const { environment, pack } = smallClinic();
  const { code, out, notes } = await lintel(environment, 'test', '--record', 'weights', '7');
  expect(code).toBe(0);
  expect(notes).toBe('Not written; --write appends it to weighing.test.yaml');
  expect(out).toContain('mapping: weights\nrows:\n  WEIGHING:\n');
  expect(out).toMatch(/TAKEN: "20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.000", KG: "\d\d\.\d"/);
  expect(out).not.toMatch(/2024-03-10|61\.5/);
  expect(existsSync(join(pack, 'weighing.test.yaml'))).toBe(false);
});

test('--write appends the test to the file, and the test passes', async () => {
  const { environment, pack } = smallClinic();
  const file = join(pack, 'person.test.yaml');
  const there = '# Mine.\nmapping: people\nrows: { PERSON: [{ ID: 1, SEX: F }] }\nresource: { gender: female }\n';
  writeFileSync(file, there);
  expect(await lintel(environment, 'test', '--record', 'people', '1', '--write')).toMatchObject({
    code: 0,
    notes: 'person.test.yaml has the test',
  });
  const text = readFileSync(file, 'utf8');
  expect(text.startsWith(`${there}---\n`)).toBe(true);
  expect(text).not.toMatch(/kowalski|1970/i);
  expect(text).toContain('SEX: "F"');
  expect(text).toContain('"gender": "female"');
  expect(await lintel(environment, 'test', pack)).toMatchObject({ code: 0, out: '2 tests, 0 failed' });
});

test('--json', async () => {
  const { environment } = smallClinic();
  const { code, out } = await lintel(environment, 'test', '--record', 'people', '2', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    ...{ file: 'person.test.yaml', leftOut: [], notMade: [], written: false },
    test: expect.stringContaining('mapping: people') as unknown,
  });
});

test('rows that cannot be recorded', async () => {
  const { environment } = smallClinic();
  const fails = async (...args: string[]): Promise<readonly [number, string]> => {
    const { code, notes } = await lintel(environment, 'test', ...args);
    return [code, notes];
  };
  expect(await fails('--record', 'people', '9')).toEqual([1, 'No row of PERSON has this key']);
  expect(await fails('--record', 'persons', '1')).toEqual([
    2,
    'MAPPING: the pack small has no such mapping; expected one of people, weights; found persons\nlintel test --help explains it.',
  ]);
  expect(await fails('--record', 'people')).toEqual([
    2,
    '--record needs the KEY of a row\nlintel test --help explains it.',
  ]);
  expect(await fails('--record', 'people', '1', '--locked')).toEqual([
    2,
    '--record does not go with --locked\nlintel test --help explains it.',
  ]);
  expect((await fails('--write'))[0]).toBe(2);
});

test.each([
  ['14/03/2024 08:30', 'dd/mm/yyyy hh:mm'],
  ['10/03/2024 08:30:15', 'dd/mm/yyyy hh:mm:ss'],
  ['10.03.2024 08:30', 'dd.mm.yyyy hh:mm'],
  ['31-12-2023', 'dd-mm-yyyy'],
  ['14/03/24 08:30', 'dd/mm/yy hh:mm'],
  ['94-03-14 08:30', 'yy-mm-dd hh:mm'],
])('a text such as %s, on which SQL depends, is replaced by another of its form', async (stored, form) => {
  const sql = "substr({TAKEN},7,4)||'-'||substr({TAKEN},4,2)||'-'||substr({TAKEN},1,2)||substr({TAKEN},11)";
  const clinic = smallClinic({
    'weighing.yaml': `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  subject: { ref: people, on: { ID: PERSON_ID } }
  effectiveDateTime: { sql: "${sql}", type: datetime }
  issued: { sql: "'2024-03-10 ' || {T}", type: datetime }
`,
  });
  const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  database.exec(`DROP TABLE WEIGHING;
    CREATE TABLE WEIGHING (NO INTEGER PRIMARY KEY, PERSON_ID INTEGER NOT NULL, TAKEN VARCHAR(19), T VARCHAR(8));
    INSERT INTO WEIGHING VALUES (7, 1, '${stored}', '08:31')`);
  database.close();
  const { code, out } = await lintel(clinic.environment, 'test', '--record', 'weights', '7', '--json');
  expect(code).toBe(0);
  const { test: text, notMade } = JSON.parse(out) as { test: string; notMade: string[] };
  expect(notMade).toEqual([]);
  const taken = /TAKEN: "([^"]*)", T: "(?:\d\d):(?:\d\d)"/.exec(text)?.[1] ?? '';
  expect(formOf(taken).replace(/ or \S+/, '')).toBe(form);
  expect(taken).not.toBe(stored);
});

test.each([
  ['INTEGER', '{ days: { since: 1970-01-01 } }', ['5432', '2345', '9998', '-5432', '0'], ['90000']],
  ['INTEGER', 'ymd8', ['19540317'], ['99991231', '0']],
  ['VARCHAR(10)', 'ymd8', ['5551', '-5551'], ['9999', '99999999']],
  ['VARCHAR(10)', '[{ written: YYYY-MM-DD }, ymd8]', ['1954-03-17'], ['9999-12-31', '0000-00-00']],
])(
  'in %s via %s a real date is replaced, and a date that means "no value" stays',
  async (declared, via, days, none) => {
    const clinic = smallClinic({
      'weighing.yaml': `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
compartment: { none: its days alone are looked at }
elements:
  status: final
  code: loinc#29463-7 Body weight
  effectiveDateTime: { from: TAKEN, via: ${via} }
`,
    });
    const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
    database.exec(`DROP TABLE WEIGHING; CREATE TABLE WEIGHING (NO INTEGER PRIMARY KEY, TAKEN ${declared})`);
    const insert = database.prepare('INSERT INTO WEIGHING VALUES (?, ?)');
    const stored = [...days, ...none];
    for (const [i, text] of stored.entries()) insert.run(i + 1, declared === 'INTEGER' ? Number(text) : text);
    database.close();
    for (const [i, text] of stored.entries()) {
      const { code, out } = await lintel(clinic.environment, 'test', '--record', 'weights', `${i + 1}`);
      expect(code).toBe(0);
      const written = /TAKEN: "([^"]*)"/.exec(out)?.[1];
      if (none.includes(text)) expect(written).toBe(text);
      else expect(written).not.toBe(text);
    }
  },
);

test('time stamps of HL7 v2 are moved, and keep their precision and their zone', async () => {
  const stored =
    '1954 195403 19540317 19540317-0500 1954031708 202403100830 202403100830-0500 20240310083005.12+0000'.split(' ');
  const clinic = smallClinic({
    'weighing.yaml': `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
compartment: { none: its days alone are looked at }
elements:
  status: final
  code: loinc#29463-7 Body weight
  effectiveDateTime: { from: TAKEN, via: dtm }
`,
  });
  const database = new DatabaseSync(join(clinic.folder, 'clinic.sqlite'));
  database.exec('DROP TABLE WEIGHING; CREATE TABLE WEIGHING (NO INTEGER PRIMARY KEY, TAKEN VARCHAR(26))');
  const insert = database.prepare('INSERT INTO WEIGHING VALUES (?, ?)');
  for (const [i, text] of stored.entries()) insert.run(i + 1, text);
  database.close();
  for (const [i, text] of stored.entries()) {
    const { out } = await lintel(clinic.environment, 'test', '--record', 'weights', `${i + 1}`);
    const written = /TAKEN: "([^"]*)"/.exec(out)?.[1] ?? '';
    expect(written, text).not.toBe(text);
    expect(written.replace(/[+-].*/, '').replace(/\d/g, '9'), text).toBe(
      text.replace(/[+-].*/, '').replace(/\d/g, '9'),
    );
    expect(/[+-].*/.exec(written)?.[0], text).toBe(/[+-].*/.exec(text)?.[0]);
  }
});

test('a number that is printed with an exponent stays a number', async () => {
  const { environment } = smallClinic();
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec('UPDATE WEIGHING SET KG = 4.25e-7 WHERE NO = 7');
  database.close();
  const { code, out } = await lintel(environment, 'test', '--record', 'weights', '7');
  expect(code).toBe(0);
  expect(out).toMatch(/KG: "0\.\d{6,9}"/);
});
