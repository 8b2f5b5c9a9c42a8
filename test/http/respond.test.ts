import { expect, test } from 'vitest';
import { appUnderTest } from './app-under-test.ts';

const { app } = appUnderTest();
const read = (headers: Record<string, string>) => app.request('/fhir/Widget/1', { headers });

test('a read has an ETag and Last-Modified in whole seconds', async () => {
  const { headers } = await read({});
  expect(headers.get('etag')).toMatch(/^W\/"[\w-]{22}"$/);
  expect(headers.get('last-modified')).toBe('Sun, 10 Mar 2024 07:30:00 GMT');
});

test('If-None-Match with the same ETag, also weak or in a list, is 304 without a body', async () => {
  const etag = (await read({})).headers.get('etag') ?? '';
  for (const match of [etag, etag.replace('W/', ''), `"a", ${etag}`, '*']) {
    const response = await read({ 'if-none-match': match });
    expect(response.status).toBe(304);
    expect(response.headers.get('etag')).toBe(etag);
    expect(await response.text()).toBe('');
  }
  expect((await read({ 'if-none-match': '"other"' })).status).toBe(200);
});

test('If-Modified-Since is 304 from the second of the change, and only without If-None-Match', async () => {
  expect((await read({ 'if-modified-since': 'Sun, 10 Mar 2024 07:30:00 GMT' })).status).toBe(304);
  expect((await read({ 'if-modified-since': 'Sun, 10 Mar 2024 07:29:59 GMT' })).status).toBe(200);
  for (const noDate of ['yesterday', '2030-01-01', '2030', 'Mon, 10 Mar 2030 07:30:00 GMT'])
    expect((await read({ 'if-modified-since': noDate })).status).toBe(200);
  const both = { 'if-modified-since': 'Sun, 10 Mar 2024 07:30:00 GMT', 'if-none-match': '"other"' };
  expect((await read(both)).status).toBe(200);
});

test('without a time of change there is no Last-Modified, and If-Modified-Since is ignored', async () => {
  const { app: timeless } = appUnderTest({}, { read: async (type, id) => ({ type, id, json: '{}' }) });
  const response = await timeless.request('/fhir/Widget/1', {
    headers: { 'if-modified-since': 'Sun, 10 Mar 2999 07:30:00 GMT' },
  });
  expect(response.status).toBe(200);
  expect(response.headers.has('last-modified')).toBe(false);
});

test('_pretty takes true and false only', async () => {
  expect((await app.request('/fhir/Widget?_pretty=yes')).status).toBe(400);
  expect((await app.request('/fhir/Widget?_pretty=false')).status).toBe(200);
});

test('an unsupported representation is 406, in JSON', async () => {
  const response = await app.request('/fhir/Widget/1', { headers: { accept: 'text/turtle' } });
  expect(response.status).toBe(406);
  expect(response.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
  expect(((await response.json()) as { resourceType: string }).resourceType).toBe('OperationOutcome');
});

test('XML is sent on request, also for errors', async () => {
  const patient = '{"resourceType":"Patient","id":"1","name":[{"family":"Müller & Söhne"}]}';
  const { app: clinic } = appUnderTest(
    {},
    { read: async (type, id) => (id === '1' ? { type, id, json: patient } : undefined) },
  );
  const found = await clinic.request('/fhir/Widget/1', { headers: { accept: 'application/fhir+xml' } });
  expect(found.headers.get('content-type')).toBe('application/fhir+xml; charset=utf-8');
  expect(await found.text()).toContain('<family value="Müller &amp; Söhne"/>');
  const missing = await clinic.request('/fhir/Widget/2?_format=xml');
  expect(missing.status).toBe(404);
  expect(await missing.text()).toMatch(/^<\?xml[^>]*><OperationOutcome /);
});

test('JSON and XML of one resource have the same ETag, and Vary distinguishes them', async () => {
  const patient = '{"resourceType":"Patient","id":"1"}';
  const { app: clinic } = appUnderTest({}, { read: async (type, id) => ({ type, id, json: patient }) });
  const json = await clinic.request('/fhir/Widget/1?_format=json');
  const xml = await clinic.request('/fhir/Widget/1?_format=xml');
  expect(xml.headers.get('etag')).toBe(json.headers.get('etag'));
  expect(xml.headers.get('vary')).toMatch(/\bAccept\b/);
});
