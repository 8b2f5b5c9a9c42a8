/**
 * URLs of operations with `%24` for `$`, as encodeURIComponent and other URL builders write it, reach the same
 * operation.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DemoApp, demoApp } from './demo-app.ts';

let demo: DemoApp;
beforeAll(async () => {
  demo = await demoApp();
});
afterAll(() => demo.close());

const parameters = JSON.stringify({
  resourceType: 'Parameters',
  parameter: [{ name: 'patient', valueId: '1' }],
});
const POST: RequestInit = { method: 'POST', headers: { 'content-type': 'application/fhir+json' } };

test.each<readonly [path: string, init: RequestInit]>([
  ['/fhir/Patient/1/$everything?_count=1', {}],
  ['/fhir/Patient/1/$everything?_count=1', POST],
  ['/fhir/Patient/$everything', {}],
  ['/fhir/DocumentReference/$docref?patient=1', {}],
  ['/fhir/DocumentReference/$docref', { ...POST, body: parameters }],
  ['/fhir/Patient/1/$ccd', {}],
  ['/fhir/$no-such', {}],
])('%s with an encoded dollar is the same', async (path, init) => {
  const [plain, encoded] = [path, path.replace('$', '%24')].map(address => demo.app.request(address, init));
  const [expected, given] = [await plain, await encoded];
  expect(given?.status).toBe(expected?.status);
  const [wanted, got] = [await expected?.json(), await given?.json()] as { resourceType: string; total?: number }[];
  expect([got?.resourceType, got?.total]).toEqual([wanted?.resourceType, wanted?.total]);
});

test('an operation with %24 is answered within a batch, too', async () => {
  const entry = ['GET', 'POST'].map(method => ({ request: { method, url: 'Patient/1/%24everything?_count=1' } }));
  const body = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry });
  const response = await demo.app.request('/fhir', { ...POST, body });
  const answered = (await response.json()) as { entry: readonly { response: { status: string } }[] };
  expect(answered.entry.map(one => one.response.status)).toEqual(['200 OK', '200 OK']);
});
