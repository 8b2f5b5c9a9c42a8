/** Filters: what a parameter's name requires besides its value. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Demo, openDemo } from '../law/demo.ts';
import { CONTEXT } from '../operations/pages.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 2 });
});
afterAll(() => demo.close());

const search = (type: string, name: string, value: string) =>
  demo.facade.search({ type, parameters: [[name, value]] }, CONTEXT);

test('different types after the colon and in the value are refused', async () => {
  await expect(search('Observation', 'subject:Patient', 'Practitioner/1')).rejects.toThrow('a reference to Patient');
  const [bare, named] = [
    await search('Observation', 'subject:Patient', '1'),
    await search('Observation', 'subject:Patient', 'Patient/1'),
  ];
  expect(bare.entries).toBeGreaterThan(0);
  expect(named.entries).toBe(bare.entries);
});

test('a chain is accepted up to the maximum number of steps', async () => {
  const chain = (steps: number): string => `organization.${'partof.'.repeat(steps - 1)}name`;
  await expect(search('Patient', chain(4), 'x')).resolves.toMatchObject({ entries: 0 });
  await expect(search('Patient', chain(5), 'x')).rejects.toMatchObject({ code: 'too-costly' });
});
