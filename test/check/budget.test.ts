/** A section that cannot be interrupted in time reports by how much it was late. */
import { expect, test } from 'vitest';
import { secondsOfCounts, secondsOfSections } from '../../src/check/check.ts';
import { runSections } from '../../src/check/run.ts';
import type { CheckSection } from '../../src/check/section.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { facadeOver } from '../facade-over.ts';
import { open } from './opened.ts';

/** Blocks the thread, as a statement of SQLite does. */
const SLOW: CheckSection = {
  name: 'slow',
  title: 'Slow',
  run() {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2600);
    return Promise.resolve({ problems: [], notes: ['looked'], tables: [] });
  },
};

test('a section that exceeds its time budget is reported', async () => {
  const { registry, database, close } = await open(smallClinic({}));
  const options = { registry, database, catalog: await database.catalog(), now: 0, seed: 1, values: false, all: false };
  const served = (slowed: typeof database) => facadeOver({ registry, database: slowed });
  const [late] = await runSections([SLOW], { ...options, facadeOver: served, budgetSeconds: 1 });
  const [free] = await runSections([SLOW], { ...options, facadeOver: served, budgetSeconds: undefined });
  await close();
  expect(late?.notes).toEqual([
    'looked',
    expect.stringMatching(
      /^This took \d+ seconds? longer than its time budget: a running statement is not interrupted\.$/,
    ),
  ]);
  expect(free?.notes).toEqual(['looked']);
});

test.each([
  [600, 40],
  [60, 23],
  [30, 4],
])('what is counted before the sections is part of a budget of %i s, whether it takes %i s', (budget, spent) => {
  expect(secondsOfCounts(budget)).toBeLessThanOrEqual(budget / 3);
  expect(spent + secondsOfSections(budget, spent)).toBe(budget);
});

test('a small budget leaves half of it to the sections', () => {
  expect(secondsOfCounts(6)).toBe(10);
  expect(secondsOfSections(6, 10)).toBe(3);
});
