import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

/** A clinic whose code map has F only, with rows of M, MALE, X and a value with a comma. */
function withOthers() {
  const clinic = smallClinic({
    'codes.yaml': 'sex:\n  system: http://hl7.org/fhir/administrative-gender\n  rows: { F: female }\n',
  });
  const database = new DatabaseSync((clinic.environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(
    `INSERT INTO PERSON VALUES (3, 'A', NULL, 'OTHR'), (4, 'B', NULL, 'M'), (5, 'C', NULL, 'f'), (6, 'D', NULL, '+,')`,
  );
  database.close();
  return { ...clinic, run: (...more: string[]) => lintel(clinic.environment, 'codes', ...more) };
}

test('each value that no code map knows has suggestions with a score and a reason', async () => {
  const { run } = withOthers();
  const { code, out } = await run('suggest');
  expect(code).toBe(0);
  const system = 'http://hl7.org/fhir/administrative-gender';
  expect(out).toContain(`  M  2 rows\n    0.85  male of ${system}: it usually means this code`);
  expect(out).toContain(`  f  1 row\n    0.97  female of ${system}: code map sex has the same letters`);
  expect(out).toMatch(/ {2}OTHR {2}1 row\n {4}0\.\d\d {2}other of /);
  expect(out).toContain('  +,  1 row; no suggestion');
  const { columns } = JSON.parse((await run('suggest', '--json')).out);
  expect(columns[0]).toMatchObject({
    map: 'sex',
    values: [{ value: 'M', rows: 2, suggestions: [{ code: 'male', system, display: null, score: 0.85 }] }, {}, {}, {}],
  });
  expect((await run('suggest', '--least', '0.9')).out).toContain('  M  2 rows; no suggestion');
  expect((await run('suggest', '--least', 'much')).code).toBe(2);
});

test('`codes import` accepts the reviewed CSV of one map', async () => {
  const { run, folder } = withOthers();
  const { out } = await run('suggest', '--csv', '--name', 'sex');
  const [head, ...rows] = out.split('\n');
  expect(head).toBe('raw,code,display,system,score,reason,others,map,table,column,rows');
  expect(rows).toContain('"+,",,,,,,,sex,PERSON,SEX,1');
  const reviewed = join(folder, 'sex.csv');
  writeFileSync(reviewed, `${out}\n`);
  // A value without a code is left to a person, and the import refuses it until then.
  expect(await run('import', reviewed)).toMatchObject({ code: 1 });
  writeFileSync(reviewed, `${[head, ...rows.filter(row => !row.startsWith('"+'))].join('\n')}\n`);
  expect(await run('import', reviewed, '--write')).toMatchObject({ code: 0 });
  expect((await run('unmapped')).out).toContain('1 value of PERSON.SEX');
});

test('where the database has a list of the codes, its texts count and not the numbers', async () => {
  const { run, environment } = withOthers();
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  database.exec(`DELETE FROM PERSON; INSERT INTO PERSON VALUES (3, 'A', NULL, '1'), (4, 'B', NULL, '2'), (5, 'C', NULL, '4.2');
    CREATE TABLE ZC_SEX (RCPT_SEX_C VARCHAR(4) PRIMARY KEY, NAME VARCHAR(20), ABBR VARCHAR(4));
    INSERT INTO ZC_SEX VALUES ('1', 'Female', 'F'), ('2', 'Male', 'M'), ('4.2', 'Neither', 'X');`);
  database.close();
  const { out } = await run('suggest');
  const system = 'http://hl7.org/fhir/administrative-gender';
  expect(out).toContain(`  1  "Female"  1 row\n    1.00  female of ${system}: ZC_SEX has "Female": it is the code`);
  expect(out).toContain('  4.2  "Neither"  1 row; no suggestion');
  expect(out).not.toContain('usually means');
  const { columns } = JSON.parse((await run('suggest', '--json')).out);
  expect(columns[0].values.map(({ text }: { text: string }) => text)).toEqual(['Female', 'Male', 'Neither']);
});
