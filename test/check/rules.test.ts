/** With a rule of the planner off, searches go wrong; `lintel check` has to notice that on spoiled rows of the demo. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runSections } from '../../src/check/run.ts';
import { SEARCHES } from '../../src/check/searches.ts';
import { VALUES } from '../../src/check/values.ts';
import type { Mapping, Registry } from '../../src/mapping/model.ts';
import { ALL_RULES, type Rules } from '../../src/plan/environment.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';
import { shareOf } from '../share.ts';

const isOnePer = ({ source }: Mapping): boolean => source.onePer.length > 0;

/** Mappings that are checked with all rules on, half of them each day. */
const SOUND = shareOf(
  [
    ...['Condition', 'CareTeam', 'AllergyIntolerance'].map(
      type =>
        ({ resource }: Mapping): boolean =>
          resource === type,
    ),
    isOnePer,
  ],
  2,
);
const isSound = (mapping: Mapping): boolean => SOUND.some(isOne => isOne(mapping));

/**
 * The few of them that are checked with a rule off: care teams reveal every rule but that of rows that share a
 * resource.
 */
const isCareTeam = ({ resource }: Mapping): boolean => resource === 'CareTeam';
const SHOWN_BY: Partial<Readonly<Record<keyof Rules, (mapping: Mapping) => boolean>>> = { anchor: isOnePer };

/** Rules that change the resources themselves; the others change only searches. */
const OF_VALUES: ReadonlySet<keyof Rules> = new Set(['targetFilter', 'sourceFilter']);

describe('without a rule of the planner', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await openDemo({ patients: 24, spoiled: { perMille: 80, seed: 12 } });
  });
  afterAll(() => demo.close());

  async function errorsOf(
    rules: Rules,
    isAsked: (mapping: Mapping) => boolean,
    sections = [VALUES, SEARCHES],
  ): Promise<readonly string[]> {
    const mappings = demo.registry.mappings.filter(isAsked);
    const registry: Registry = { ...demo.registry, mappings };
    const reports = await runSections(sections, {
      registry,
      database: demo.database,
      catalog: await demo.database.catalog(),
      facadeOver: () => demo.withRules(rules),
      now: NOW,
      seed: 3,
      budgetSeconds: undefined,
      values: false,
      all: false,
    });
    return reports.flatMap(({ problems }) =>
      problems.map(({ position, message, found }) => `${position.file}:${position.line} ${message} ${found}`),
    );
  }

  test('spoiled rows alone cause no error', async () => {
    expect(await errorsOf(ALL_RULES, isSound)).toEqual([]);
  });

  test.each(Object.keys(ALL_RULES) as (keyof Rules)[])('%s: check notices', async rule => {
    const sections = [OF_VALUES.has(rule) ? VALUES : SEARCHES];
    const isAsked = SHOWN_BY[rule] ?? isCareTeam;
    expect(await errorsOf({ ...ALL_RULES, [rule]: false }, isAsked, sections)).not.toEqual([]);
  });
});
