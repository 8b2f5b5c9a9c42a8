/**
 * Links of a page: what they keep of the request.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoApp, demoApp } from './demo-app.ts';

let demo: DemoApp;
beforeAll(async () => {
  demo = await demoApp();
});
afterAll(() => demo.close());

const links = async (path: string, init: RequestInit = {}): Promise<ReadonlyMap<string, string>> => {
  const text = await (await demo.app.request(path, init)).text();
  const { link } = JSON.parse(text) as { link: readonly { relation: string; url: string }[] };
  return new Map(link.map(({ relation, url }) => [relation, url.replace(/^http:\/\/[^/]+/, '')]));
};

test.each([
  '/fhir/Patient?_count=1&_format=json&_pretty=true',
  '/fhir/Patient?_format=json&_count=1&_pretty=true',
  '/fhir?_type=Patient&_count=1&_format=json&_pretty=true',
])('%s: the next page is written as the first was', async path => {
  const next = (await links(path)).get('next') ?? '';
  expect(next).toContain('_format=json');
  const response = await demo.app.request(next, { headers: { accept: 'application/fhir+xml' } });
  expect(response.headers.get('content-type')).toContain('json');
  expect(await response.text()).toContain('\n  "');
  expect((await links(next)).get('self')).toContain('_format=json&_pretty=true');
});

test('a page link opens in another form than it was made in', async () => {
  const next = (await links('/fhir/Patient?_count=1&_format=json')).get('next') ?? '';
  const response = await demo.app.request(next.replace('_format=json', '_format=xml'));
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/fhir+xml; charset=utf-8']);
});
