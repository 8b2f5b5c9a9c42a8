/** Pages for people: FHIR answers as HTML, the search form, SQL and lineage. */
import { expect, test } from 'vitest';
import { negotiate } from '../../src/http/middleware/negotiate.ts';
import { resourcePage } from '../../src/http/pages/resource-page.ts';
import { clinic, served } from '../export/exporting.ts';
import { appUnderTest } from './app-under-test.ts';

const CHROME = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PLACE = { base: 'http://x/fhir', self: 'http://x/fhir/Widget/1', explain: undefined };

test.each([
  [CHROME, 'html'],
  [FIREFOX, 'html'],
  // Java's HttpURLConnection, curl, fetch, and a client that lists FHIR first.
  ['text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2', 'json'],
  ['*/*', 'json'],
  ['application/fhir+json, text/html;q=0.9, application/xhtml+xml;q=0.9', 'json'],
  ['application/fhir+xml, text/html, application/xhtml+xml', 'xml'],
])('Accept %s gives %s', (accept, format) => {
  expect(negotiate(undefined, accept)).toBe(format);
});

test('_format=html gives a page to any client, and other formats work in a browser', () => {
  expect(negotiate('html', '*/*')).toBe('html');
  expect(negotiate('text/html', undefined)).toBe('html');
  expect(negotiate('json', CHROME)).toBe('json');
});

test('a read in a browser is a page without scripts, with texts escaped and digits kept', async () => {
  const { app } = appUnderTest();
  const response = await app.request('http://localhost:3000/fhir/Widget/1', { headers: { accept: CHROME } });
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
  expect(response.headers.get('vary')).toContain('Accept');
  const page = await response.text();
  expect(page).toContain('Zoë &lt;b&gt;');
  expect(page).not.toMatch(/<script|<b>/);
  expect(page).toContain('<dt>weight</dt><dd>1.50</dd>');
  expect(page).toContain('&quot;weight&quot;: 1.50');
  const program = await app.request('http://localhost:3000/fhir/Widget/1');
  expect(program.headers.get('content-type')).toMatch(/^application\/fhir\+json/);
});

test('an error in a browser is a page with the same status', async () => {
  const { app } = appUnderTest();
  const response = await app.request('http://localhost:3000/fhir/Widget/2', { headers: { accept: CHROME } });
  expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  expect(await response.text()).toContain('No Widget has this id');
});

test.each(['/nowhere/x?a=b', '/explain?q=x', '/fhirs/Widget'])(
  'the page of an error outside of FHIR links to the start page only: %s',
  async path => {
    const { app } = appUnderTest();
    const response = await app.request(`http://localhost:3000${path}`, { headers: { accept: CHROME } });
    expect(response.status).toBeGreaterThanOrEqual(400);
    const [way = ''] = /<nav.*<\/nav>/.exec(await response.text()) ?? [];
    expect([...way.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual(['http://localhost:3000/']);
  },
);

test('a page outside of the hierarchy has no breadcrumbs', async () => {
  const { app } = appUnderTest();
  const response = await app.request('http://rebound.example/fhir/Widget/1', { headers: { accept: CHROME } });
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(response.status).toBe(421);
  expect(await response.text()).not.toContain('<nav');
});

test('a path that is not percent-encoded UTF-8 is an error with a page, too', async () => {
  const { app } = appUnderTest();
  for (const path of ['Widget/%C0%AF', '%ff']) {
    const response = await app.request(`http://localhost:3000/fhir/${path}`, { headers: { accept: CHROME } });
    expect([path, response.status, response.headers.get('content-type')]).toEqual([
      path,
      404,
      'text/html; charset=utf-8',
    ]);
  }
});

test('only references to resources of this server are links', () => {
  const page = resourcePage(
    JSON.stringify({
      resourceType: 'Widget',
      id: '1',
      maker: { reference: 'Organization/a-1', display: 'Maker & sons' },
      other: { reference: 'http://x/fhir/Organization/2' },
      foreign: { reference: 'http://evil.example.org/fhir/Organization/3' },
      script: { reference: 'javascript:alert(1)' },
      photo: [{ url: 'http://evil.example.org/p.png' }],
    }),
    PLACE,
  );
  expect(page).toContain('<a href="http://x/fhir/Organization/a-1">Maker &amp; sons</a>');
  expect(page).toContain('<a href="http://x/fhir/Organization/2">');
  expect(page).not.toMatch(/href="(?:http:\/\/evil|javascript)/);
});

test('a search in a browser lists what was found, with its next page, and its SQL without the values of the search', async () => {
  const where = clinic(30);
  const { fhir } = await served(where);
  const response = await fetch(`${fhir}/Patient?_count=2&_id=1,2,3`, { headers: { accept: CHROME } });
  const page = await response.text();
  expect(page.match(/<details class="entry"/g)).toHaveLength(2);
  const next = /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const second = await (await fetch(next, { headers: { accept: CHROME } })).text();
  expect(second.match(/<details class="entry"/g)).toHaveLength(1);
  const explain = /href="([^"]+)">SQL and lineage/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const explained = await (await fetch(explain, { headers: { accept: CHROME } })).text();
  expect(explained).toContain('SELECT');
  expect(explained).toContain('Where each element comes from');
  const named = await fetch(
    `${fhir.replace(/fhir$/, 'explain')}?${new URLSearchParams({ query: 'Patient?family=Kowalsky' })}`,
  );
  expect(await named.text()).not.toMatch(/kowalsky<|= &quot;kowalsky/i);
  // A cached answer is shown as a page again.
  const again = await fetch(`${fhir}/Patient?_count=2&_id=1,2,3`, { headers: { accept: CHROME } });
  expect(again.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(again.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
});

test('the form of a type sends a search with its non-empty fields', async () => {
  const { app } = appUnderTest();
  const form = await (await app.request('http://localhost:3000/search/Widget')).text();
  expect(form).toContain('<input name="maker"');
  const sent = await app.request('http://localhost:3000/search/Widget?name=a%26b&maker=&_count=+');
  expect([sent.status, sent.headers.get('location')]).toEqual([303, 'http://localhost:3000/fhir/Widget?name=a%26b']);
  expect((await app.request('http://localhost:3000/search/Nothing')).status).toBe(404);
});

test('exports are listed on the start page, and buttons pause, resume and remove them', async () => {
  const { fhir } = await served(clinic(200));
  const home = fhir.replace(/fhir$/, '');
  await fetch(`${fhir}/$export`);
  const page = await (await fetch(home, { headers: { accept: CHROME } })).text();
  const [, action = ''] = /action="([^"]*\$cancel-job[^"]*)"/.exec(page) ?? [];
  const gone = await fetch(action, {
    method: 'POST',
    headers: { accept: CHROME, 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  });
  expect([gone.status, gone.headers.get('content-type')]).toEqual([202, 'text/html; charset=utf-8']);
  expect(await (await fetch(home, { headers: { accept: CHROME } })).text()).not.toContain('$cancel-job');
  const data = (await (await fetch(home)).json()) as { software: string; database: { milliseconds: number } };
  expect(data.software).toMatch(/^\d+\.\d+/);
  expect(data.database.milliseconds).toBeGreaterThanOrEqual(0);
});
