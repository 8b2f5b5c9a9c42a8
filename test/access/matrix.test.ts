/**
 * Every type on every route that data leaves by, asked by a patient's app and by the patient at the REST interface: what is another
 * patient's never comes, and what is one's own does. The types are those that the server offers, the routes those that it has: a type
 * or a route that is added and stands in no row fails here.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildFixture } from '../../fixtures/build.ts';
import { type Access, accessToPatients } from '../../src/auth/access.ts';
import { TOPICS } from '../../src/ccda/topics.ts';
import type { Jobs } from '../../src/export/jobs.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { DEMO_PACK, type Demo, demoOver } from '../law/demo.ts';
import { restUnderTest } from '../rest/rest-under-test.ts';
import { assertionOf, launch, PASSWORD, post, type Served, serveSmart } from '../smart/served.ts';
import { type Known, readWorld, visibleTo, type World } from './world.ts';

const OWN = '1';
/** Of each type so many resources of others are asked for. */
const SOME = 2;
/** `PAGE_MAX`: types with more fill a page. */
const PAGE = 1000;

const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
let demo: Demo;
let world: World;
let served: Served;
let foreign: readonly Known[];
let own: ReadonlySet<string>;
/** Texts that stand in records of others alone. */
let secrets: readonly string[];
let [app, program, cookie] = ['', '', ''];

beforeAll(async () => {
  const file = join(folder, 'fixture.sqlite');
  buildFixture({ patients: 6, seed: 1, file });
  demo = await demoOver(openSqlite(file));
  world = await readWorld(demo);
  const access: Access = accessToPatients('app', [OWN]);
  own = visibleTo(access, world).search;
  foreign = [...world.known.values()].filter(({ patients = new Set() }) => patients.size > 0 && !patients.has(OWN));
  secrets = secretsOf(world);
  served = await serveSmart({ DATABASE_URL: `sqlite:${file}`, MAPPINGS: DEMO_PACK });
  const launched = await launch(served, { scope: 'launch/patient patient/*.rs' });
  app = String(launched.body['access_token']);
  const granted = await post(`${served.auth}/token`, {
    grant_type: 'client_credentials',
    scope: 'system/*.rs',
    ...(await assertionOf(served, 'backend')),
  });
  program = String(granted.body['access_token']);
  const login = await fetch(`${served.base}/api/users/login`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'anna', password: PASSWORD }),
  });
  cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
}, 120_000);
afterAll(async () => {
  await served.stop();
  await demo.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Record numbers and family names of others, as far as no resource of one's own has them. */
function secretsOf({ known }: World): readonly string[] {
  const mine = [...own].map(name => JSON.stringify(known.get(name)?.resource)).join('\n');
  const texts = [...known.values()].flatMap(({ type, name, resource }) => {
    if (type !== 'Patient' || own.has(name)) return [];
    const { identifier = [], name: names = [] } = resource as unknown as {
      readonly identifier?: readonly { readonly value?: string }[];
      readonly name?: readonly { readonly family?: string }[];
    };
    return [...identifier.map(({ value }) => value ?? ''), ...names.map(({ family }) => family ?? '')];
  });
  return [...new Set(texts)].filter(text => text.length > 5 && !mine.includes(text));
}

interface Told {
  readonly status: number;
  readonly text: string;
}

interface Asked {
  /** Below the server. */
  readonly path: string;
  readonly method?: string;
  readonly body?: string | URLSearchParams;
  readonly accept?: string;
}

async function ask({ path, method = 'GET', body, accept }: Asked, by = app): Promise<Told> {
  const response = await fetch(path.startsWith('http') ? path : served.base + path, {
    method,
    headers: {
      ...(path.startsWith('/api') ? { cookie } : { authorization: `Bearer ${by}` }),
      ...(accept === undefined ? {} : { accept }),
      ...(typeof body === 'string' ? { 'content-type': 'application/fhir+json' } : {}),
    },
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.status, text: await response.text() };
}

/** `Type/id` of every resource in an answer in JSON, however deep. */
function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) {
      const { resourceType, id } = value as { readonly resourceType?: unknown; readonly id?: unknown };
      if (typeof resourceType === 'string' && typeof id === 'string') names.add(`${resourceType}/${id}`);
      Object.values(value).forEach(visit);
    }
  };
  for (const line of text.split('\n')) if (/^\s*[{[]/.test(line)) visit(JSON.parse(line));
  return names;
}

/** What of others an answer tells: resources, and texts that are theirs alone. What was searched for may stand in a page again. */
function leaksIn({ text }: Told, path = ''): readonly string[] {
  const names = text.startsWith('{') ? namesIn(text) : new Set<string>();
  const resources = foreign.filter(({ name }) => names.has(name)).map(({ name }) => name);
  const asked = decodeURIComponent(path);
  return [...resources, ...secrets.filter(secret => text.includes(secret) && !asked.includes(secret))];
}

/**
 * `own`: `all`: one's own resources of the type have to come; `status`: the answer is 200; `none`: it is 404.
 */
type Row = (type: string) => readonly (Asked & { readonly own?: 'all' | 'status' | 'none' | undefined })[];

const others = (type: string): readonly string[] =>
  foreign
    .filter(one => one.type === type)
    .slice(0, SOME)
    .map(({ resource }) => resource.id);
const mine = (type: string): readonly string[] =>
  [...own].filter(name => name.startsWith(`${type}/`)).map(name => name.slice(type.length + 1));
const form = (fields: Readonly<Record<string, string>>): URLSearchParams => new URLSearchParams(fields);
const strangers = (): readonly string[] => others('Patient');
const codesOf = (type: string, kind: string): readonly string[] =>
  demo.facade.offers.of(type).flatMap(({ parameter }) => (parameter.type === kind ? [parameter.code] : []));

/** Searches of a type whose answers could have others' resources in them, as parameters. */
function searches(type: string): readonly string[] {
  const { offers } = demo.facade;
  const referring = world.types.flatMap(from =>
    codesOf(from, 'reference').flatMap(code =>
      offers.find(from, code)?.targets.includes(type) === true ? [`${from}:${code}`] : [],
    ),
  );
  return [
    `_count=${PAGE}`,
    `_id=${others(type).join(',') || 'none'}`,
    '_count=100&_include=*&_include:iterate=*',
    ...referring.map(code => `_count=50&_revinclude=${code}`),
    ...codesOf(type, 'reference').flatMap(code => [
      `${code}=${strangers().map(id => `Patient/${id}`)}&_count=50`,
      ...(offers.find(type, code)?.targets.includes('Patient') === true
        ? [`${code}:Patient.family:missing=false&_count=50`]
        : []),
    ]),
    ...strangers().map(id => `_has:Provenance:target:patient=${id}`),
    '_count=0&_total=accurate',
    '_sort=-_lastUpdated&_count=100',
    '_security:not=none&_elements=id&_count=100',
  ];
}

const ROWS: Readonly<Record<string, Row>> = {
  'GET /fhir/:type': type =>
    searches(type).flatMap((query, i) => [
      { path: `/fhir/${type}?${query}`, own: i === 0 ? 'all' : undefined },
      ...(i < 3 ? ['html', 'xml'].map(format => ({ path: `/fhir/${type}?${query}&_format=${format}` })) : []),
    ]),
  'GET /fhir/:type/_search': type => [{ path: `/fhir/${type}/_search?_count=1000`, own: 'all' }],
  'POST /fhir/:type/_search': type => [
    { path: `/fhir/${type}/_search`, method: 'POST', body: form({ _count: '1000' }), own: 'all' },
  ],
  'GET /fhir/:type/:id': type => [
    ...others(type).flatMap(id => [
      { path: `/fhir/${type}/${id}`, own: 'none' as const },
      { path: `/fhir/${type}/${id}?_format=html`, own: 'none' as const },
      { path: `/fhir/${type}/${id}`, accept: 'text/html', own: 'none' as const },
    ]),
    ...mine(type)
      .slice(0, 1)
      .map(id => ({ path: `/fhir/${type}/${id}`, own: 'status' as const })),
  ],
  'GET /fhir/:type/:id/:inner': type =>
    [...strangers(), OWN].map(id => ({ path: `/fhir/Patient/${id}/${type}?_count=1000` })),
  'POST /fhir/:type/:id/:inner/_search': type =>
    strangers().map(id => ({ path: `/fhir/Patient/${id}/${type}/_search`, method: 'POST', body: form({}) })),
  'GET /fhir': type => [{ path: `/fhir?_type=${type}&_count=1000`, own: 'all' }],
  'GET /fhir/_search': type => [{ path: `/fhir/_search?_type=${type}&_count=1000`, own: 'all' }],
  'POST /fhir/_search': type => [
    { path: '/fhir/_search', method: 'POST', body: form({ _type: type, _count: '1000' }), own: 'all' },
  ],
  'POST /fhir': type => [
    {
      path: '/fhir',
      method: 'POST',
      body: JSON.stringify({
        resourceType: 'Bundle',
        type: 'batch',
        entry: [
          `${type}?_count=1000`,
          ...others(type).map(id => `${type}/${id}`),
          ...strangers().flatMap(id => [`Patient/${id}/${type}`, `Patient/${id}/$everything?_type=${type}`]),
        ].map(url => ({ request: { method: 'GET', url } })),
      }),
      own: 'all',
    },
  ],
  'GET /fhir/Patient/:id/$everything': type =>
    [...strangers(), OWN].map(id => ({ path: `/fhir/Patient/${id}/$everything?_type=${type}&_count=1000` })),
  'POST /fhir/Patient/:id/$everything': type =>
    strangers().map(id => ({
      path: `/fhir/Patient/${id}/$everything`,
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: '_type', valueString: type }] }),
    })),
};

/** Routes that have one form for all types. */
const ALONE: Readonly<Record<string, () => readonly (Asked & { readonly own?: 'status' | 'none' | undefined })[]>> = {
  'GET /fhir/Patient/:id/$ccd': () => [
    { path: `/fhir/Patient/${OWN}/$ccd`, own: 'status' },
    ...strangers()
      .flatMap(id => [`/fhir/Patient/${id}/$ccd`, `/fhir/Patient/${id}/$ccd?_format=html`])
      .map(path => ({ path })),
  ],
  'POST /fhir/Patient/:id/$ccd': () =>
    strangers().map(id => ({
      path: `/fhir/Patient/${id}/$ccd`,
      method: 'POST',
      body: '{"resourceType":"Parameters"}',
    })),
  'GET /fhir/DocumentReference/$docref': () => [
    { path: `/fhir/DocumentReference/$docref?patient=${OWN}`, own: 'status' },
    ...strangers().map(id => ({ path: `/fhir/DocumentReference/$docref?patient=${id}` })),
  ],
  'POST /fhir/DocumentReference/$docref': () =>
    strangers().map(id => ({
      path: '/fhir/DocumentReference/$docref',
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Parameters', parameter: [{ name: 'patient', valueId: id }] }),
    })),
  'GET /explain': () => [{ path: '/explain?query=Patient%3F_id%3D2' }],
  'GET /api/patientinfo/patient/id': () => [
    { path: '/api/patientinfo/patient/id?lastName=a' },
    { path: '/api/patientinfo/patient/id?dob=1970-01-01' },
  ],
  'GET /api/patientinfo/:patientId': () => numbered('/api/patientinfo/:'),
  'GET /api/patientsummary': () =>
    ['a', 'e', '1', '19', '555', ...secrets].map(text => ({
      path: `/api/patientsummary?search=${encodeURIComponent(text)}`,
    })),
  'GET /api/:patientId/ccds/api/list-encounters': () => numbered('/api/:/ccds/api/list-encounters'),
  'GET /api/:patientId/ccds/api/encounter-ccds': () =>
    // Visits of others, asked for as one's own too.
    others('Encounter').flatMap(id =>
      [OWN, ...strangers()].map(patient => ({ path: `/api/${patient}/ccds/api/encounter-ccds?encounterId=${id}` })),
    ),
  ...Object.fromEntries(
    TOPICS.map(({ name }) => [`GET /api/:patientId/ccds/api/${name}`, () => numbered(`/api/:/ccds/api/${name}`)]),
  ),
  'GET /api/chart': () => ['', ...secrets].map(text => ({ path: `/api/chart?search=${encodeURIComponent(text)}` })),
  'GET /api/chart/:patientId': () => numbered('/api/chart/:'),
  'GET /api/chart/:patientId/document': () => numbered('/api/chart/:/document?topic=problems&_format=html'),
};

/** In the demo the number of a patient is the id. */
function numbered(path: string): readonly (Asked & { readonly own?: 'status' | 'none' | undefined })[] {
  return [{ path: path.replace(':', OWN), own: 'status' }, ...strangers().map(id => ({ path: path.replace(':', id) }))];
}

/** Routes that tell nothing of any record, or are tried by a test of their own below. */
const OTHERWISE: readonly RegExp[] = [
  / \/(?:health|ready|metrics)?$/,
  / \/search\/:type$/,
  / \/fhir\/metadata$/,
  / \/api\/users\/log(?:in|out)$/,
  / \/fhir\/(?:Patient\/|Group\/|Group\/:id\/)?\$export$/,
  / \/fhir\/\$(?:export-poll-status|cancel-job|pause-job|resume-job|list-jobs|download-resource)$/,
];

async function failures(
  asked: readonly (Asked & { readonly own?: 'all' | 'status' | 'none' | undefined })[],
  type = '',
): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const one of asked) {
    const told = await ask(one);
    const leaks = leaksIn(told, one.path);
    const names = one.own === 'all' ? namesIn(told.text) : new Set();
    const found = mine(type).filter(id => names.has(`${type}/${id}`)).length;
    const isLacking = one.own === 'all' && found < Math.min(mine(type).length, PAGE);
    const isRefused = (one.own === 'status' && told.status !== 200) || (one.own === 'none' && told.status !== 404);
    if (leaks.length > 0 || isLacking || isRefused || told.status >= 500)
      failed.push(
        `${one.method ?? 'GET'} ${one.path}: ${told.status}, ${found} of one’s own, tells ${leaks.slice(0, 3)}`,
      );
  }
  return failed;
}

test('there are records of others, and of one’s own', () => {
  expect(foreign.length).toBeGreaterThan(500);
  expect(own.size).toBeGreaterThan(300);
  expect(secrets.length).toBeGreaterThan(5);
  expect([app, program, cookie].every(text => text.length > 20)).toBe(true);
});

describe('by type', () => {
  test.each(Object.keys(ROWS))('%s', { timeout: 120_000 }, async route => {
    const failed: string[] = [];
    for (const type of world.types) failed.push(...(await failures(ROWS[route]?.(type) ?? [], type)));
    expect(failed).toEqual([]);
  });
});

describe('alone', () => {
  test.each(Object.keys(ALONE))('%s', { timeout: 120_000 }, async route => {
    expect(await failures(ALONE[route]?.() ?? [])).toEqual([]);
  });
});

test('every route has a row', async () => {
  const parts = {
    exports: { jobs: {} as Jobs, facade: demo.facade },
    explain: async () => {
      throw new Error('nobody explains');
    },
    summary: async () => undefined,
    metrics: { request: () => {}, text: async () => '', contentType: 'text/plain' },
  };
  const { app: every } = await restUnderTest(demo.facade, {}, undefined, parts);
  const routes = new Set(
    every.routes.flatMap(({ method, path }) =>
      method === 'ALL' || path.endsWith('*') ? [] : [`${method} ${path.replace(/(?<=.)\/$/, '')}`],
    ),
  );
  const rows = new Set([...Object.keys(ROWS), ...Object.keys(ALONE)]);
  expect([...routes].filter(route => !rows.has(route) && !OTHERWISE.some(one => one.test(route)))).toEqual([]);
  expect([...rows].filter(row => !routes.has(row))).toEqual([]);
});

test('another’s page link, and an answer that was kept for a caller who may see everything', async () => {
  const failed: string[] = [];
  for (const type of world.types) {
    const path = `/fhir/${type}?_count=1`;
    for (const by of [program, app]) {
      const told = await ask({ path }, by);
      const leaks = by === app ? leaksIn(told) : [];
      const { link = [] } = JSON.parse(told.text) as { link?: { relation: string; url: string }[] };
      const next = link.find(({ relation }) => relation === 'next')?.url;
      const followed = next !== undefined && by === program ? await ask({ path: next }) : undefined;
      if (leaks.length > 0 || (followed && followed.status !== 400)) failed.push(`${type}: ${followed?.status}`);
    }
  }
  expect(failed).toEqual([]);
});

test('exports are begun by programs alone, and their jobs and files are of nobody else', async () => {
  const kickOffs = ['', '/Patient', '/Group', '/Group/1'].map(level => `/fhir${level}/$export?_type=Patient`);
  for (const path of kickOffs) expect([path, (await ask({ path })).status]).toEqual([path, 403]);
  const begun = await fetch(`${served.fhir}/$export?_type=Patient,Observation`, {
    headers: { authorization: `Bearer ${program}` },
  });
  expect(begun.status).toBe(202);
  const status = begun.headers.get('content-location') ?? '';
  let told = await ask({ path: status }, program);
  while (told.status === 202) {
    await new Promise(resolve => setTimeout(resolve, 5000));
    told = await ask({ path: status }, program);
  }
  const { output } = JSON.parse(told.text) as { output: { url: string }[] };
  expect(output.length).toBeGreaterThan(1);
  const id = new URL(status).searchParams.get('_jobId');
  const jobs = ['pause-job', 'resume-job', 'cancel-job'].map(code => ({
    path: `/fhir/$${code}?_jobId=${id}`,
    method: 'POST',
    body: '{"resourceType":"Parameters"}',
  }));
  for (const asked of [
    ...[status, ...output.map(({ url }) => url)].map(path => ({ path })),
    ...jobs,
    { path: status, method: 'DELETE' },
  ])
    expect([asked.path, (await ask(asked)).status]).toEqual([asked.path, 404]);
  expect((await ask({ path: '/fhir/$list-jobs' })).text).not.toContain(id);
  for (const { url } of output) expect((await ask({ path: url }, program)).status).toBe(200);
});

test('what was written down about others is not told, but for what one asked oneself', async () => {
  const searched = ['', '?_count=1000', ...strangers().flatMap(id => [`?patient=${id}`, `?patient=Patient/${id}`])];
  for (const query of searched) {
    const path = `/fhir/AuditEvent${query}`;
    const told = await ask({ path });
    const { entry = [] } = JSON.parse(told.text) as { entry?: { resource: { agent?: Agent[]; entity?: Entity[] } }[] };
    const ofOthers = entry.filter(
      ({ resource: { agent = [], entity = [] } }) =>
        entity.some(({ what }) => strangers().includes(what?.reference?.replace('Patient/', '') ?? '')) &&
        !agent.some(({ requestor, who }) => requestor && who?.reference === `Patient/${OWN}`),
    );
    expect([query, told.status, ofOthers, leaksIn(told, path)]).toEqual([query, 200, [], []]);
  }
});

interface Agent {
  readonly requestor?: boolean;
  readonly who?: { readonly reference?: string };
}

interface Entity {
  readonly what?: { readonly reference?: string };
}
