import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { indexOf } from '../../src/law/oracle.ts';
import type { Indexed } from '../../src/law/oracle-values.ts';
import { sortValueOf } from '../../src/law/order.ts';
import { allIds, allOf } from '../../src/law/searches.ts';
import type { SearchParameter } from '../../src/r4/search-parameters.ts';
import { drawer, type Sample, sampleFor } from '../engines/sample.ts';
import { ASKS_ALL, shareOf, TEST_DAY } from '../share.ts';
import { type Demo, openDemo } from './demo.ts';

const ZONE = 'America/New_York';

/** For a type with more resources, only those of one chart are sorted. */
const MANY = 3000;

interface Some {
  readonly all: Awaited<ReturnType<typeof allOf>>;
  readonly within: readonly (readonly [string, string])[];
}

/** Time limit for thousands of pages on a busy machine or server. */
const LONG = { timeout: 600_000 };

describe.each([
  ['on the fixture', {}],
  ['on rows that a careless decade has spoiled', { spoiled: { perMille: 80, seed: 13 } }],
])('pages follow each other by keyset %s', (name, data) => {
  let demo: Demo;
  let sample: Sample;
  beforeAll(async () => {
    demo = await openDemo({ patients: 12, ...data });
    sample = sampleFor(demo.database, `sorted searches ${name}`);
  });

  /**
   * Page size: 1 tests the link after every row, whatever kind of value it has; for many rows about sixteen pages or
   * eight.
   */
  const pageSize = (all: readonly unknown[], isOfMany: boolean): number =>
    Math.max(1, Math.ceil(all.length / (sample.oneIn > 1 || isOfMany ? 8 : 16)));
  afterAll(async () => {
    read.clear();
    await demo.close();
  });

  const read = new Map<string, Some>();

  /** All resources of a type; if there are many, those of the fullest chart. */
  async function someOf(type: string): Promise<Some> {
    const known = read.get(type);
    if (known) return known;
    const all = await allOf(demo.facade, type, []);
    const within = all.length <= MANY ? [] : ([['patient', '1']] as const);
    const some = { all: within.length === 0 ? all : await allOf(demo.facade, type, within), within };
    read.set(type, some);
    return some;
  }

  const ranks = new Map<string, string>();
  const ranked = new Set<string>();

  /** Ranks of references: they sort by type, and within a type in the order of `_id`. */
  async function ranksOf(types: readonly string[]): Promise<ReadonlyMap<string, string>> {
    for (const type of types) {
      if (ranked.has(type)) continue;
      ranked.add(type);
      const found = await allIds(demo.facade, type, [
        ['_sort', '_id'],
        ['_elements', 'id'],
      ]);
      for (const [i, id] of found.entries()) ranks.set(`${type}/${id}`, `${type}/${String(i).padStart(9, '0')}`);
    }
    return ranks;
  }

  test('every type gives the same resources in small pages as in one', async () => {
    for (const type of demo.facade.offers.types) {
      const whole = (await allOf(demo.facade, type, [['_elements', 'id']])).slice(0, 60);
      const paged: string[] = [];
      for (const { id } of (await allOf(demo.facade, type, [['_elements', 'id']], 7, 60)).slice(0, 60)) paged.push(id);
      expect(paged, type).toEqual(whole.map(({ id }) => id));
      expect(new Set(paged).size, type).toBe(paged.length);
    }
  });

  /** One direction per day in turn, the opposite one on spoiled rows; both with TEST_ALL. */
  const directions = (turn: number): readonly boolean[] =>
    ASKS_ALL ? [false, true] : [(turn + TEST_DAY + ('spoiled' in data ? 1 : 0)) % 2 === 0];

  test(
    'a sorted search gives every match once, in order, missing values last, whatever the page size',
    LONG,
    async () => {
      const draw = drawer(sample);
      let sorted = 0;
      let turn = 0;
      for (const type of demo.facade.offers.types) {
        const { all, within } = await someOf(type);
        const sortable = demo.facade.offers.of(type).filter(one => one.sortable && one.parameter.code !== '_id');
        const size = pageSize(all, within.length > 0 && !ASKS_ALL);
        for (const { parameter, targets } of draw(shareOf(sortable, 4))) {
          const ranks = await ranksOf(targets);
          const indexed = all.map(resource => indexOf(resource, parameter.expression));
          for (const descending of directions(turn++)) {
            const keys = new Map(
              all.map(({ id }, i) => [id, keyOf(indexed[i] ?? [], parameter, descending, ranks)] as const),
            );
            const sort = `${descending ? '-' : ''}${parameter.code}`;
            const found = await allIds(demo.facade, type, [['_sort', sort], ...only(descending), ...within], size);
            const name = `${type}?_sort=${sort}`;
            expect(found.toSorted(), name).toEqual(all.map(({ id }) => id).toSorted());
            const values = found.map(id => keys.get(id));
            const present = values.filter(key => key !== undefined);
            expect(values.slice(0, present.length), `${name}, missing last`).toEqual(present);
            expect(present, name).toEqual(present.toSorted((a, b) => (a === b ? 0 : a < b === descending ? 1 : -1)));
            sorted++;
          }
        }
      }
      console.log(`sorted searches ${name}: ${sorted}`);
      expect(sorted).toBeGreaterThan(240 / sample.oneIn / (ASKS_ALL ? 1 : 8));
    },
  );

  test(
    'sorted by id, each match comes once, ids of one form in the order of their numbers, and backwards the same way',
    LONG,
    async () => {
      let sorted = 0;
      for (const type of drawer(sample)(demo.facade.offers.types)) {
        if (!demo.facade.offers.find(type, '_id')?.sortable) continue;
        const { all, within } = await someOf(type);
        const size = pageSize(all, within.length > 0 && !ASKS_ALL);
        const ids = (sort: string): Promise<readonly string[]> =>
          allIds(demo.facade, type, [['_sort', sort], ['_elements', 'id'], ...within], size);
        const forth = await ids('_id');
        expect(forth.toSorted(), type).toEqual(all.map(({ id }) => id).toSorted());
        expect(await ids('-_id'), type).toEqual(forth.toReversed());
        for (const [form, list] of Map.groupBy(forth, id => id.replace(/\d+/g, '#'))) {
          if (/^[a-z-]*#$/.test(form)) {
            const numbers = list.map(id => Number(/\d+/.exec(id)?.[0]));
            expect(numbers, `${type} ${form}`).toEqual(numbers.toSorted((a, b) => a - b));
            sorted++;
          }
        }
      }
      expect(sorted).toBeGreaterThan(20 / sample.oneIn);
    },
  );

  test('further keys order resources with an equal first key', async () => {
    const all = await allOf(demo.facade, 'Encounter', []);
    const [status, date] = ['status', 'date'].map(code => demo.facade.offers.find('Encounter', code)?.parameter);
    if (!status || !date) throw new Error('no such parameters');
    const found = await allOf(demo.facade, 'Encounter', [['_sort', 'status,-date,_id']], 7);
    expect(found.length).toBe(all.length);
    const keys = found.map(one => {
      const [code, begin] = [status, date].map(({ expression }) => indexOf(one, expression));
      return [keyOf(code ?? [], status, false), keyOf(begin ?? [], date, true), Number(one.id)] as const;
    });
    for (const [i, [code, begin, id]] of keys.entries()) {
      const [codeBefore, beginBefore, idBefore] = keys[i - 1] ?? [];
      if (code !== codeBefore) expect(String(codeBefore ?? '') < String(code)).toBe(true);
      else if (begin !== beginBefore) expect(Number(beginBefore) > Number(begin ?? -Infinity)).toBe(true);
      else if (idBefore !== undefined) expect(idBefore < id).toBe(true);
    }
  });
});

/** Descending requests ask for ids only: the other contents of a row are the same in both directions. */
function only(descending: boolean): readonly (readonly [string, string])[] {
  return descending ? [['_elements', 'id']] : [];
}

/** The sort key of a resource with these values of a parameter; for references their rank. */
function keyOf(
  values: readonly Indexed[],
  { type }: SearchParameter,
  descending: boolean,
  ranks: ReadonlyMap<string, string> = new Map(),
): number | string | undefined {
  const direction = descending ? 'descending' : 'ascending';
  const rankOf = (reference: string): string => ranks.get(reference) ?? `nothing has ${reference}`;
  return sortValueOf(values, type, direction, ZONE, rankOf);
}
