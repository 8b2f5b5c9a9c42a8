import { expect, test } from 'vitest';
import { NO_ACCESS } from '../../src/auth/access.ts';
import { sampleRequests } from '../../src/http/pages/samples.ts';
import { appUnderTest } from './app-under-test.ts';

const HTML = { headers: { accept: 'text/html,*/*;q=0.8' } };

test('a person gets a page that names the base URL, every type and the state of the mappings', async () => {
  const response = await appUnderTest().app.request('http://localhost:3000/', HTML);
  expect(response.headers.get('content-type')).toMatch(/^text\/html/);
  const page = await response.text();
  expect(page).toContain('<code><b>http://localhost:3000/fhir</b></code>');
  expect(page).toContain('>Widget</a>');
  expect(page).toContain('>Gadget</a>');
  expect(page).toContain('abc123');
});

test('text of the pack is escaped, and the page may load and run nothing', async () => {
  const served = {
    pack: { name: 'x', title: '<script>alert(1)</script>', version: '1' },
    mappings: 1,
    warnings: ['<img src=x>'],
  };
  const response = await appUnderTest({}, { served }).app.request('/', HTML);
  const page = await response.text();
  expect(page).not.toMatch(/<script|<img/);
  expect(page).toContain('&lt;img src=x&gt;');
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
});

test('every link of the page works', async () => {
  const { app } = appUnderTest();
  const page = await (await app.request('http://localhost:3000/', HTML)).text();
  const links = [...page.matchAll(/href="(http:\/\/localhost[^"]*)"/g)].map(match =>
    (match[1] ?? '').replaceAll('&amp;', '&'),
  );
  expect(links.length).toBeGreaterThanOrEqual(4);
  for (const link of links) expect((await app.request(link)).status).toBe(200);
});

test('a program gets the same as JSON', async () => {
  const { app } = appUnderTest();
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
    const response = await app.request('http://localhost:3000/', { headers });
    expect(await response.json()).toMatchObject({
      fhir: 'http://localhost:3000/fhir',
      pack: { name: 'workshop' },
      types: [{ type: 'Widget', parameters: ['name', 'maker'] }, { type: 'Gadget' }, { type: 'Binary' }],
    });
  }
});

test('example requests are a patient search and the coded patient type with most mappings', () => {
  const counts = { Organization: 4, Provenance: 5, Goal: 1, Observation: 3, Condition: 2, Patient: 2 };
  const registry = {
    types: Object.keys(counts),
    ofType: (type: string) => Array.from({ length: counts[type as keyof typeof counts] }),
  };
  const offered = new Set(['Organization?code', 'Provenance?patient', 'Goal?patient']);
  for (const type of ['Observation', 'Condition']) offered.add(`${type}?patient`).add(`${type}?code`);
  const offers = { find: (type: string, code: string) => (offered.has(`${type}?${code}`) ? {} : undefined) };
  expect(sampleRequests('http://x/fhir', { registry, offers }).map(({ url }) => url)).toEqual([
    'http://x/fhir/Patient?_count=2',
    'http://x/fhir/Observation?_count=3&_include=Observation:patient',
    'http://x/fhir/metadata',
  ]);
  const nothing = { types: [], ofType: () => [] };
  expect(sampleRequests('http://x/fhir', { registry: nothing, offers }).map(({ url }) => url)).toEqual([
    'http://x/fhir/metadata',
  ]);
});

test('every problem of refused mappings is shown, escaped, with the version still served', async () => {
  const problems = Array.from({ length: 12 }, (_, i) => `a.yaml:${i + 1}:1: unknown column <${i}>`);
  const served = {
    pack: { name: 'x', title: 'X', version: 'abc123' },
    mappings: 1,
    warnings: [],
    refused: () => ({ at: '2026-03-10T12:00:00.000Z', problems }),
  };
  const { app } = appUnderTest({}, { served });
  const page = await (await app.request('/', HTML)).text();
  for (const [i] of problems.entries()) expect(page).toContain(`a.yaml:${i + 1}:1: unknown column &lt;${i}&gt;`);
  expect(page).toMatch(/2 more[\s\S]*a\.yaml:11:1/);
  expect(page).toContain('<code>abc123</code> goes on answering');
  expect(await (await app.request('/')).json()).toMatchObject({ refused: { problems } });
  expect((await app.request('/ready')).status).toBe(200);
  expect(await (await app.request('/ready')).json()).toMatchObject({ status: 'ok', warnings: [expect.any(String)] });
});

test('if reading needs a token, the page says how to get one, and hides the server state', async () => {
  const entry = { known: () => undefined, toExport: () => NO_ACCESS, decide: async () => undefined };
  const served = {
    pack: { name: 'x', title: 'X', version: 'abc123' },
    mappings: 1,
    warnings: ['a.yaml:1:1: a warning'],
    refused: () => ({ at: '2026-03-10T12:00:00.000Z', problems: ['a.yaml:2:1: unknown column'] }),
  };
  const authorization = { configuration: async () => ({}), endpoints: async () => undefined };
  const { app } = appUnderTest({}, { entry, served, authorization });
  const response = await app.request('http://localhost:3000/', HTML);
  expect(response.status).toBe(200);
  const page = await response.text();
  expect(page).toContain('href="http://localhost:3000/fhir/.well-known/smart-configuration"');
  expect(page).toContain('Authorization: Bearer $TOKEN');
  expect(page).not.toMatch(/a\.yaml|answers in|href="[^"]*\/search\//);
  const told = await (await app.request('/')).json();
  expect(Object.keys(told).toSorted()).toEqual(['discovery', 'fhir', 'mappings', 'pack', 'samples', 'types']);
  // If no apps are launched, the CapabilityStatement is the discovery document.
  const other = appUnderTest({}, { entry, served });
  expect(await (await other.app.request('/')).json()).toMatchObject({ discovery: 'http://localhost/fhir/metadata' });
});
