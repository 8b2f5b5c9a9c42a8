/** Large pages: how many rows are read at a time, and that nothing else tells them from small ones. */
import { expect, onTestFinished, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { createFacade, type Facade } from '../../src/facade.ts';
import { LIST } from '../../src/pipeline/page-lists.ts';
import type { Row } from '../../src/sql/plan.ts';
import { smallClinic } from '../cache/small-clinic.ts';

const PERSONS = 2 * LIST + 40;
const CONTEXT = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;

interface Counted {
  readonly facade: Facade;
  /** Rows of each result, in order. */
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
  const facade = createFacade({
    ...{ registry, database: counted, pageSize: 50, pageMax: 10_000, secret: new Uint8Array(32) },
    ...{ softwareVersion: '0', date: '2026-06-30' },
  });
  return { facade, results };
}

interface Bundle {
  readonly total?: number;
  readonly entry: readonly { readonly resource: { readonly id: string; readonly telecom?: readonly object[] } }[];
  readonly link: readonly { readonly relation: string; readonly url: string }[];
}

async function search(facade: Facade, query: string): Promise<Bundle> {
  const parameters = [...new URLSearchParams(query)];
  return JSON.parse((await facade.search({ type: 'Patient', parameters }, CONTEXT)).json);
}

const nextOf = ({ link }: Bundle): string | undefined => {
  const url = link.find(({ relation }) => relation === 'next')?.url;
  return url?.slice(url.indexOf('?') + 1);
};

test('a page has all its resources in order, and no more rows of it are read at a time than of a list', async () => {
  const { facade, results } = await clinic();
  const { entry, total, link } = await search(facade, `_count=${PERSONS}`);
  expect(entry.map(({ resource }) => Number(resource.id))).toEqual(Array.from({ length: PERSONS }, (_, i) => i + 1));
  expect(entry.map(({ resource }) => resource.telecom?.length ?? 0)).toEqual(
    entry.map(({ resource }) => (Number(resource.id) % 3 === 0 ? 2 : 0)),
  );
  expect([total, link.length]).toEqual([PERSONS, 1]);
  // One row more says that there are more, and that of the cursor comes again.
  expect(Math.max(...results)).toBeLessThanOrEqual(LIST + 2);
  expect(results.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(PERSONS);
});

test.each([1, LIST - 1, LIST, LIST + 1, 2 * LIST])('pages of %i follow each other', async count => {
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

test('a search that matches a part has a page that ends where its matches end', async () => {
  const { facade } = await clinic();
  const { entry, total, link } = await search(facade, 'family=n1&_count=10000');
  expect([entry.length, total, link.length]).toEqual([PERSONS / 5, PERSONS / 5, 1]);
});
