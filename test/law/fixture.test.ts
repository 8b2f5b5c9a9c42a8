import { expect, test } from 'vitest';
import { sampleFor } from '../engines/sample.ts';
import { openDemo } from './demo.ts';
import { ASKS_ALL, checkLaw, LAW_SEED } from './law.ts';

test('a search returns exactly the resources that match by the FHIRPath engine', { timeout: 600_000 }, async () => {
  const demo = await openDemo({ patients: 24 });
  const sample = sampleFor(demo.database, 'the law on the fixture');
  const report = await checkLaw(demo.facade, { zone: 'America/New_York', values: 2, sample, halved: true });
  await demo.close();
  console.log(
    `the law on the fixture: ${report.cases} cases of ${report.byParameter.size} parameters, LAW_SEED=${LAW_SEED}`,
  );
  expect(report.differences).toEqual([]);
  expect(report.cases).toBeGreaterThan(5000 / sample.oneIn / (ASKS_ALL ? 1 : 2));
});
