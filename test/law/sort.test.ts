import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, openDemo } from './demo.ts';
import { allOf } from './law.ts';
import { type Indexed, indexOf, interval } from './oracle.ts';

const ZONE = 'America/New_York';

describe.each([
  ['on the fixture', {}],
  ['on rows that a careless decade has spoiled', { spoiled: { perMille: 80, seed: 13 } }],
])('pages follow each other by keyset %s', (_, data) => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await openDemo({ patients: 12, ...data });
  });
  afterAll(() => demo.close());

  test('every type gives the same resources in small pages as in one', async () => {
    for (const type of demo.facade.offers.types) {
      const whole = (await allOf(demo.facade, type, [['_elements', 'id']])).slice(0, 60);
      const paged: string[] = [];
      for (const { id } of (await allOf(demo.facade, type, [['_elements', 'id']], 7)).slice(0, 60)) paged.push(id);
      expect(paged, type).toEqual(whole.map(({ id }) => id));
      expect(new Set(paged).size, type).toBe(paged.length);
    }
  });

  test('a sorted search gives every match once, in order, missing values last, whatever the page size', async () => {
    let sorted = 0;
    for (const type of demo.facade.offers.types) {
      for (const { parameter, sortable } of demo.facade.offers.of(type)) {
        if (!sortable || (parameter.type !== 'date' && parameter.type !== 'string')) continue;
        const all = await allOf(demo.facade, type, []);
        if (all.length > 3000) continue;
        const starts = new Map(
          all.map(resource => {
            const [value] = indexOf(resource, parameter.expression);
            return [resource.id, parameter.type === 'date' ? startOf(value) : textOf(value?.value)] as const;
          }),
        );
        for (const descending of [false, true]) {
          // Pages of one continue after every row, of whatever kind its value is.
          const size = all.length < 200 ? 1 : 13;
          const sort = `${descending ? '-' : ''}${parameter.code}`;
          const found = await allOf(demo.facade, type, [['_sort', sort]], size);
          const keys = found.map(({ id }) => starts.get(id));
          expect(found.map(({ id }) => id).toSorted(), `${type} ${parameter.code}`).toEqual(
            all.map(({ id }) => id).toSorted(),
          );
          const present = keys.filter(key => key !== undefined);
          expect(keys.slice(0, present.length), `${type} ${parameter.code} missing last`).toEqual(present);
          const inOrder = present.toSorted((a, b) => (a === b ? 0 : a < b === descending ? 1 : -1));
          expect(present, `${type} ${descending ? '-' : ''}${parameter.code}`).toEqual(inOrder);
          sorted++;
        }
      }
    }
    expect(sorted).toBeGreaterThan(80);
  });
});

/** Text as it sorts: the case of ASCII letters does not count. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.replaceAll(/[a-z]/g, letter => letter.toUpperCase()).trimEnd() : undefined;
}

/** Instant at which a date or period begins; words instead of a date are no value. */
function startOf({ type, value }: Partial<Indexed> = {}): number | undefined {
  if (type === 'string') return undefined;
  if (typeof value === 'string') return interval(value, ZONE).low;
  const start = value !== null && typeof value === 'object' && 'start' in value ? value.start : undefined;
  return typeof start === 'string' ? interval(start, ZONE).low : undefined;
}
