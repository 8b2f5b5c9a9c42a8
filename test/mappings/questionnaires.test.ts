import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allOf } from '../../src/law/searches.ts';
import { type Demo, openDemo } from '../law/demo.ts';

interface Item {
  readonly linkId: string;
  readonly item?: readonly Item[];
  readonly answer?: readonly { readonly item?: readonly Item[] }[];
}

interface Form {
  readonly id: string;
  readonly url: string;
  readonly item?: readonly Item[];
}

interface Response {
  readonly id: string;
  readonly questionnaire: string;
  readonly item?: readonly Item[];
}

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 12 });
});
afterAll(() => demo.close());

const linkIds = (items: readonly Item[] = []): readonly string[] =>
  items.flatMap(({ linkId, item, answer = [] }) => [
    linkId,
    ...linkIds(item),
    ...answer.flatMap(({ item: further }) => linkIds(further)),
  ]);

describe('the forms of the demo', () => {
  test('have every question once, including all questions of responses', async () => {
    const forms = (await allOf(demo.facade, 'Questionnaire', [])) as unknown as readonly Form[];
    const questions = new Map(forms.map(({ url, item }) => [url, linkIds(item)]));
    for (const [url, ids] of questions) expect(new Set(ids).size, url).toBe(ids.length);
    const responses = (await allOf(demo.facade, 'QuestionnaireResponse', [])) as unknown as readonly Response[];
    expect(responses.length).toBeGreaterThan(5);
    const standard = responses.filter(({ questionnaire }) => questionnaire.startsWith('http://loinc.org/'));
    for (const { id, questionnaire, item } of standard) {
      const known = questions.get(questionnaire) ?? [];
      expect(
        linkIds(item).filter(one => !known.includes(one)),
        id,
      ).toEqual([]);
    }
  });

  test('are found by the URL in the responses', async () => {
    const [found, ...more] = await allOf(demo.facade, 'Questionnaire', [['url', 'http://loinc.org/q/44249-1']]);
    expect(found?.id).toBe('PHQ9');
    expect(more).toEqual([]);
  });
});
