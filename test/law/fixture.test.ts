import { expect, test } from 'vitest';
import { sampleFor } from '../engines/sample.ts';
import { ASKS_ALL } from '../share.ts';
import { openDemo } from './demo.ts';
import { checkLaw } from './law.ts';

test('a search returns exactly the resources that match by the FHIRPath engine', { timeout: 600_000 }, async () => {
  const demo = await openDemo({ patients: 24 });
  const sample = sampleFor(demo.database, 'the law on the fixture');
  const report = await checkLaw(demo.facade, { zone: 'America/New_York', values: 2, sample, oneIn: 4 });
  await demo.close();
  console.log(`the law on the fixture: ${report.cases} cases of ${report.byParameter.size} parameters`);
  expect(report.differences).toEqual([]);
  expect(report.cases).toBeGreaterThan(5000 / sample.oneIn / (ASKS_ALL ? 1 : 8));
});
