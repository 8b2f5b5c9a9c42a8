/** "Keep this row as a test" as the page requests it: a test for the unsaved texts, without writing anything. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenedBench, openBench } from './opened-bench.ts';

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

test('the test uses unsaved texts, passes, and is not written', async () => {
  const before = readdirSync(bench.clinic.pack);
  const text = readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8');
  const unsaved = { 'person.yaml': text.replace('  gender:', '  active: true\n  gender:') };
  const answer = await bench.post('record', { unsaved, mapping: 'people', key: ['1'] });
  expect(answer.status).toBe(200);
  const made = (await answer.json()) as { path: string; test: string; remarks: readonly string[] };
  expect(made).toMatchObject({ path: 'person.test.yaml', remarks: [] });
  expect(made.test).toContain('"active": true');
  expect(made.test).not.toMatch(/kowalski|1970/i);
  expect(readdirSync(bench.clinic.pack)).toEqual(before);
  const run = await bench.post('tests', { unsaved: { ...unsaved, [made.path]: made.test } });
  expect(await run.json()).toMatchObject({ cases: [{ mapping: 'people', failures: [] }] });
  expect(readdirSync(bench.clinic.pack)).toEqual(before);
});

test('a prefix that the mapping expects before a code stays', async () => {
  const text = readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8');
  const unsaved = {
    'person.yaml': text.replace(
      '  gender:',
      '  maritalStatus: { text: { from: SURNAME, via: { prefix: Kow } } }\n  gender:',
    ),
  };
  const answer = await bench.post('record', { unsaved, mapping: 'people', key: ['1'] });
  const made = (await answer.json()) as { test: string; remarks: readonly string[] };
  expect(made.remarks).toEqual([]);
  expect(made.test).toMatch(/SURNAME: "?Kow(?!alski)/);
});

test('a missing row is reported without its key', async () => {
  const answer = await bench.post('record', { unsaved: {}, mapping: 'people', key: ['77'] });
  expect([answer.status, await answer.json()]).toEqual([404, { error: 'No row of PERSON has this key' }]);
});
