import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allIds } from '../../src/law/searches.ts';
import type { Demo } from './demo.ts';
import { openThird } from './third.ts';

describe('the third database', () => {
  let third: Demo;
  beforeAll(async () => {
    third = await openThird();
  });
  afterAll(() => third.close());

  test('gives the same resources in small pages as in one', async () => {
    for (const type of third.facade.offers.types) {
      const whole = await allIds(third.facade, type, [['_elements', 'id']]);
      expect(await allIds(third.facade, type, [['_elements', 'id']], 13), type).toEqual(whole);
      expect(new Set(whole).size, type).toBe(whole.length);
    }
  });
});
