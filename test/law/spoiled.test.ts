import { expect, test } from 'vitest';
import { sampleFor } from '../engines/sample.ts';
import { ASKS_ALL } from '../share.ts';
import { openDemo } from './demo.ts';
import { checkLaw } from './law.ts';

test('the law holds on rows with the defects of old data', { timeout: 600_000 }, async () => {
  const demo = await openDemo({ patients: 24, spoiled: { perMille: 80, seed: 11 } });
  const sample = sampleFor(demo.database, 'the law on spoiled rows');
  const report = await checkLaw(demo.facade, { zone: 'America/New_York', values: 1, sample, oneIn: 4 });
  await demo.close();
  console.log(`the law on spoiled rows: ${report.cases} cases of ${report.byParameter.size} parameters`);
  expect(report.differences).toEqual([]);
  expect(report.cases).toBeGreaterThan(4000 / sample.oneIn / (ASKS_ALL ? 1 : 8));
});
