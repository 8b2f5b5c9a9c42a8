/** Documents of twenty years of data, streamed over a real connection. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentPage } from '../../src/ccda/page.ts';
import type { Facade } from '../../src/facade.ts';
import { CHART_PATH } from '../../src/http/pages/chart-address.ts';
import { listen, type RunningServer } from '../../src/http/server/server.ts';
import { createRooms } from '../../src/pipeline/session.ts';
import { DatabaseError } from '../../src/sql/database.ts';
import { type DemoDocuments, type MadeDocument, openDemoDocuments } from '../ccda/demo-documents.ts';
import { type RestUnderTest, restUnderTest } from './rest-under-test.ts';

const PATH = '/api/6/ccds/api/all-patient-data';

let demo: DemoDocuments;
let made: MadeDocument;
let rest: RestUnderTest;
let server: RunningServer;
let cookie: string;
beforeAll(async () => {
  demo = await openDemoDocuments(6);
  made = await demo.make('all-patient-data', 6);
  rest = await restUnderTest(demo.facade);
  cookie = (await rest.client()).cookie ?? '';
  server = await listen(rest.app, { host: '127.0.0.1', port: 0, drain: 1000 });
});
afterAll(async () => {
  await server.close();
  await demo.close();
});

const get = (headers: Readonly<Record<string, string>>, init: RequestInit = {}): Promise<Response> =>
  fetch(`${server.url}${PATH}`, { ...init, headers: { cookie, ...headers } });

/** The document without its own time. */
const timeless = (text: string): string => text.replaceAll(/<effectiveTime value="\d{14}[+-]\d{4}"\/>/g, '');

test.each(['identity', 'gzip', 'br'])('a large document in %s is complete, without Content-Length', async coding => {
  expect(made.xml.length).toBeGreaterThan(2_000_000);
  const response = await get({ 'accept-encoding': coding });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-length')).toBeNull();
  expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  expect(response.headers.get('content-encoding')).toBe(coding === 'identity' ? null : coding);
  expect(response.headers.get('vary')).toContain('Accept-Encoding');
  expect(response.headers.get('cache-control')).toBe('no-store');
  const text = await response.text();
  expect(text.length).toBe(made.xml.length);
  expect(timeless(text) === timeless(made.xml)).toBe(true);
});

test('a large page is complete', async () => {
  const text = await (await get({ accept: 'text/html' })).text();
  expect(text.endsWith('</html>\n')).toBe(true);
  const links = { chart: `${server.url}/api${CHART_PATH}/6`, xml: `${server.url}${PATH}?_format=xml` };
  expect(text.length).toBe([...documentPage(made.document, links)].join('').length);
});

test('a small document has Content-Length', async () => {
  const response = await fetch(`${server.url}/api/2/ccds/api/problems`, {
    headers: { cookie, 'accept-encoding': 'identity' },
  });
  expect(Number(response.headers.get('content-length'))).toBe((await response.arrayBuffer()).byteLength);
});

test('HEAD of a large document has its headers and no body', async () => {
  const response = await get({ 'accept-encoding': 'gzip' }, { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  expect(await response.text()).toBe('');
});

test('a client that disconnects midway is no error, and others are answered', async () => {
  const abort = new AbortController();
  const response = await get({ 'accept-encoding': 'identity' }, { signal: abort.signal });
  await response.body?.getReader().read();
  abort.abort();
  expect((await get({})).status).toBe(200);
  expect(rest.lines.join('\n')).not.toMatch(/broke off|unexpected|"level":"error"/);
});

test('a database failure at any search gives 503 in JSON, never a partial document', {}, async () => {
  let searches = 0;
  let failing = Number.POSITIVE_INFINITY;
  const searchPages: Facade['searchPages'] = async function* (request, context) {
    for await (const page of demo.facade.searchPages(request, context)) {
      if (++searches > failing) throw new DatabaseError('unavailable', 'no connection');
      yield page;
    }
  };
  const under = await restUnderTest({ ...demo.facade, searchPages });
  const client = await under.client();
  expect((await client.get(PATH)).status).toBe(200);
  const all = searches;
  expect(all).toBeGreaterThan(30);
  for (const at of [0, 1, 2, Math.floor(all / 2), all - 2, all - 1]) {
    searches = 0;
    failing = at;
    const { status, body } = await client.json(PATH);
    expect({ at, status, body }).toMatchObject({ at, status: 503, body: { error: 'unavailable' } });
  }
});

test('a document beyond the bound is refused as JSON that says what to ask for, and as a page', async () => {
  const bounded = await restUnderTest({ ...demo.facade, room: createRooms(500_000) });
  const client = await bounded.client();
  expect(await client.json(PATH)).toMatchObject({
    status: 413,
    body: { error: 'too-large', message: expect.stringMatching(/fewer days.*ANSWER_SIZE/) },
  });
  const page = await client.get(PATH, { accept: 'text/html' });
  expect([page.status, await page.text()]).toEqual([413, expect.stringContaining('ask for fewer days')]);
  expect((await client.get(`${PATH}?date=2024-03-01`)).status).toBe(200);
});
