/**
 * Malicious requests to the REST interface by a logged-in user: a clear answer, never a 500, and none of their text in
 * the log.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CANARY, hostileText } from '../http/hostile-texts.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { runsOf } from '../share.ts';
import { type Client, type RestUnderTest, restUnderTest } from './rest-under-test.ts';

let demo: Demo;
let rest: RestUnderTest;
let client: Client;
beforeAll(async () => {
  demo = await openDemo({ patients: 3 });
  rest = await restUnderTest(demo.facade);
  client = await rest.client();
});
afterAll(() => demo.close());

test.each(['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty'])(
  '%s is refused as patient, topic and encounter',
  async name => {
    for (const [path, status] of [
      [`/api/1/ccds/api/${name}`, 404],
      [`/api/${name}/ccds/api/all-patient-data`, 400],
      [`/api/${name}/ccds/api/list-encounters`, 400],
      [`/api/1/ccds/api/encounter-ccds?encounterId=${name}`, 400],
      [`/api/patientinfo/${name}`, 400],
      [`/api/users/${name}`, 404],
      [`/api/${name}`, 404],
    ] as const) {
      expect([path, (await client.get(path)).status]).toEqual([path, status]);
    }
  },
);

const PATHS = [
  (text: string) => `/api/patientinfo/${text}`,
  (text: string) => `/api/${text}/ccds/api/all-patient-data`,
  (text: string) => `/api/1/ccds/api/${text}`,
  (text: string) => `/api/1/ccds/api/all-patient-data?date=${text}`,
  (text: string) => `/api/1/ccds/api/all-patient-data?rangeStart=${text}&rangeEnd=${text}`,
  (text: string) => `/api/1/ccds/api/encounter-ccds?encounterId=${text}`,
  (text: string) => `/api/patientsummary?search=${text}`,
  (text: string) => `/api/patientinfo/patient/id?lastName=${text}&firstName=${text}`,
  (text: string) => `/api/patientinfo/patient/id?dob=${text}&sex=${text}`,
];

test.each([
  // The search covers both apostrophes and escapes separators: a value within FHIR's limit exceeds it then.
  ['/api/patientinfo/patient/id?firstName=A&lastName=', `O'${'|'.repeat(1500)}`],
  ['/api/patientsummary?search=', `O'${'x'.repeat(2500)}`],
  // Record numbers are also searched with leading zeros.
  ['/api/patientsummary?search=', '7'.repeat(3900)],
])('%s with an overlong text is refused', async (path, text) => {
  expect((await client.get(path + encodeURIComponent(text))).status).toBe(400);
  expect((await client.get(path + encodeURIComponent(text.slice(0, 200)))).status).not.toBe(500);
});

test.each(['firstName', 'lastName', 'lastName=A&firstName'])('a lone accent matches nobody’s %s', async name => {
  expect((await client.get(`/api/patientinfo/patient/id?${name}=%CC%81`)).status).toBe(404);
});

test('any text in any place is answered or refused clearly, with nothing of it in the log', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PATHS), hostileText, async (path, text) => {
      rest.lines.length = 0;
      const response = await client.get(path(encodeURIComponent(text)));
      await response.text();
      expect([200, 400, 404, 409, 414]).toContain(response.status);
      expect(rest.lines.join('\n')).not.toContain(CANARY);
      expect(rest.lines.join('\n')).not.toContain('unexpected');
    }),
    { numRuns: runsOf(300) },
  );
});

test('a malicious login is refused, and not logged', async () => {
  await fc.assert(
    fc.asyncProperty(hostileText, hostileText, async (username, password) => {
      rest.lines.length = 0;
      const response = await client.post('/api/users/login', new URLSearchParams({ username, password }));
      expect([400, 401, 413, 429]).toContain(response.status);
      expect(rest.lines.join('\n')).not.toContain(CANARY);
    }),
    { numRuns: 20 },
  );
});
