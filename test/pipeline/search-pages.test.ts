/** The matches of a search, page by page and without a Bundle, as documents and the REST interface read them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seeingPatients } from '../../src/audit/patients-in.ts';
import { NO_ACCESS } from '../../src/auth/access.ts';
import type { FoundPage, PagesRequest, RequestContext } from '../../src/facade.ts';
import { type Demo, openDemo } from '../law/demo.ts';

let demo: Demo;
let statements = 0;
beforeAll(async () => {
  demo = await openDemo({
    patients: 3,
    onQuery: () => {
      statements++;
    },
  });
});
afterAll(() => demo.close());

const CONTEXT: RequestContext = {
  access: { kind: 'all', caller: '' },
  base: 'http://x/fhir',
  handling: 'strict',
};

async function pagesOf(
  request: PagesRequest,
  context: RequestContext = CONTEXT,
  facade = demo.facade,
): Promise<readonly FoundPage[]> {
  const pages: FoundPage[] = [];
  for await (const page of facade.searchPages(request, context)) pages.push(page);
  return pages;
}

test('pages have the matches in order, and the last one is marked', async () => {
  const parameters = [['_sort', '-date']] as const;
  const pages = await pagesOf({ type: 'Observation', parameters: [...parameters, ['_count', '7']] });
  const { json } = await demo.facade.search(
    { type: 'Observation', parameters: [...parameters, ['_count', '1000']] },
    CONTEXT,
  );
  const { entry } = JSON.parse(json) as { readonly entry: readonly { readonly resource: { readonly id: string } }[] };
  expect(entry.length).toBeGreaterThan(20);
  expect(pages.flatMap(({ texts }) => texts.map(text => JSON.parse(text)))).toEqual(
    entry.map(({ resource }) => resource),
  );
  expect(pages.slice(0, -1).every(({ resources, more }) => resources.length === 7 && more)).toBe(true);
  expect(pages.at(-1)?.more).toBe(false);
});

test('quantities keep their digits', async () => {
  const pages = await pagesOf({ type: 'Observation', parameters: [['value-quantity', 'gt0']] });
  const texts = pages.flatMap(page => page.texts).join('');
  const quantities = pages.flatMap(({ resources }) =>
    resources.flatMap(resource => ('valueQuantity' in resource ? [resource.valueQuantity as { value: string }] : [])),
  );
  expect(quantities.length).toBeGreaterThan(0);
  for (const { value } of quantities) {
    expect(typeof value).toBe('string');
    expect(texts).toContain(`"value":${value}`);
  }
});

test('includes and unrequested pages are not read', async () => {
  const parameters = [
    ['_include', 'Observation:subject'],
    ['_count', '2'],
  ] as const;
  for await (const { resources } of demo.facade.searchPages({ type: 'Observation', parameters }, CONTEXT)) {
    statements = 0;
    expect(resources.map(({ resourceType }) => resourceType)).toEqual(['Observation', 'Observation']);
    break;
  }
  expect(statements).toBe(0);
});

test('a type that the caller may not search is refused with an error', async () => {
  const pages = pagesOf({ type: 'Patient', parameters: [] }, { ...CONTEXT, access: NO_ACCESS });
  await expect(pages).rejects.toMatchObject({ status: 403 });
});

test('the audit gets the patients of each page', async () => {
  const seen = new Set<string>();
  const see = (patients: Iterable<string>): void => {
    for (const patient of patients) seen.add(patient);
  };
  const request = { type: 'Condition', parameters: [['_count', '5']] } as const;
  const pages = await pagesOf(request, { ...CONTEXT, see }, seeingPatients(demo.facade));
  const owners = pages.flatMap(({ resources }) =>
    resources.map(resource => (resource as unknown as { subject: { reference: string } }).subject.reference),
  );
  expect(pages.length).toBeGreaterThan(1);
  expect([...seen].map(id => `Patient/${id}`).toSorted()).toEqual([...new Set(owners)].toSorted());
});
