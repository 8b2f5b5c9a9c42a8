import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_RULES, type Rules } from '../../src/plan/environment.ts';
import { type Demo, openDemo } from './demo.ts';
import { checkLaw } from './law.ts';

const ZONE = 'America/New_York';

describe('the law: a search returns exactly the resources that the FHIRPath engine says', () => {
  test('on the fixture', { timeout: 300_000 }, async () => {
    const demo = await openDemo({ patients: 24 });
    const report = await checkLaw(demo.facade, { zone: ZONE, values: 3 });
    await demo.close();
    console.log(`law on the fixture: ${report.cases} cases of ${report.byParameter.size} parameters`);
    expect(report.differences).toEqual([]);
    expect(report.cases).toBeGreaterThan(1000);
  });

  test('on a spoiled copy', { timeout: 300_000 }, async () => {
    const demo = await openDemo({ patients: 24, spoiled: { perMille: 80, seed: 11 } });
    const report = await checkLaw(demo.facade, { zone: ZONE, values: 3 });
    await demo.close();
    console.log(`law on spoiled rows: ${report.cases} cases of ${report.byParameter.size} parameters`);
    expect(report.differences).toEqual([]);
  });
});

describe('without a rule the law does not hold, and the suite notices', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await openDemo({ patients: 24, spoiled: { perMille: 80, seed: 12 } });
  });
  afterAll(() => demo.close());

  test.each(Object.keys(ALL_RULES) as (keyof Rules)[])('%s', { timeout: 300_000 }, async rule => {
    const facade = demo.withRules({ ...ALL_RULES, [rule]: false });
    const report = await checkLaw(facade, { zone: ZONE, values: 3, enough: 1, reference: demo.facade });
    expect(report.differences).not.toEqual([]);
  });
});
