/** Links of a page: which parameters of the request they keep. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoApp, demoApp } from './demo-app.ts';

let demo: DemoApp;
beforeAll(async () => {
  demo = await demoApp();
});
afterAll(() => demo.close());

interface Page {
  readonly links: ReadonlyMap<string, string>;
  readonly ids: readonly string[];
}

const page = async (path: string, init: RequestInit = {}): Promise<Page> => {
  const response = await demo.app.request(path, init);
  expect(response.status).toBe(200);
  const { link, entry = [] } = (await response.json()) as {
    link: readonly { relation: string; url: string }[];
    entry?: readonly { readonly resource: { readonly id: string } }[];
  };
  return {
    links: new Map(link.map(({ relation, url }) => [relation, url.replace(/^http:\/\/[^/]+/, '')])),
    ids: entry.map(({ resource }) => resource.id),
  };
};

const links = async (path: string): Promise<Page['links']> => (await page(path)).links;

const posted = (body: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body,
});

/** The pages of a search, by their `next` links. */
async function pagesFrom(first: Page): Promise<readonly Page[]> {
  const pages = [first];
  for (let next = first.links.get('next'); next !== undefined; next = pages.at(-1)?.links.get('next'))
    pages.push(await page(next));
  return pages;
}

test.each([
  '/fhir/Patient?_count=1&_format=json&_pretty=true',
  '/fhir/Patient?_format=json&_count=1&_pretty=true',
  '/fhir?_type=Patient&_count=1&_format=json&_pretty=true',
])('%s: the next page has the format of the first', async path => {
  const next = (await links(path)).get('next') ?? '';
  expect(next).toContain('_format=json');
  const response = await demo.app.request(next, { headers: { accept: 'application/fhir+xml' } });
  expect(response.headers.get('content-type')).toContain('json');
  expect(await response.text()).toContain('\n  "');
  expect((await links(next)).get('self')).toContain('_format=json&_pretty=true');
});

// HL7's validator compares the types of a self link with the entries, and splits the text as it stands.
test.each([
  '/fhir?_type=Patient,Condition&_count=1&_sort=-_lastUpdated,_id',
  '/fhir/Patient/1/*?_type=Condition,Procedure&_count=1',
  '/fhir/Patient?_id=1,2&_elements=id,name&_count=1',
])('%s: links separate values by a comma, as FHIR writes it', async path => {
  const found = await links(path);
  for (const name of ['self', 'next']) expect(found.get(name)).toContain(path.slice(0, path.indexOf('&')));
  const [, sorted = ''] = /_sort=([^&]+)|$/.exec(path) ?? [];
  expect(found.get('self')).toContain(sorted);
  expect((await links(found.get('next') ?? '')).get('first')).toBe(found.get('self'));
});

test('a link of a body of control characters, which JSON writes six times as long, can be followed', async () => {
  const body = Array.from({ length: 62 }, () => `name=${'\x01'.repeat(4000)}`).join('&');
  const first = await page('/fhir/Patient/_search', posted(body));
  const self = first.links.get('self') ?? '';
  expect(self).toContain('_sealed=');
  expect((await page(self)).ids).toEqual(first.ids);
});

test('a page link works in another format', async () => {
  const next = (await links('/fhir/Patient?_count=1&_format=json')).get('next') ?? '';
  const response = await demo.app.request(next.replace('_format=json', '_format=xml'));
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/fhir+xml; charset=utf-8']);
});

describe('a search that came in a body', () => {
  /** Long enough not to occur by chance in a sealed text, as a year of four digits once did. */
  const SHOWN = /1930-01-01|lt2090|birthdate|_id=|_type/;
  const BODY = 'birthdate=ge1930-01-01&birthdate=lt2090&_count=1&_sort=birthdate&_pretty=false';

  test.each([
    ['/fhir/Patient/_search', BODY],
    ['/fhir/_search', '_type=Patient,Practitioner&_id=1,2,3,4,5,6&_count=1'],
    ['/fhir/Patient/1/Observation/_search', 'date=ge1930-01-01&_count=40'],
  ])('%s: no link shows the values, and all give the pages of the GET search', async (path, body) => {
    const pages = await pagesFrom(await page(path, posted(body)));
    const plain = await pagesFrom(await page(`${path.replace('/_search', '')}?${body}`));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.map(({ ids }) => ids)).toEqual(plain.map(({ ids }) => ids));
    const all = pages.flatMap(one => [...one.links.values()]);
    expect(all.join('\n')).not.toMatch(SHOWN);
    const self = pages[0]?.links.get('self') ?? '';
    expect((await page(self)).ids).toEqual(plain[0]?.ids);
    expect((await page(self)).links.get('self')).not.toMatch(SHOWN);
  });

  test('the link of a list too long for a URL is short enough', async () => {
    const ids = Array.from(
      { length: 480 },
      (_, i) => `6f9619ff-8b86-d011-b42d-00cf4fc9${(i * 7919).toString(16).padStart(4, '0')}`,
    );
    const body = `_id=1,2,3,${ids.join()}&_count=2`;
    const pages = await pagesFrom(await page('/fhir/Patient/_search', posted(body)));
    expect(pages.flatMap(one => one.ids)).toEqual(['1', '2', '3']);
    expect(Math.max(...pages.flatMap(one => [...one.links.values()]).map(url => url.length))).toBeLessThan(5000);
  });

  test('incompressible values are stored here, and their loss is reported', async () => {
    const random = Array.from({ length: 490 }, (_, i) =>
      createHash('sha256').update(`${i}`).digest('hex').slice(0, 36),
    );
    const body = `_id=1,2,3,${random.join()}&_count=2`;
    const { links: kept } = await page('/fhir/Patient/_search', posted(body));
    expect(kept.get('next')?.length).toBeLessThan(500);
    expect((await page(kept.get('next') ?? '')).ids).toEqual(['3']);
    const gone = await demo.app.request((kept.get('self') ?? '').slice(0, -1));
    expect([gone.status, await gone.text()]).toEqual([410, expect.stringContaining('send the search again')]);
  });

  test('a link that was changed is refused, and repeats nothing', async () => {
    const { links: sealed } = await page('/fhir/Patient/_search', posted(BODY));
    const response = await demo.app.request((sealed.get('self') ?? '').replace('_sealed=s', '_sealed=sA'));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('not valid here');
  });
});

describe('links back', () => {
  test.each([
    '/fhir/Patient?_count=1',
    '/fhir/Patient?_count=1&_sort=-birthdate',
    '/fhir?_type=Patient,Group&_count=2',
  ])('%s: each page links to the same previous page', async path => {
    const pages = await pagesFrom(await page(path));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages[0]?.links.has('previous')).toBe(false);
    let at = pages.length - 1;
    for (let here = pages[at]; here?.links.has('previous'); at--) {
      expect(here.links.get('first')).toBe(pages[0]?.links.get('self'));
      here = await page(here.links.get('previous') ?? '');
      expect(here.ids).toEqual(pages[at - 1]?.ids);
    }
    expect(at).toBe(0);
  });

  test('are bounded: beyond twenty pages they lead to the first', async () => {
    const pages = await pagesFrom(await page('/fhir/Observation?patient=1&_count=10&_elements=id'));
    expect(pages.length).toBeGreaterThan(25);
    let back = 0;
    let here = pages.at(-1);
    for (; here?.links.has('previous'); back++) here = await page(here.links.get('previous') ?? '');
    expect(back).toBe(20);
    expect((await page(here?.links.get('first') ?? '')).ids).toEqual(pages[0]?.ids);
    expect(Math.max(...pages.map(one => one.links.get('next')?.length ?? 0))).toBeLessThan(2500);
  });
});
