/**
 * Compares the answer to any request of any caller with the answer over a world that holds only what the caller may
 * see. CASES: number of cases (default 75, or 300 with TEST_ALL=1). SEED: seed of the random source.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../fixtures/random.ts';
import type { Access } from '../../src/auth/access.ts';
import type { RequestContext } from '../../src/facade.ts';
import { type AccessRules, ALL_ACCESS_RULES } from '../../src/plan/visibility.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { runsOf } from '../share.ts';
import { differs, randomCaller, randomCase } from './requests.ts';
import { readWorld, visibleTo, type World } from './world.ts';

const CASES = Number(process.env['CASES'] ?? runsOf(300));
const SEED = Number(process.env['SEED'] ?? 1);
/** For each rule, a random stream in which about sixty cases reveal that the rule is off. */
const STREAMS: Readonly<Record<keyof AccessRules, number>> = {
  matches: 1,
  chains: 5,
  has: 3,
  includes: 3,
  shared: 1,
  conditions: 3,
  referred: 1,
  actions: 1,
  labels: 1,
};
/** Requests per caller. */
const EACH = 15;

let demo: Demo;
let world: World;
beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
  world = await readWorld(demo);
});
afterAll(() => demo.close());

/** A caller whom the rule limits: with others its absence would go unnoticed. */
function callerFor(rule: keyof AccessRules | undefined, random: Random): Access {
  for (;;) {
    const access = randomCaller(random, world);
    const permissions = access.kind === 'all' ? [] : access.permissions;
    if (rule !== 'conditions' || permissions.some(({ where, within }) => where.length > 0 && within.length === 0))
      return access;
  }
}

/** The differences found in these cases, at most `enough`. */
async function differences(
  facade: Demo['facade'],
  cases: number,
  enough: number,
  rule?: keyof AccessRules,
): Promise<readonly string[]> {
  const random = new Random(rule === undefined ? SEED : STREAMS[rule]);
  const found: string[] = [];
  for (let done = 0; done < cases && found.length < enough; ) {
    const access = callerFor(rule, random);
    const visible = visibleTo(access, world);
    const context: RequestContext = { access, base: 'http://127.0.0.1/fhir', handling: 'strict' };
    for (let i = 0; i < EACH && found.length < enough; i++, done++) {
      const difference = await differs(randomCase(random, world, rule), facade, context, visible);
      if (difference !== undefined) found.push(`${JSON.stringify(access)} ${difference}`);
    }
  }
  return found;
}

test('a caller gets every resource that the rules permit, and no other', { timeout: 3_600_000 }, async () => {
  expect(await differences(demo.facade, CASES, 3)).toEqual([]);
});

describe('with a rule switched off a resource leaks, and this suite detects it', () => {
  test.each(Object.keys(ALL_ACCESS_RULES) as (keyof AccessRules)[])('%s', { timeout: 300_000 }, async rule => {
    const facade = demo.withAccessRules({ ...ALL_ACCESS_RULES, [rule]: false });
    expect(await differences(facade, 3000, 1, rule)).not.toEqual([]);
  });
});
