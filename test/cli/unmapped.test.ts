import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { PEOPLE, smallClinic, WEIGHTS } from './small-clinic.ts';

/** A clinic whose code map has F only, with rows of M, X and a formula. */
function withOthers(files: Readonly<Record<string, string>> = {}, command = ['codes', 'unmapped']) {
  const clinic = smallClinic({
    'codes.yaml': 'sex:\n  system: http://hl7.org/fhir/administrative-gender\n  rows: { F: female }\n',
    ...files,
  });
  const database = new DatabaseSync((clinic.environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(
    `INSERT INTO PERSON VALUES (3, 'A', NULL, 'X'), (4, 'B', NULL, 'M'), (5, 'C', NULL, '='), (6, 'D', NULL, NULL)`,
  );
  database.close();
  return (...more: string[]) => lintel(clinic.environment, ...command, ...more);
}

test('values that a code map lacks are listed by number of rows, without blanks and NULL', async () => {
  const run = withOthers();
  const { code, out } = await run();
  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'sex: 3 values of PERSON.SEX in 4 rows  (person.yaml:7:11)',
    '  M  2',
    '  =  1',
    '  X  1',
  ]);
  expect((await run('--csv')).out.split('\n')).toEqual([
    'raw,code,display,system,map,table,column,rows',
    'M,,,,sex,PERSON,SEX,2',
    '=,,,,sex,PERSON,SEX,1',
    'X,,,,sex,PERSON,SEX,1',
  ]);
  const { columns } = JSON.parse((await run('--json')).out);
  expect(columns).toEqual([
    expect.objectContaining({
      map: 'sex',
      table: 'PERSON',
      total: { values: 3, rows: 4 },
      place: { file: 'person.yaml', line: 7, column: 11 },
    }),
  ]);
  expect((await run('--name', 'other')).out).toBe('Every value that a code map reads has a row.');
});

test('values that fall back to `else` are listed and marked', async () => {
  const files = {
    'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  gender: { from: SEX, via: sex, else: unknown }
`,
  };
  expect((await withOthers(files)()).out.split('\n').slice(0, 2)).toEqual([
    'sex: 3 values of PERSON.SEX in 4 rows; an else stands in for them  (person.yaml:6:11)',
    '  M  2',
  ]);
});

test('values that fall back to the `else` of the map are reported, also by check', async () => {
  const codes = (rest: string): string =>
    `sex:\n  system: http://hl7.org/fhir/administrative-gender\n  else: ${rest}\n  rows: { F: female }\n`;
  const person = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  maritalStatus: { from: SEX, via: sex }
`;
  const counted = '3 values of PERSON.SEX in 4 rows; the else of the map makes them';
  const local = { 'codes.yaml': codes('{ system: http://here.example/sex }'), 'person.yaml': person };
  const run = withOthers(local);
  expect((await run()).out.split('\n').slice(0, 2)).toEqual([
    `sex: ${counted} local codes of http://here.example/sex  (person.yaml:6:18)`,
    '  M  2',
  ]);
  expect(JSON.parse((await run('--json')).out).columns).toMatchObject([
    { ownElse: 'local codes of http://here.example/sex' },
  ]);
  expect((await withOthers(local, ['check'])()).out).toContain(
    'code map sex has no row for 3 values of SEX in 4 rows; its else makes them local codes of http://here.example/sex',
  );
  const texts = withOthers({ 'codes.yaml': codes('text'), 'person.yaml': person });
  expect((await texts()).out).toContain(`${counted} text alone  (`);
});

test('a column with codes inside longer texts is counted; only --values lists its values', async () => {
  const run = withOthers({
    'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  gender: { from: SURNAME, via: [ { piece: { by: "^", at: 1 } }, sex ] }
`,
  });
  const { out } = await run();
  expect(out).toContain('values of PERSON.SURNAME in 6 rows');
  expect(out).toContain('not listed: the column holds more than a code; --values lists them');
  for (const shown of [out, (await run('--json')).out, (await run('--csv')).out])
    expect(shown).not.toContain('Kowalski');
  expect((await run('--values')).out).toContain('Kowalski  1');
});

test('an unexpected argument ends with exit code 2', async () => {
  const run = withOthers();
  expect((await run('x.csv')).code).toBe(2);
});

test('a code of a lookup is reported by its table', async () => {
  const files = {
    'person.yaml': PEOPLE.replace('  gender: { from: SEX, via: sex }\n', ''),
    'weighing.yaml': WEIGHTS.replace(
      'key: [NO] }',
      'key: [NO], lookup: { o: { table: PERSON, on: { ID: PERSON_ID } } } }',
    ).replace('status: final', 'status: final\n  interpretation: [{ from: o.SEX, via: sex }]'),
    'codes.yaml': 'sex:\n  system: http://example.org/sex\n  rows: { M: male }\n',
  };
  expect((await withOthers(files)()).out.split('\n')[0]).toMatch(/^sex: 1 value of PERSON\.SEX in 2 rows/);
});
