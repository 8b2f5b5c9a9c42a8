/**
 * Compartment matrix over a whole server with ACCESS=smart, for what the application alone (matrix.test.ts) cannot
 * show: cached answers and page links of a caller who may see everything, files of real exports, and audit records,
 * each requested by a patient's app.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { DEMO_PACK } from '../../src/start/demo.ts';
import { writeFixture } from '../fixtures/built.ts';
import { type Demo, demoOver } from '../law/demo.ts';
import { assertionOf, launch, post, type Served, serveSmart } from '../smart/served.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { readWorld, visibleTo, type World } from './world.ts';

const OWN = '1';

const folder = temporaryFolder(afterAll);
let demo: Demo;
let world: World;
let served: Served;
/** `Type/id` of resources of other patients, and of those that the app may see. */
let foreign: ReadonlySet<string>;
let own: ReadonlySet<string>;
/** Logical ids. */
let strangers: readonly string[];
let [app, program] = ['', ''];

beforeAll(async () => {
  const file = join(folder, 'fixture.sqlite');
  writeFixture(6, file);
  demo = await demoOver(openSqlite(file));
  world = await readWorld(demo);
  own = visibleTo(accessToPatients('app', [OWN]), world).search;
  const others = [...world.known.values()].filter(
    ({ patients }) => patients && patients.size > 0 && !patients.has(OWN),
  );
  foreign = new Set(others.map(({ name }) => name).filter(name => !own.has(name)));
  strangers = world.patients.filter(id => id !== OWN);
  served = await serveSmart({ DATABASE_URL: `sqlite:${file}`, MAPPINGS: DEMO_PACK });
  const launched = await launch(served, { scope: 'launch/patient patient/*.rs' });
  app = String(launched.body['access_token']);
  program = await tokenOf('system/*.rs');
}, 600_000);
afterAll(async () => {
  await served.stop();
  await demo.close();
});

async function tokenOf(scope: string): Promise<string> {
  const by = await assertionOf(served, 'backend');
  const granted = await post(`${served.auth}/token`, { grant_type: 'client_credentials', scope, ...by });
  return String(granted.body['access_token']);
}

interface Told {
  readonly status: number;
  readonly text: string;
  /** True for an answer from the cache. */
  readonly isKept: boolean;
}

async function ask(url: string, by: string, init: RequestInit = {}): Promise<Told> {
  const response = await fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${by}` } });
  const isKept = /hit/.test(response.headers.get('cache-status') ?? '');
  return { status: response.status, text: await response.text(), isKept };
}

interface Page {
  readonly entry?: readonly { readonly resource: Found }[];
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
}

interface Found {
  readonly resourceType: string;
  readonly id: string;
  readonly agent?: readonly { readonly requestor?: boolean; readonly who?: { readonly reference?: string } }[];
  readonly entity?: readonly { readonly what?: { readonly reference?: string } }[];
}

const namesIn = (text: string): readonly string[] =>
  [...text.matchAll(/"resourceType":"(\w+)","id":"([^"]+)"/g)].map(([, type, id]) => `${type}/${id}`);
const leaksIn = ({ text }: Told): readonly string[] => namesIn(text).filter(name => foreign.has(name));

test('the data has records of the caller and of other patients', () => {
  expect(foreign.size).toBeGreaterThan(500);
  expect(own.size).toBeGreaterThan(300);
  expect([app, program].every(token => token.length > 20)).toBe(true);
});

test('cached answers and page links of an unrestricted caller leak nothing to a patient', {
  timeout: 600_000,
}, async () => {
  const failed: string[] = [];
  const seen = { kept: 0, foreign: 0, own: 0, followed: 0 };
  for (const type of world.types) {
    const url = `${served.fhir}/${type}?_count=1000`;
    await ask(url, program);
    const again = await ask(url, program);
    if (again.isKept) seen.kept++;
    seen.foreign += leaksIn(again).length;
    for (const told of [await ask(url, app), await ask(url, app)]) {
      if (leaksIn(told).length > 0) failed.push(`${type}: tells ${leaksIn(told)[0]}`);
      if (told.status >= 500) failed.push(`${type}: ${told.status}`);
      seen.own += namesIn(told.text).filter(name => own.has(name)).length;
    }
    const first = JSON.parse((await ask(`${served.fhir}/${type}?_count=1`, program)).text) as Page;
    const next = first.link?.find(({ relation }) => relation === 'next')?.url;
    if (next === undefined) continue;
    seen.followed++;
    expect((await ask(next, program)).status, type).toBe(200);
    const stolen = await ask(next, app);
    if (stolen.status !== 400) failed.push(`${type}: a page link of somebody else is ${stolen.status}`);
    if (leaksIn(stolen).length > 0) failed.push(`${type}: a page link tells ${leaksIn(stolen)[0]}`);
  }
  expect(failed).toEqual([]);
  // The requests were able to reveal a leak.
  expect(seen.kept).toBeGreaterThan(15);
  expect(seen.foreign).toBeGreaterThan(500);
  expect(seen.own).toBeGreaterThan(300);
  expect(seen.followed).toBeGreaterThan(15);
});

test('only programs start exports; jobs and files are closed to other callers', {
  timeout: 600_000,
}, async () => {
  const levels = ['', '/Patient', '/Group', '/Group/1'].map(level => `${served.fhir}${level}/$export?_type=Patient`);
  for (const url of levels) expect([url, (await ask(url, app)).status]).toEqual([url, 403]);
  const begun = await fetch(`${served.fhir}/$export?_type=Patient,Observation`, {
    headers: { authorization: `Bearer ${program}`, prefer: 'respond-async' },
  });
  expect(begun.status).toBe(202);
  const status = begun.headers.get('content-location') ?? '';
  let told = await ask(status, program);
  while (told.status === 202) {
    // A client that polls too often would be refused.
    await wait(1200);
    told = await ask(status, program);
  }
  const { output } = JSON.parse(told.text) as { readonly output: readonly { readonly url: string }[] };
  expect(output.length).toBeGreaterThan(1);
  const id = new URL(status).searchParams.get('_jobId') ?? '';
  expect(id).not.toBe('');
  const body = {
    method: 'POST',
    body: '{"resourceType":"Parameters"}',
    headers: { 'content-type': 'application/fhir+json' },
  };
  const asked: readonly (readonly [string, RequestInit])[] = [
    [status, {}],
    ...output.map(({ url }) => [url, {}] as const),
    ...['pause-job', 'resume-job', 'cancel-job'].map(name => [`${served.fhir}/$${name}?_jobId=${id}`, body] as const),
    [status, { method: 'DELETE' }],
  ];
  for (const [url, init] of asked) expect([url, (await ask(url, app, init)).status]).toEqual([url, 404]);
  expect((await ask(`${served.fhir}/$list-jobs`, app)).text).not.toContain(id);
  expect((await ask(`${served.fhir}/$list-jobs`, program)).text).toContain(id);
  // Those who may see the files still get them.
  for (const { url } of output) {
    const file = await ask(url, program);
    expect([url, file.status, leaksIn(file).length > 0]).toEqual([url, 200, true]);
  }
});

test('a patient reads no audit record of other patients, except of the patient’s own requests', async () => {
  served.setClients(
    served.clients.map(one =>
      one.id === 'backend' ? { ...one, scopes: [...one.scopes, 'system/AuditEvent.rs'] } : one,
    ),
  );
  const auditor = await tokenOf('system/AuditEvent.rs');
  for (const id of strangers) expect((await ask(`${served.fhir}/Patient/${id}`, program)).status).toBe(200);
  const about = (text: string): readonly Found[] =>
    ((JSON.parse(text) as Page).entry ?? [])
      .map(({ resource }) => resource)
      .filter(({ entity = [] }) => entity.some(({ what }) => strangers.includes(idOf(what?.reference))));
  const queries = ['?_count=1000', ...strangers.flatMap(id => [`?patient=${id}`, `?patient=Patient/${id}`])];
  let isWritten = false;
  for (const query of queries) {
    const url = `${served.fhir}/AuditEvent${query}`;
    isWritten ||= about((await ask(url, auditor)).text).length > 0;
    const told = await ask(url, app);
    const ofOthers = about(told.text).filter(
      ({ agent = [] }) => !agent.some(({ requestor, who }) => requestor && who?.reference === `Patient/${OWN}`),
    );
    expect([query, told.status, ofOthers, leaksIn(told)]).toEqual([query, 200, [], []]);
  }
  expect(isWritten).toBe(true);
});

function idOf(reference = ''): string {
  return reference.replace('Patient/', '');
}
