/** Large pages: how many rows are read at a time; otherwise they equal small ones. */
import { expect, onTestFinished, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Facade } from '../../src/facade.ts';
import { LIST } from '../../src/pipeline/answer.ts';
import type { Row } from '../../src/sql/plan.ts';
import { smallClinic } from '../cache/small-clinic.ts';
import { facadeOver } from '../facade-over.ts';

const PERSONS = 2 * LIST + 40;
const CONTEXT = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;

interface Counted {
  readonly facade: Facade;
  readonly write: (sql: string) => void;
  /** Number of rows of each result, in order. */
  readonly results: number[];
}

/** Every third person has two telephones. */
async function clinic(): Promise<Counted> {
  const { write, registry, database, close } = await smallClinic();
  onTestFinished(close);
  const ids = Array.from({ length: PERSONS }, (_, i) => i + 1);
  write(`INSERT INTO PERSON VALUES ${ids.map(id => `(${id}, 'N${id % 5}', 'N', '2024-01-01 08:00:00.000')`).join()}`);
  const phones = ids
    .filter(id => id % 3 === 0)
    .flatMap(id => [2 * id, 2 * id + 1].map(no => `(${no}, ${id}, '${no}')`));
  write(`INSERT INTO PHONE VALUES ${phones.join()}`);
  const results: number[] = [];
  const counted = {
    ...database,
    async query(...asked: Parameters<typeof database.query>): Promise<readonly Row[]> {
      const rows = await database.query(...asked);
      results.push(rows.length);
      return rows;
    },
  };
  const facade = facadeOver({ registry, database: counted, pageMax: 10_000 });
  return { facade, write, results };
}

interface Bundle {
  readonly total?: number;
  readonly entry: readonly {
    readonly resource: { readonly resourceType: string; readonly id: string; readonly telecom?: readonly object[] };
  }[];
  readonly link: readonly { readonly relation: string; readonly url: string }[];
}

async function search(facade: Facade, query: string, type = 'Patient'): Promise<Bundle> {
  const parameters = [...new URLSearchParams(query)];
  return JSON.parse((await facade.search({ type, parameters }, CONTEXT)).json);
}

const nextOf = ({ link }: Bundle): string | undefined => {
  const url = link.find(({ relation }) => relation === 'next')?.url;
  return url?.slice(url.indexOf('?') + 1);
};

test('a page has all its resources in order, and is read in lists of bounded size', async () => {
  const { facade, results } = await clinic();
  const { entry, total, link } = await search(facade, `_count=${PERSONS}`);
  expect(entry.map(({ resource }) => Number(resource.id))).toEqual(Array.from({ length: PERSONS }, (_, i) => i + 1));
  expect(entry.map(({ resource }) => resource.telecom?.length ?? 0)).toEqual(
    entry.map(({ resource }) => (Number(resource.id) % 3 === 0 ? 2 : 0)),
  );
  expect([total, link.length]).toEqual([PERSONS, 1]);
  // One row more shows that there are further ones, and the cursor's row is read again.
  expect(Math.max(...results)).toBeLessThanOrEqual(LIST + 2);
  expect(results.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(PERSONS);
});

test.each([1, LIST - 1, LIST, LIST + 1, 2 * LIST])('pages of %i continue each other', async count => {
  const { facade } = await clinic();
  const seen: string[] = [];
  for (let query: string | undefined = `_count=${count}&_total=none`; query !== undefined && seen.length < 3 * LIST; ) {
    const page = await search(facade, query);
    seen.push(...page.entry.map(({ resource }) => resource.id));
    query = count === 1 && seen.length > 5 ? undefined : nextOf(page);
    if (query !== undefined) expect(page.entry).toHaveLength(count);
  }
  expect(seen).toEqual(Array.from({ length: count === 1 ? 6 : PERSONS }, (_, i) => String(i + 1)));
});

test('a search with few matches ends its page after them', async () => {
  const { facade } = await clinic();
  const { entry, total, link } = await search(facade, 'family=n1&_count=10000');
  expect([entry.length, total, link.length]).toEqual([PERSONS / 5, PERSONS / 5, 1]);
});

test.each([
  ['AllergyIntolerance', '_include=AllergyIntolerance:patient', 3],
  ['Patient', '_revinclude=AllergyIntolerance:patient', 30],
])(
  'a page of %s with %s is read in lists, too, and has each included resource once',
  async (type, include, persons) => {
    const { facade, write, results } = await clinic();
    const allergies = Array.from({ length: type === 'Patient' ? persons : PERSONS }, (_, i) => i + 1);
    write(`INSERT INTO ALLERGY VALUES ${allergies.map(no => `(${no}, ${1 + (no % persons)}, 'Dust', NULL)`).join()}`);
    const { entry, link } = await search(facade, `${include}&_count=${PERSONS}`, type);
    const idsOf = (of: boolean) =>
      entry
        .filter(({ resource }) => (resource.resourceType === type) === of)
        .map(({ resource }) => Number(resource.id));
    expect(idsOf(true)).toEqual(Array.from({ length: PERSONS }, (_, i) => i + 1));
    expect(idsOf(false).toSorted((a, b) => a - b)).toEqual(Array.from({ length: persons }, (_, i) => i + 1));
    expect(link.length).toBe(1);
    expect(Math.max(...results)).toBeLessThanOrEqual(LIST + 2);
  },
);

test('child rows of a sorted page are read in lists', async () => {
  const { facade, results } = await clinic();
  const small: Bundle['entry'][number][] = [];
  for (let query: string | undefined = '_sort=-family&_count=50'; query !== undefined; ) {
    const page = await search(facade, query);
    small.push(...page.entry);
    query = nextOf(page);
  }
  results.length = 0;
  const large = await search(facade, `_sort=-family&_count=${PERSONS}`);
  expect(large.entry).toEqual(small);
  expect(results.toSorted((a, b) => b - a).slice(0, 1)).toEqual([PERSONS]);
  // Every third person has two telephones.
  const phones = results.filter(n => n < PERSONS && n > 0);
  expect(phones.length).toBe(Math.ceil(PERSONS / LIST));
  expect(phones.reduce((sum, n) => sum + n, 0)).toBe(2 * Math.floor(PERSONS / 3));
});
