import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

const BROKEN = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAM } } ]
  gendre: { from: SEX, via: sex }
  birthDate: { from: BORN }
`;

test('a sound pack has a summary and exit code 0', async () => {
  const { pack, environment } = smallClinic();
  const { code, out } = await lintel(environment, 'check', pack);
  expect(out).toBe('small: 2 mappings of 2 types; 0 errors, 0 warnings');
  expect(code).toBe(0);
});

test('every problem is told at once, with its place and the nearest right spelling, and the exit code is 1', async () => {
  const { environment } = smallClinic({ 'person.yaml': BROKEN });
  const { code, out } = await lintel(environment, 'check');
  expect(out).toMatch(/^person\.yaml:6:\d+: .*SURNAM.*did you mean SURNAME\?/m);
  expect(out).toMatch(/^person\.yaml:7:\d+: .*did you mean gender\?/m);
  expect(out).toMatch(/^\d+ errors, \d+ warnings?$/m);
  expect(code).toBe(1);
});

test('--parameters tells what can be searched, how, and what cannot', async () => {
  const { environment } = smallClinic();
  const { out } = await lintel(environment, 'check', '--parameters');
  const lines = out.split('\n');
  const of = (type: string, offset: number) => lines[lines.indexOf(type) + offset];
  expect(of('Patient', 1)).toMatch(/^ {2}offered .*\bgender\b/);
  expect(of('Patient', 3)).toMatch(/^ {2}none .*\baddress-city\b/);
  expect(of('Observation', 1)).toMatch(/\bpatient\b/);
});

test('a locked pack is checked without a database, and the lock holds only the tables that are used', async () => {
  const { pack, environment } = smallClinic();
  expect((await lintel({ MAPPINGS: pack }, 'check', '--locked')).code).toBe(1);
  expect((await lintel(environment, 'lock')).code).toBe(0);
  const checked = await lintel({ MAPPINGS: pack }, 'check', '--locked');
  expect(checked.out).toBe('small: 2 mappings of 2 types; 0 errors, 0 warnings');
  const lock = JSON.parse(readFileSync(join(pack, 'schema.lock.json'), 'utf8'));
  expect(Object.keys(lock.tables)).toEqual(['PERSON', 'WEIGHING']);
});

test('a pack with errors is not locked', async () => {
  const { environment } = smallClinic({ 'person.yaml': BROKEN });
  const { code, notes } = await lintel(environment, 'lock');
  expect(code).toBe(1);
  expect(notes).toContain('SURNAM');
});

test('a folder that is not there is told without a stack', async () => {
  const { environment } = smallClinic();
  const { code, notes } = await lintel(environment, 'check', '/nowhere/at/all');
  expect(code).toBe(1);
  expect(notes).toMatch(/^The system refuses: ENOENT/);
});
