/** Tests how a kick-off treats parameters that are nearly right. */
import { expect, test } from 'vitest';
import {
  ASYNC,
  clinic,
  contents,
  finished,
  kickOff,
  LENIENT,
  type Manifest,
  served,
  serverOfFile,
} from './exporting.ts';

const shared = serverOfFile();

async function errorsOf({ error }: Manifest): Promise<readonly string[]> {
  const text = error[0] ? await (await fetch(error[0].url)).text() : '';
  return text
    .split('\n')
    .filter(line => line !== '')
    .map(line => (JSON.parse(line) as { issue: [{ diagnostics: string }] }).issue[0].diagnostics);
}

test('an invalid instant is refused at once, and so is a second one', async () => {
  const { fhir } = await shared();
  const statusOf = async (query: string): Promise<number> =>
    (await fetch(`${fhir}/$export?_type=Observation&${query}`, { headers: ASYNC })).status;
  for (const wrong of [
    '_since=2024-02-30',
    '_since=2023-02-29T10:00:00Z',
    '_until=2024-01-01T24:00:00Z',
    '_since=2024-01-01T10:00:00%2B15:00',
    '_since=2024-01-01T10:00:00Z&_since=2024-02-01T10:00:00Z',
    '_until=2024-01-01T10:00:00Z&_until=2024-01-01T10:00:00Z',
  ]) {
    expect(await statusOf(wrong), wrong).toBe(400);
  }
  for (const right of [
    '_since=2024-02-29',
    '_since=2016-12-31T23:59:60Z',
    '_until=2024-01-01T10:00:00.123456789-09:30',
  ])
    expect(await statusOf(right), right).toBe(202);
});

test('_until before _since is refused, in any time zones', async () => {
  const { fhir } = await shared();
  const kicked = (query: string): Promise<Response> =>
    fetch(`${fhir}/$export?_type=Observation&${query}`, { headers: ASYNC });
  for (const empty of [
    '_since=2024-12-02&_until=2024-12-01',
    '_until=2024-12-01T09:00:00Z&_since=2024-12-01T09:00:01Z',
    '_since=2024-12-01T09:00:00Z&_until=2024-12-01T09:59:59%2B01:00',
  ]) {
    const answer = await kicked(empty);
    expect(answer.status, empty).toBe(400);
    expect(await answer.json()).toMatchObject({
      resourceType: 'OperationOutcome',
      issue: [{ code: 'value', diagnostics: 'parameter _until expects an instant that is not before _since' }],
    });
  }
  for (const right of [
    '_since=2024-12-01&_until=2024-12-01',
    '_since=2024-12-01T09:00:00Z&_until=2024-12-01T10:00:00%2B01:00',
  ])
    expect((await kicked(right)).status, right).toBe(202);
});

test('_since and _until include their own instant, in any time zone', async () => {
  const where = clinic(5, 1);
  // Local times of Warsaw in winter.
  where.change(`UPDATE WEIGHING SET UPD = '2024-12-01 10:00:00.0' || NO || '0'`);
  const { fhir } = await served(where);
  const found = async (query: string): Promise<readonly string[]> =>
    contents(await finished(await kickOff(`${fhir}/$export?_type=Observation&${query}`)));
  const from = ['Observation/w-3', 'Observation/w-4', 'Observation/w-5'];
  expect(await found('_since=2024-12-01T09:00:00.030Z')).toEqual(from);
  expect(await found('_since=2024-12-01T10:00:00.030%2B01:00')).toEqual(from);
  expect(await found('_since=2024-12-01T04:00:00.030-05:00&_until=2024-12-01T09:00:00.040Z')).toEqual(from.slice(0, 2));
  expect(await found('_since=2024-12-01T09:00:00.031Z')).toEqual(from.slice(1));
  expect(await found('_since=2124-12-01T15:00:00Z')).toEqual([]);
});

test('unknown elements are refused; elements of types not exported are ignored under lenient handling', async () => {
  const { fhir } = await shared();
  for (const wrong of ['nope', 'Observation.nope', 'Observation', 'id,nope'])
    expect((await fetch(`${fhir}/$export?_elements=${wrong}`, { headers: ASYNC })).status, wrong).toBe(400);
  const url = `${fhir}/$export?_type=Observation,Device&_elements=Substance.code,Observation.code,lotNumber`;
  expect((await fetch(url, { headers: ASYNC })).status).toBe(400);
  const manifest = await finished(await kickOff(url, { headers: LENIENT }));
  expect(await errorsOf(manifest)).toEqual([expect.stringMatching(/^_elements: .* ignored$/)]);
  const device = manifest.output.find(({ type }) => type === 'Device');
  expect(await (await fetch(device?.url ?? '')).text()).toContain('Lot of');
});

test('_elements accepts the same as in a search: a choice with its type, and resourceType', async () => {
  const { fhir } = await shared();
  const linesOf = async (elements: string): Promise<readonly string[]> => {
    const manifest = await finished(await kickOff(`${fhir}/$export?_type=Observation&_elements=${elements}`));
    return Promise.all(manifest.output.map(async ({ url }) => (await fetch(url)).text()));
  };
  const [base] = await linesOf('value');
  expect(base).toContain('"valueQuantity"');
  for (const same of ['valueQuantity', 'Observation.valueQuantity', 'value,resourceType', 'Observation.value,id'])
    expect(await linesOf(same), same).toEqual([base]);
});

test('the kick-off response lists first what lenient handling ignores', async () => {
  const { fhir } = await shared();
  const url = `${fhir}/$export?_type=Group,Nonsense&colour=red&_typeFilter=Group%3Fcolour%3Dred&patient=Patient/1`;
  const begun = await fetch(url, { headers: LENIENT });
  expect(begun.status).toBe(202);
  const { issue } = (await begun.json()) as { issue: { severity: string; diagnostics: string }[] };
  expect(issue.map(({ severity }) => severity)).toEqual([...Array(4).fill('warning'), 'information', 'information']);
  expect(issue[1]?.diagnostics).toBe('colour: not a parameter of an export; it was ignored');
});

test('a _typeFilter that is not percent-encoded UTF-8 is refused', async () => {
  const { fhir } = await shared();
  const url = `${fhir}/$export?_typeFilter=${encodeURIComponent('Patient?family=%E0%A4')}`;
  expect((await fetch(url, { headers: ASYNC })).status).toBe(400);
});

test('lenient handling ignores result parameters in _typeFilter, and keeps the filters', async () => {
  const { fhir } = await shared();
  const url = `${fhir}/$export?_type=Patient&_typeFilter=${encodeURIComponent('Patient?_count=1&family=Canary3')}`;
  expect((await fetch(url, { headers: ASYNC })).status).toBe(400);
  const manifest = await finished(await kickOff(url, { headers: LENIENT }));
  expect(await contents(manifest)).toEqual(['Patient/3']);
  expect(await errorsOf(manifest)).toEqual([expect.stringMatching(/^_typeFilter: .* ignored$/)]);
});

test.each([
  ['_typeFilter=Patient', 400],
  ['allowPartialManifests=true', 202],
  ['allowPartialManifests=false', 202],
  ['allowPartialManifests=yes', 400],
])('%s is answered with %i under lenient handling, too', async (parameter, status) => {
  const { fhir } = await shared();
  expect((await fetch(`${fhir}/$export?_type=Patient&${parameter}`, { headers: LENIENT })).status).toBe(status);
});

test('unknown patients and non-members are counted, and the others are exported', async () => {
  const { fhir } = await shared();
  const some = await finished(await kickOff(`${fhir}/Patient/$export?_type=Patient&patient=Patient/2,Patient/99,98,2`));
  expect(await contents(some)).toEqual(['Patient/2']);
  expect(await errorsOf(some)).toEqual(['patient: of 3 that were named, 2 are not known here']);
  const listed = await finished(await kickOff(`${fhir}/Group/g-1/$export?_type=Patient&patient=Patient/1,Patient/2`));
  expect(await contents(listed)).toEqual(['Patient/1']);
  expect(await errorsOf(listed)).toEqual([
    'patient: of 2 that were named, 1 is not on the list of the group, or not known here',
  ]);
  const all = await finished(await kickOff(`${fhir}/Group/g-1/$export?_type=Patient&patient=Patient/1,Patient/3`));
  expect(all.error).toEqual([]);
});

test('HEAD begins, pauses and resumes nothing', async () => {
  const { fhir } = await served(clinic(3));
  for (const path of [
    '$export',
    'Patient/$export',
    'Group/$export',
    'Group/g-1/$export',
    '$pause-job',
    '$resume-job',
  ]) {
    const response = await fetch(`${fhir}/${path}`, { method: 'HEAD', headers: ASYNC });
    expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'GET, POST']);
  }
  expect(await (await fetch(`${fhir}/$list-jobs`)).json()).toEqual({
    resourceType: 'Parameters',
    parameter: [{ name: 'total', valueInteger: 0 }],
  });
  const poll = await kickOff(`${fhir}/$export`);
  await finished(poll);
  // The server refuses too frequent polls for a second.
  await expect.poll(async () => (await fetch(poll, { method: 'HEAD' })).status).toBe(200);
});
