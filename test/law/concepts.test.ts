import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { allOf } from '../../src/law/searches.ts';
import { searchesWithoutIndex } from '../../src/plan/index-use.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import { render } from '../../src/sql/render.ts';
import { tsqlProblems } from '../sql/grammar/tsql-grammar.ts';
import { type Concepts, openConcepts } from './concepts.ts';
import { checkLaw } from './law.ts';

const FACTS = 400;

interface Coded {
  readonly coding?: readonly { readonly system?: string; readonly code?: string }[];
}

interface Observation {
  readonly id: string;
  readonly code?: Coded;
  readonly method?: Coded;
  readonly category?: readonly Coded[];
  readonly component?: readonly { readonly code: Coded }[];
  readonly subject?: { readonly reference: string };
  readonly effectiveDateTime?: string;
}

let concepts: Concepts;
let all: readonly Observation[];
beforeAll(async () => {
  concepts = await openConcepts(FACTS);
  all = (await allOf(concepts.facade, 'Observation', [])) as unknown as readonly Observation[];
});
afterAll(() => concepts.close());

const has = (of: Coded | undefined, ...codes: readonly string[]): boolean =>
  of?.coding?.some(({ code }) => code !== undefined && codes.includes(code)) === true;

async function idsOf(query: string, type = 'Observation'): Promise<readonly string[]> {
  return (await allOf(concepts.facade, type, [...new URLSearchParams(query)], 7)).map(({ id }) => id);
}

const idsWhere = (holds: (one: Observation) => boolean): readonly string[] => all.filter(holds).map(({ id }) => id);

test('the law holds for codes behind one or two joins, in child rows, in lists and in the newest row', async () => {
  const report = await checkLaw(concepts.facade, { zone: 'UTC', values: 6 });
  expect(report.differences).toEqual([]);
  expect(report.cases).toBeGreaterThan(300);
}, 120_000);

describe.each<[string, string, (one: Observation) => boolean]>([
  ['a code', 'code=C1', ({ code }) => has(code, 'C1')],
  [
    'system and code',
    'code=http://loinc.org|C5',
    ({ code }) => code?.coding?.some(c => c.code === 'C5' && c.system === 'http://loinc.org') === true,
  ],
  ['a code that several concepts have', 'code=shared', ({ code }) => has(code, 'shared')],
  [
    'several codes',
    'code=C1,C2,C3,C4,urn:local|C6',
    ({ code }) =>
      has(code, 'C1', 'C2', 'C3', 'C4') ||
      code?.coding?.some(c => c.code === 'C6' && c.system === 'urn:local') === true,
  ],
  [
    'more codes than places',
    `code=${Array.from({ length: 61 }, (_, i) => `C${i}`).join()}`,
    ({ code }) => code?.coding?.some(c => /^C\d+$/.test(c.code ?? '')) === true,
  ],
  ['a code that more concepts have than are listed', 'code=edition', ({ code }) => has(code, 'edition')],
  ['a code that no concept has', 'code=nowhere', () => false],
  ['another code than this', 'code:not=C1', ({ code }) => !has(code, 'C1')],
  ['two joins away', 'method=C1,C2,C3,C4,C5', ({ method }) => has(method, 'C1', 'C2', 'C3', 'C4', 'C5')],
  [
    'two codes of two lookups',
    'code=C1,C2,C3,C4,C5,C6,edition&category=laboratory',
    ({ code, category }) =>
      has(code, 'C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'edition') && category?.some(c => has(c, 'laboratory')) === true,
  ],
  [
    'a code of a child row',
    'component-code=C1',
    ({ component }) => component?.some(({ code }) => has(code, 'C1')) === true,
  ],
  [
    'a code here or in a child row',
    'combo-code=C2',
    ({ code, component }) => has(code, 'C2') || component?.some(part => has(part.code, 'C2')) === true,
  ],
  [
    'a code of a patient',
    'patient=3&code=C1,C2,C3,C4,C5,C6,edition',
    ({ code, subject }) =>
      subject?.reference === 'Patient/3' && has(code, 'C1', 'C2', 'C3', 'C4', 'C5', 'C6', 'edition'),
  ],
])('%s', (_, query, holds) => {
  test('is found in pages', async () => {
    expect(await idsOf(query)).toEqual(idsWhere(holds));
  });

  test('is counted', async () => {
    const parameters = [...new URLSearchParams(query), ['_summary', 'count'] as const] as const;
    const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' } as const;
    const { json } = await concepts.facade.search({ type: 'Observation', parameters }, context);
    expect(JSON.parse(json).total).toBe(idsWhere(holds).length);
  });

  test('sorts by date', async () => {
    const dates = new Map(all.map(({ id, effectiveDateTime }) => [id, effectiveDateTime ?? '']));
    const found = await idsOf(`${query}&_sort=-date`);
    expect(found.toSorted()).toEqual(idsWhere(holds).toSorted());
    expect(found.map(id => dates.get(id))).toEqual(
      found
        .map(id => dates.get(id) ?? '')
        .toSorted()
        .toReversed(),
    );
  });
});

test('the cases above find something', () => {
  for (const code of ['C1', 'C2', 'shared', 'rare', 'edition'])
    expect(idsWhere(one => has(one.code, code)).length).toBeGreaterThan(0);
  expect(idsWhere(({ method }) => has(method, 'C1', 'C2', 'C3', 'C4', 'C5')).length).toBeGreaterThan(0);
});

test('required lookups, _has and chains work through the concept, too', async () => {
  const dx = (await allOf(concepts.facade, 'Condition', [])) as unknown as readonly (Observation & {
    readonly subject: { readonly reference: string };
  })[];
  const code = dx.flatMap(one => one.code?.coding?.map(c => c.code ?? '') ?? [])[0] ?? '';
  const wanted = dx.filter(one => has(one.code, code));
  expect(await idsOf(`code=${code}`, 'Condition')).toEqual(wanted.map(({ id }) => id));
  const people = [...new Set(wanted.map(({ subject }) => subject.reference.slice('Patient/'.length)))];
  expect((await idsOf(`_has:Condition:patient:code=${code}`, 'Patient')).toSorted()).toEqual(people.toSorted());
  const theirs = idsWhere(({ subject }) => people.some(id => subject?.reference === `Patient/${id}`));
  expect(await idsOf(`subject:Patient._has:Condition:patient:code=${code}`)).toEqual(theirs);
});

test('check names the column that joins a concept, and the one of the code, where no index begins with them', () => {
  const { registry, offers } = concepts.facade;
  const without = searchesWithoutIndex(offers.of('Observation'), {
    mappings: registry.ofType('Observation'),
    registry,
    catalog: concepts.catalog,
  });
  const columns = new Map(without.map(({ code, columns }) => [code, columns]));
  expect(columns.get('method')).toEqual(['CONCEPT.CODE', 'CONCEPT.VOCAB', 'ITEM.CONCEPT_ID']);
  expect(columns.get('category')).toEqual(['FACT.CAT', 'FACT.SITE', 'LIST.STD']);
});

test('T-SQL has the same query', () => {
  const texts = new Set(concepts.sent.map(({ plan }) => render(plan, MSSQL).text));
  expect(texts.size).toBeGreaterThan(30);
  expect([...texts].flatMap(tsqlProblems)).toEqual([]);
  const keys = [...texts].find(text => text.includes('FROM CONCEPT AS m'));
  expect(keys).toMatch(/^SELECT TOP \(@p0\) m\.CONCEPT_ID\nFROM CONCEPT AS m\nWHERE /);
  expect([...texts].some(text => /WHERE .*o\.ITEM_ID IN \(@p/.test(text))).toBe(true);
});

describe('the query plan of SQLite', () => {
  const wayOf = async (query: string): Promise<string> => {
    await idsOf(query);
    return concepts.way().join('\n');
  };

  test('begins with the index on the reference to the concept', async () => {
    expect(await wayOf('code=http://loinc.org|C5&_total=none')).toMatch(/SEARCH o USING INDEX FACT_CONCEPT/);
    expect(await wayOf('method=C3&_total=none')).toMatch(/SEARCH o USING INDEX FACT_ITEM/);
    expect(await wayOf('component-code=C1&_total=none')).toMatch(/^SEARCH o USING INTEGER PRIMARY KEY/);
  });

  test('begins with a patient where one is named', async () => {
    expect(await wayOf('patient=3&code=C1')).toMatch(/SEARCH o USING INDEX FACT_PERSON/);
  });

  test('reads no facts if no concept has the code', async () => {
    const before = concepts.sent.length;
    expect(await idsOf('method=nowhere')).toEqual([]);
    expect(concepts.sent.slice(before).map(({ plan }) => plan.from.table.name)).toEqual(['CONCEPT']);
  });
});
