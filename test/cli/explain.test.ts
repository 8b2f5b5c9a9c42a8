import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

test('explain shows typed query, SQL of both engines with types, the index, and lineage', async () => {
  const { environment } = smallClinic();
  const { code, out } = await lintel(environment, 'explain', 'Observation?patient=1&date=ge2024');
  expect(code).toBe(0);
  expect(out).toContain('Query of Observation');
  expect(out).toContain('patient (reference) is a reference');
  expect(out).toContain('SQLite\n    SELECT');
  expect(out).toContain('SQL Server\n    SELECT TOP (@p');
  expect(out).toMatch(/^ {4}p\d+ int$/m);
  expect(out).toContain('WEIGHING_PERSON');
  expect(out).toMatch(/valueQuantity\.value +.*KG.*\(weighing\.yaml:\d+/);
});

test('no value of the query is shown unless it is asked for', async () => {
  const { environment } = smallClinic();
  const query = 'Patient?family=Kowalski&birthdate=1970-02-03';
  const silent = await lintel(environment, 'explain', query);
  expect(silent.code).toBe(0);
  expect(`${silent.out}${silent.notes}`).not.toMatch(/kowalski|1970/i);
  expect((await lintel(environment, 'explain', query, '--values')).out).toMatch(/kowalski/i);
});

test('a mapping that cannot match is told apart', async () => {
  const { environment } = smallClinic();
  const { out } = await lintel(environment, 'explain', 'Observation?code=http://loinc.org|8302-2');
  expect(out).toMatch(/cannot match +weights/);
  expect(out).not.toContain('SELECT');
});

test('what the server would refuse is told as the server would, with exit code 1', async () => {
  const { environment } = smallClinic();
  const { code, notes } = await lintel(environment, 'explain', 'Patient?nonsense=1');
  expect(code).toBe(1);
  expect(notes).toContain('nonsense');
});
