import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Mapping } from '../../src/mapping/model.ts';
import { ALL_RULES, type Rules } from '../../src/plan/environment.ts';
import { type Demo, openDemo } from './demo.ts';
import { checkLaw } from './law.ts';

/** The mappings that can reveal that a rule is off, if not all can. */
const SHOWN_BY: Partial<Readonly<Record<keyof Rules, (mapping: Mapping) => boolean>>> = {
  anchor: ({ source }) => source.onePer.length > 0,
};

describe('without a rule the law fails, and this suite detects it', () => {
  let demo: Demo;
  let types: readonly string[];
  beforeAll(async () => {
    demo = await openDemo({ patients: 24, spoiled: { perMille: 80, seed: 12 } });
    // Types with few mappings first: a broken rule shows in any of them, and they are read fast.
    types = demo.registry.types.toSorted((a, b) => demo.registry.ofType(a).length - demo.registry.ofType(b).length);
  });
  afterAll(() => demo.close());

  test.each(Object.keys(ALL_RULES) as (keyof Rules)[])('%s', { timeout: 300_000 }, async rule => {
    const facade = demo.withRules({ ...ALL_RULES, [rule]: false });
    const shows = SHOWN_BY[rule] ?? (() => true);
    const report = await checkLaw(facade, {
      zone: 'America/New_York',
      values: 2,
      enough: 1,
      types: types.filter(type => demo.registry.ofType(type).some(shows)),
      reference: demo.facade,
    });
    expect(report.differences).not.toEqual([]);
  });
});
