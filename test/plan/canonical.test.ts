import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allOf } from '../../src/law/searches.ts';
import { type Demo, openDemo } from '../law/demo.ts';

describe('a reference parameter on a canonical', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await openDemo({ patients: 3 });
  });
  afterAll(() => demo.close());

  const found = (questionnaire: string) =>
    allOf(demo.facade, 'QuestionnaireResponse', [['questionnaire', questionnaire]]);

  it('finds the exact URL', async () => {
    const all = await allOf(demo.facade, 'QuestionnaireResponse', []);
    const addresses = [...new Set(all.map(response => String(response['questionnaire'])))];
    expect(addresses.length).toBeGreaterThan(1);
    for (const address of addresses) {
      const wanted = all.filter(response => response['questionnaire'] === address).map(({ id }) => id);
      expect((await found(address)).map(({ id }) => id)).toEqual(wanted);
    }
  });

  it.each(['http://loinc.org/q/44249', 'http://loinc.org/q/44249-1/', 'Questionnaire/44249-1', 'PHQ9'])(
    'finds nothing for %s',
    async address => {
      expect(await found(address)).toEqual([]);
    },
  );
});
