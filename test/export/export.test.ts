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

const idsOf = (found: readonly string[], type: string): readonly string[] =>
  found.flatMap(one => (one.startsWith(`${type}/`) ? [one.slice(type.length + 1)] : [])).toSorted();

test('a system export is kicked off, polled and downloaded, with every resource once', async () => {
  const { fhir } = await served(clinic(20, 3), { EXPORT_FILE_LINES: '25' });
  const poll = await kickOff(`${fhir}/$export`);
  expect(poll.replace(/[0-9a-f]{32}$/, '')).toBe(`${fhir}/$export-poll-status?_jobId=`);
  const manifest = await finished(poll);
  expect(manifest).toMatchObject({ request: `${fhir}/$export`, requiresAccessToken: false, deleted: [], error: [] });
  expect(Math.abs(Date.parse(manifest.transactionTime) - Date.now())).toBeLessThan(60_000);
  const found = await contents(manifest);
  expect(new Set(found).size).toBe(found.length);
  expect(idsOf(found, 'Observation')).toHaveLength(60);
  expect(idsOf(found, 'Group')).toEqual(['g-1', 'g-2']);
  expect(manifest.output.filter(({ type }) => type === 'Observation').map(({ count }) => count)).toEqual([25, 25, 10]);
});

test('the export of a group has its members, their references, and no other patients', async () => {
  const { fhir } = await shared();
  const manifest = await finished(await kickOff(`${fhir}/Group/g-1/$export`));
  const found = await contents(manifest);
  expect(idsOf(found, 'Patient')).toEqual(['1', '3', '5', '7', '9']);
  expect(idsOf(found, 'Observation')).toHaveLength(15);
  // Observation/w-1 refers to the device of patient 2, which still belongs to patient 2.
  expect(idsOf(found, 'Device')).toEqual(['i-1', 'i-3', 'i-5', 'i-7', 'i-9']);
  expect(idsOf(found, 'Binary')).toEqual(['b-1', 'b-3', 'b-5', 'b-7', 'b-9']);
  expect(idsOf(found, 'DocumentReference')).toEqual(['d-1', 'd-3', 'd-5', 'd-7', 'd-9']);
  expect(idsOf(found, 'Group')).toEqual(['g-1']);
  // Transitive references: the role of a performer, its practitioner, its organization and the parent organization.
  expect(idsOf(found, 'PractitionerRole')).toEqual(['r-1']);
  expect(idsOf(found, 'Practitioner')).toEqual(['s-1']);
  expect(idsOf(found, 'Organization')).toEqual(['c-1', 'c-3']);
  expect(new Set(found).size).toBe(found.length);
});

test('a resource of two members is written once, however members are split into parts', async () => {
  const { fhir } = await served(clinic(600, 1));
  const ids = Array.from({ length: 600 }, (_, i) => ({
    name: 'patient',
    valueReference: { reference: `Patient/${i + 1}` },
  }));
  const body = { resourceType: 'Parameters', parameter: [{ name: '_type', valueString: 'Coverage' }, ...ids] };
  const poll = await kickOff(`${fhir}/Patient/$export`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/fhir+json' },
  });
  const found = await contents(await finished(poll));
  expect(found).toHaveLength(600);
  expect(new Set(found).size).toBe(600);
});

test('an export can be limited to some patients, without Groups of other members', async () => {
  const { fhir } = await shared();
  const found = await contents(await finished(await kickOff(`${fhir}/Patient/$export?patient=Patient/2`)));
  expect(idsOf(found, 'Patient')).toEqual(['2']);
  expect(idsOf(found, 'Binary')).toEqual(['b-2']);
  expect(idsOf(found, 'Group')).toEqual([]);
  expect(idsOf(found, 'Coverage')).toEqual(['v-2']);
});

test('an export of all patients, of all groups and of a group without members', async () => {
  const { fhir } = await shared();
  const all = await contents(await finished(await kickOff(`${fhir}/Patient/$export?_type=Patient,Practitioner`)));
  expect(idsOf(all, 'Patient')).toHaveLength(20);
  // Practitioners are found through Observation and PractitionerRole although those are not written.
  expect(idsOf(all, 'Practitioner')).toEqual(['s-1', 's-2']);
  expect(all).toHaveLength(22);
  const groups = await contents(await finished(await kickOff(`${fhir}/Group/$export?_type=Patient,Group`)));
  expect(groups.toSorted()).toEqual([
    'Group/g-1',
    'Group/g-2',
    ...['1', '3', '5', '7', '9'].map(id => `Patient/${id}`),
  ]);
  const nobody = await contents(await finished(await kickOff(`${fhir}/Group/g-2/$export`)));
  expect(nobody).toEqual(['Group/g-2']);
  expect((await fetch(`${fhir}/Group/g-9/$export`, { headers: ASYNC })).status).toBe(404);
});

test('resources outside of compartments are found by references that _elements and _since omit', async () => {
  const { fhir } = await shared();
  const elements = await finished(await kickOff(`${fhir}/Group/g-1/$export?_elements=id`));
  const found = await contents(elements);
  expect(idsOf(found, 'Organization')).toEqual(['c-1', 'c-3']);
  expect(idsOf(found, 'Observation')).toHaveLength(15);
  expect(new Set(found).size).toBe(found.length);
  const until = await finished(
    await kickOff(`${fhir}/Group/g-1/$export?_type=Observation,Practitioner&_until=2000-01-01T00:00:00Z`),
  );
  expect(await contents(until)).toEqual([]);
  expect(await (await fetch(until.error[0]?.url ?? '')).text()).toContain('Practitioner was not exported');
});

test('_since, _until, _typeFilter and _elements work as in a search; a type without a time of change fails alone', async () => {
  const where = clinic();
  const { fhir } = await served(where);
  where.change("UPDATE WEIGHING SET UPD = '2025-01-01 00:00:00.000' WHERE NO = 7");
  const since = await finished(
    await kickOff(`${fhir}/$export?_type=Observation,Device&_since=2024-06-01T00:00:00Z&_elements=Observation.status`),
  );
  expect(await contents(since)).toEqual(['Observation/w-7']);
  const [observation] = since.output;
  expect(JSON.parse(await (await fetch(observation?.url ?? '')).text())).not.toHaveProperty('valueQuantity');
  const errors = await (await fetch(since.error[0]?.url ?? '')).text();
  expect(errors).toContain('Device was not exported');
  expect(errors).toContain('deleted');
  const until = await contents(
    await finished(await kickOff(`${fhir}/$export?_type=Observation&_until=2024-06-01T00:00:00Z`)),
  );
  expect(until).toHaveLength(59);
  const filters = 'Observation?patient=1,Observation?patient=2%26status=final';
  const filtered = await contents(
    await finished(await kickOff(`${fhir}/$export?_type=Observation&_typeFilter=${filters}`)),
  );
  expect(filtered).toHaveLength(6);
});

test('unknown parameters are refused, or ignored with an entry in `error` under lenient handling', async () => {
  const { fhir } = await shared();
  const url = `${fhir}/$export?_type=Group,Nonsense&colour=red&_typeFilter=Group%3Fcolour%3Dred&_outputFormat=ndjson`;
  const manifest = await finished(await kickOff(url, { headers: LENIENT }));
  const errors = (await (await fetch(manifest.error[0]?.url ?? '')).text()).trim().split('\n');
  expect(errors).toHaveLength(3);
  expect(manifest.output).toHaveLength(1);
  for (const prefer of ['respond-async', 'respond-async, handling=strict'])
    expect((await fetch(url, { headers: { ...ASYNC, prefer } })).status, prefer).toBe(400);
  for (const wrong of ['_outputFormat=csv', '_since=yesterday', '_typeFilter=Group', '_type=Nonsense']) {
    expect((await fetch(`${fhir}/$export?${wrong}`, { headers: ASYNC })).status, wrong).toBe(400);
  }
  for (const format of ['application/fhir%2Bndjson', 'application/fhir+ndjson', 'application/ndjson']) {
    expect((await fetch(`${fhir}/$export?_type=Group&_outputFormat=${format}`, { headers: ASYNC })).status).toBe(202);
  }
});

test('a kick-off without Prefer is accepted, and names the built-in types that are not exported', async () => {
  const { fhir } = await served(clinic(3));
  const begun = await fetch(`${fhir}/$export`);
  expect(begun.status).toBe(202);
  expect(begun.headers.get('content-location')).toContain('$export-poll-status?_jobId=');
  const { issue } = (await begun.json()) as { issue: readonly { diagnostics: string }[] };
  expect(issue.map(({ diagnostics }) => diagnostics)).toEqual([
    expect.stringContaining('The export has begun'),
    expect.stringMatching(/^Not exported, .*: .*OperationDefinition/),
  ]);
  const ofPatients = (await (await fetch(`${fhir}/Patient/$export`)).json()) as { issue: readonly object[] };
  expect(ofPatients.issue).toHaveLength(1);
});

test('a poll response names the status URL, which some clients otherwise read from the outcome', async () => {
  const { fhir } = await served(clinic(300));
  const poll = await kickOff(`${fhir}/$export`);
  const again = await fetch(poll);
  if (again.status === 202) expect(again.headers.get('content-location')).toBe(poll);
  await again.arrayBuffer();
  const paused = await fetch(poll.replace('$export-poll-status', '$pause-job'));
  // The job is either paused, with status 202, or had ended before.
  if (paused.status === 200) {
    const waiting = await fetch(poll);
    expect([waiting.status, waiting.headers.get('content-location')]).toEqual([202, poll]);
  }
});

test('a body other than Parameters, or another method, starts no export', async () => {
  const { fhir } = await served(clinic(3));
  const json = { ...ASYNC, 'content-type': 'application/fhir+json' };
  for (const body of ['{', '[]', '{"resourceType":"Patient"}', '{"resourceType":"Parameters","parameter":[{}]}']) {
    expect((await fetch(`${fhir}/$export`, { method: 'POST', body, headers: json })).status, body).toBe(400);
  }
  expect((await fetch(`${fhir}/$export`, { method: 'PUT', headers: ASYNC })).status).toBe(405);
  expect(await (await fetch(`${fhir}/$list-jobs`)).json()).toEqual({
    resourceType: 'Parameters',
    parameter: [{ name: 'total', valueInteger: 0 }],
  });
});

test('POST with Parameters does what GET does, for every operation', async () => {
  const { fhir } = await shared();
  const post = (path: string, ...parameter: object[]) =>
    fetch(`${fhir}/${path}`, {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Parameters', parameter }),
      headers: { ...ASYNC, 'content-type': 'application/fhir+json' },
    });
  const begun = await post('Group/g-1/$export', { name: '_type', valueString: 'Patient' });
  const job = {
    name: '_jobId',
    valueString: new URL(begun.headers.get('content-location') ?? '').searchParams.get('_jobId'),
  };
  let status = await post('$export-poll-status', job);
  while (status.status === 202 || status.status === 429) {
    await new Promise(resolve => setTimeout(resolve, 200));
    status = await post('$export-poll-status', job);
  }
  const manifest = (await status.json()) as Manifest;
  const file = new URL(manifest.output[0]?.url ?? '').searchParams.get('_jobResourceId');
  const download = await post('$download-resource', { name: '_jobResourceId', valueString: file });
  expect((await download.text()).trim().split('\n')).toHaveLength(5);
  // A finished job can be neither paused nor resumed.
  expect((await post('$pause-job', job)).status).toBe(409);
  expect((await post('$resume-job', job)).status).toBe(409);
  expect((await post('$pause-job', { name: '_jobId', valueString: '../../etc' })).status).toBe(404);
});

test('a deleted job is removed with its files; unknown ids of jobs and files are not found', async () => {
  const { fhir } = await shared();
  const poll = await kickOff(`${fhir}/$export`);
  const { output } = await finished(poll);
  const url = output[0]?.url ?? '';
  for (const id of [
    '0'.repeat(32),
    '..%2f..%2fjob.json',
    `${'0'.repeat(32)}-0-0`,
    url.replace(/.*=/, '').replace(/-.*/, '-99-0'),
  ]) {
    expect((await fetch(`${fhir}/$download-resource?_jobResourceId=${id}`)).status).toBe(404);
    expect((await fetch(`${fhir}/$export-poll-status?_jobId=${id}`)).status).toBe(404);
  }
  expect((await fetch(poll, { method: 'DELETE' })).status).toBe(202);
  const gone = await fetch(poll);
  expect(gone.status).toBe(404);
  expect(await gone.json()).toMatchObject({ resourceType: 'OperationOutcome' });
  expect((await fetch(url)).status).toBe(404);
  expect((await fetch(poll, { method: 'DELETE' })).status).toBe(404);
});

test('every operation is in the CapabilityStatement and has a definition that can be searched', async () => {
  const { fhir } = await shared();
  const statement = (await (await fetch(`${fhir}/metadata`)).json()) as {
    rest: [
      {
        operation: { name: string; definition: string }[];
        resource: { type: string; operation?: { name: string }[] }[];
      },
    ];
  };
  const [{ operation, resource }] = statement.rest;
  expect(operation.map(({ name }) => name)).toEqual([
    'export',
    'export-poll-status',
    'pause-job',
    'resume-job',
    'cancel-job',
    'list-jobs',
    'download-resource',
  ]);
  expect(resource.find(({ type }) => type === 'Group')?.operation).toEqual([
    { name: 'export', definition: 'http://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export' },
  ]);
  const own = operation.find(({ name }) => name === 'pause-job')?.definition ?? '';
  expect(await (await fetch(own)).json()).toMatchObject({ resourceType: 'OperationDefinition', code: 'pause-job' });
  const bundle = (await (await fetch(`${fhir}/OperationDefinition?code=export`)).json()) as { total: number };
  expect(bundle.total).toBe(3);
});

test('patient values are in neither the log nor the job state, only in the files', async () => {
  const { fhir, lines } = await served(clinic());
  await finished(await kickOff(`${fhir}/$export?_typeFilter=Patient?family=Canary3`));
  expect(lines.join('\n')).not.toContain('Canary');
});
