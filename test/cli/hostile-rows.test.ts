/** Values of rows that contain escape sequences and line ends: no command passes them on to a terminal. */
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

const HOSTILE = ['\u001b]0;title\u0007', '\u001b[2J\r\n::error file=a::forged', '\u009b31m\u007f', '\u202etxt.exe'];

function hostileClinic(): Readonly<Record<string, string>> {
  const { environment } = smallClinic({
    'codes.yaml': 'sex:\n  system: http://hl7.org/fhir/administrative-gender\n  rows: { F: female }\n',
  });
  const database = new DatabaseSync((environment['DATABASE_URL'] ?? '').replace('sqlite:', ''));
  const add = database.prepare('INSERT INTO PERSON VALUES (?, ?, NULL, ?)');
  for (const [i, value] of HOSTILE.entries()) add.run(100 + i, value, value);
  database.exec('CREATE TABLE "A\u001b[31m\nB" ("C\u009b2J" TEXT PRIMARY KEY)');
  database.close();
  return environment;
}

/** Everything but line ends and tabs, which the output itself has. */
const ACTED_ON = /(?![\n\t])[\p{Cc}\u2028-\u202e\u2066-\u2069]|^::error/mu;

test.each([
  ['codes', 'unmapped', '--values'],
  ['codes', 'unmapped', '--values', '--json'],
  ['codes', 'suggest', '--values'],
  ['check', '--values', '--rows'],
  ['check', '--values', '--json'],
  ['check', '--values', '--sarif'],
  ['check', '--values', '--junit'],
  ['preview', 'people', '100', '--values'],
  ['preview', 'people', '101', '--values'],
  ['preview', 'people', '102', '--values', '--json'],
  ['profile'],
  ['profile', 'A\u001b[31m\nB'],
  ['profile', 'no\u001b[31m'],
  ['explain', 'Patient?family=\u001b[31m', '--mapping', 'people'],
])('lintel %s %s %s %s', async (...argv) => {
  const { out, notes } = await lintel(hostileClinic(), ...argv);
  expect(`${out}\n${notes}`).not.toMatch(ACTED_ON);
  expect(`${out}\n${notes}`.length).toBeGreaterThan(20);
});

test('a list for a program has the values exactly', async () => {
  const { out } = await lintel(hostileClinic(), 'codes', 'unmapped', '--values', '--csv');
  for (const value of HOSTILE) expect(out).toContain(value);
});
