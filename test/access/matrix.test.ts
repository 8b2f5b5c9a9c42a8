/**
 * Compartment matrix: requests every type of /metadata by every route of the application, as a caller who may see one
 * patient and as one who may see all. The first must learn nothing of other patients; what both see shows that the
 * route answers.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Access, accessToPatients } from '../../src/auth/access.ts';
import { summaryMaker } from '../../src/ccda/summary.ts';
import { readConfig } from '../../src/config/config.ts';
import { explainSearch } from '../../src/explain/search.ts';
import { NEW_PART } from '../../src/export/job.ts';
import { type Jobs, openJobs } from '../../src/export/jobs.ts';
import { outputFile, replaceFile, writePart } from '../../src/export/store.ts';
import type { Entry } from '../../src/http/middleware/bearer.ts';
import { createLog } from '../../src/log.ts';
import { patientCompartmentOf } from '../../src/r4/search-parameters.ts';
import { demoContent } from '../ccda/demo-documents.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';
import { type Client, type RestUnderTest, restUnderTest } from '../rest/rest-under-test.ts';
import { type Known, readWorld, visibleTo, type World } from './world.ts';

/** The patient whom the limited caller may see; the fixture has nearly every kind of data for him. */
const OWN = '1';
const CALLERS: Readonly<Record<Caller, Access>> = {
  one: accessToPatients('one', [OWN]),
  all: { kind: 'all', caller: 'all' },
};
type Caller = 'one' | 'all';

/** A request, what the limited caller must see in the answer, and what only the other caller may see. */
interface Probe {
  readonly path: string;
  readonly init?: RequestInit;
  readonly shows?: string;
  readonly hides?: string;
  /** `one`: the server refuses only the limited caller; `both`: it refuses both. */
  readonly refuses?: 'one' | 'both';
}

/** A type with a resource of the patient and one of somebody else, if they exist. */
interface Pair {
  readonly type: string;
  readonly mine: Known | undefined;
  readonly other: Known | undefined;
}

let demo: Demo;
let world: World;
let rest: RestUnderTest;
let jobs: Jobs;
let folder: string;
let pairs: readonly Pair[];
let readable: ReadonlySet<string>;
let hiddenTexts: ReadonlySet<string>;
/** The job of another client. */
let job = '';
/** The version of each resource of a pair, by `Type/id`. */
const versions = new Map<string, string>();
const clients = new Map<Caller, Client>();

const entry: Entry = {
  known: token => decisionOf(token),
  decide: async token => decisionOf(token),
  toExport: ({ client }) => CALLERS[client === 'all' ? 'all' : 'one'],
};

function decisionOf(token: string): NonNullable<ReturnType<Entry['known']>> {
  const client = token === 'all' ? 'all' : 'one';
  const expires = Date.now() + 3_600_000;
  return {
    access: CALLERS[client],
    grant: { client, scopes: ['system/*.rs'], expires } as never,
    expires,
    ends: Number.POSITIVE_INFINITY,
  };
}

beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
  world = await readWorld(demo);
  folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const { facade, database } = demo;
  jobs = openJobs({
    root: join(folder, 'export'),
    pack: () => ({
      ...{ pack: undefined, codes: [], tables: [], mappings: [], ccds: undefined, lock: undefined },
      ...{ version: 'v1', changed: 0 },
    }),
    threads: {
      async run(task) {
        if (task.kind !== 'part') return { kind: 'members' };
        const { folder: own } = task.task;
        replaceFile(outputFile(own, 0, 0), '{}\n');
        const state = { ...NEW_PART, files: [{ lines: 1, bytes: 3 }], done: true, slice: 1 };
        writePart(own, 0, state);
        return { kind: 'part', state };
      },
      load: () => ({ running: 0, waiting: 0 }),
      async close() {},
    },
    limits: { jobs: 100, jobsPerClient: 50, bytes: 1e6, expiry: 3_600_000 },
    settings: { batch: 10, fileLines: 10, checkpoint: 0 },
    log: createLog({ level: 'silent', format: 'text' }),
  });
  const content = demoContent(facade);
  rest = await restUnderTest(facade, {}, content, {
    config: { ...readConfig({}), access: 'jwt' },
    entry,
    exports: { jobs, facade },
    summary: summaryMaker({ facade, content, software: { name: 'Lintel', version: '0' } }),
    explain: async request => ({
      explanation: await explainSearch(facade, database, request, { now: NOW, handling: 'strict' }),
      engine: database.engine,
    }),
  });
  const { accounts } = rest;
  const anna = accounts.get('anna');
  if (anna === undefined) throw new Error('there is no anna');
  clients.set('all', await rest.client());
  accounts.set('one', { ...anna, name: 'one', fhirUser: `Patient/${OWN}` });
  clients.set('one', await rest.client('one'));
  readable = visibleTo(CALLERS.one, world).read;
  pairs = world.types.map(pairOf);
  hiddenTexts = textsOfOthers();
  for (const { name } of pairs.flatMap(({ mine, other }) => [mine ?? [], other ?? []].flat())) {
    const { headers } = await ask('all', { path: `/fhir/${name}`, init: { method: 'HEAD' } });
    versions.set(name, /^W\/"(.+)"$/.exec(headers.get('etag') ?? '')?.[1] ?? '');
  }
  const begun = await ask('all', { path: '/fhir/$export?_type=Patient' });
  job = /_jobId=([0-9a-f]{32})/.exec(begun.headers.get('content-location') ?? '')?.[1] ?? '';
  await jobs.settled(job);
}, 600_000);

afterAll(async () => {
  await jobs.close();
  await demo.close();
  rmSync(folder, { recursive: true, force: true });
});

function pairOf(type: string): Pair {
  const own = [...world.known.values()].filter(one => one.type === type);
  const others = own.filter(({ name }) => !readable.has(name));
  return {
    type,
    mine: own.find(one => readable.has(one.name) && one.patients?.has(OWN) === true) ?? own.find(isReadable),
    other: others.find(({ patients }) => patients !== undefined && !patients.has(OWN)) ?? others[0],
  };
}

function isReadable({ name }: Known): boolean {
  return readable.has(name);
}

/**
 * Returns the texts that occur in hidden resources and in no readable one. Short texts identify nobody and are left
 * out.
 */
function textsOfOthers(): ReadonlySet<string> {
  const all = [...world.known.values()];
  const own = new Set(all.filter(isReadable).flatMap(({ resource }) => stringsIn(resource)));
  const others = all.filter(one => !isReadable(one) && one.patients !== undefined);
  return new Set(
    others.flatMap(({ resource }) => stringsIn(resource)).filter(text => text.length >= 12 && !own.has(text)),
  );
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(stringsIn) : [];
}

/** `Type/id` of all resources in an answer, at any depth. */
function namesIn(value: unknown): readonly string[] {
  if (value === null || typeof value !== 'object') return [];
  const { resourceType, id } = value as { readonly resourceType?: unknown; readonly id?: unknown };
  const own = typeof resourceType === 'string' && typeof id === 'string' ? [`${resourceType}/${id}`] : [];
  return [...own, ...Object.values(value).flatMap(namesIn)];
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the names and texts in an answer that the limited caller may not see. */
function leaksIn(text: string): readonly string[] {
  const names = namesIn(jsonOf(text)).filter(name => world.known.has(name) && !readable.has(name));
  const texts = text.split(/&quot;|["<>\n]/).filter(one => hiddenTexts.has(one.trim()));
  return [...new Set([...names, ...texts])].slice(0, 5);
}

/** `what`: `Type/id`, or a text. */
function tells(text: string, what: string): boolean {
  const json = jsonOf(text);
  return (world.known.has(what) && json !== undefined ? namesIn(json) : text).includes(what);
}

async function ask(caller: Caller, { path, init = {} }: Probe): Promise<Response> {
  const cookie = path.startsWith('/api/') ? clients.get(caller)?.cookie : undefined;
  const headers = {
    accept: 'application/fhir+json, application/xml;q=0.9, application/json;q=0.9',
    ...(cookie === undefined ? { authorization: `Bearer ${caller}` } : { cookie }),
    ...(init.headers as Readonly<Record<string, string>>),
  };
  return rest.app.request(`http://localhost${path}`, { ...init, headers });
}

/** Returns the faults in the answers to a probe. */
async function faultsOf(probe: Probe): Promise<readonly string[]> {
  const { path, init = {}, shows, hides, refuses } = probe;
  const [one, all] = [await ask('one', probe), await ask('all', probe)];
  const [own, whole] = [await one.text(), await all.text()];
  const at = `${init.method ?? 'GET'} ${path}`;
  // The answer may repeat what the request itself contains.
  const faults = leaksIn(own).flatMap(text => (path.includes(text) ? [] : [`${at}: tells ${text}`]));
  if (one.status >= 500 || all.status >= 500) faults.push(`${at}: ${one.status} and ${all.status}`);
  if (shows !== undefined && !tells(own, shows)) faults.push(`${at}: ${one.status} without ${shows}`);
  if (hides !== undefined && tells(own, hides)) faults.push(`${at}: tells ${hides}`);
  if (hides !== undefined && !tells(whole, hides)) faults.push(`${at}: nobody is told ${hides}: ${all.status}`);
  if (refuses !== undefined && one.status < 400) faults.push(`${at}: ${one.status}`);
  if (refuses === 'one' && [401, 403, 404].includes(all.status)) faults.push(`${at}: ${all.status} for everybody`);
  return faults;
}

const form = (query: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: query,
});
const posted = (resource: object): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/fhir+json' },
  body: JSON.stringify(resource),
});
const parameters = posted({ resourceType: 'Parameters' });

/** A search for both resources of a pair by their ids. */
const both = ({ mine, other }: Pair): string => `_id=${[mine, other].flatMap(one => one?.resource.id ?? []).join()}`;
const told = ({ mine, other }: Pair): Pick<Probe, 'shows' | 'hides'> => ({
  ...(mine && { shows: mine.name }),
  ...(other && { hides: other.name }),
});

function reads({ mine, other }: Pair): readonly Probe[] {
  const page = { headers: { accept: 'text/html' } };
  return [
    ...(mine ? [{ path: `/fhir/${mine.name}`, shows: mine.name }] : []),
    // A Binary is sent as its content.
    ...(mine && mine.type !== 'Binary' ? [{ path: `/fhir/${mine.name}`, init: page, shows: mine.resource.id }] : []),
    ...(other
      ? ([{}, page, { method: 'HEAD' }] as const).map(
          init => ({ path: `/fhir/${other.name}`, init, refuses: 'one' }) as const,
        )
      : []),
  ];
}

function versionReads({ mine, other }: Pair): readonly Probe[] {
  const path = (name: string): string => `/fhir/${name}/_history/${versions.get(name)}`;
  return [
    ...(mine ? [{ path: path(mine.name), shows: mine.name }] : []),
    ...(other ? [{ path: path(other.name), refuses: 'one' } as const] : []),
  ];
}

/** Searches by id: plain, with includes, by chains and reverse chains; and the page link of another client. */
function searches(pair: Pair): readonly Probe[] {
  const { type, other } = pair;
  const { offers } = demo.facade;
  const codes = offers.of(type).flatMap(({ parameter }) => (parameter.type === 'reference' ? [parameter.code] : []));
  const toPatient = ['patient', ...patientCompartmentOf(type)].find(code => codes.includes(code));
  const owner = [...(other?.patients ?? [])].find(id => id !== OWN);
  return [
    { path: `/fhir/${type}?${both(pair)}`, ...told(pair) },
    ...codes.map(code => ({ path: `/fhir/${type}?${both(pair)}&_include=${type}:${code}`, ...told(pair) })),
    ...(toPatient === undefined || owner === undefined || type === 'Patient' || type === 'Provenance'
      ? []
      : [
          { path: `/fhir/${type}?${both(pair)}&${toPatient}:Patient._id=${OWN},${owner}`, ...told(pair) },
          {
            path: `/fhir/Patient?_has:${type}:${toPatient}:${both(pair)}`,
            shows: `Patient/${OWN}`,
            hides: `Patient/${owner}`,
          },
          {
            path: `/fhir/Patient?_id=${OWN},${owner}&_revinclude=${type}:${toPatient}`,
            shows: `Patient/${OWN}`,
            hides: `Patient/${owner}`,
          },
        ]),
  ];
}

const compartments = ({ type, mine, other }: Pair, asked: (path: string, query: string) => Probe): readonly Probe[] =>
  type === 'Patient' || patientCompartmentOf(type).length === 0
    ? []
    : [
        ...(mine ? [{ ...asked(`/fhir/Patient/${OWN}/${type}`, `_id=${mine.resource.id}`), shows: mine.name }] : []),
        ...[...(other?.patients ?? [])].map(id => ({
          ...asked(`/fhir/Patient/${id}/${type}`, `_id=${other?.resource.id}`),
          ...(other && { hides: other.name }),
        })),
      ];

function batch(pair: Pair): Probe {
  const urls = [pair.mine?.name, pair.other?.name, `${pair.type}?${both(pair)}`].flatMap(url => url ?? []);
  const entries = urls.map(url => ({ request: { method: 'GET', url } }));
  return {
    path: '/fhir',
    init: posted({ resourceType: 'Bundle', type: 'batch', entry: entries }),
    ...told(pair),
  };
}

type Row = 'no data of patients' | ((pair: Pair) => readonly Probe[]) | (() => readonly Probe[]);

/** Another patient; and the family names of both, which distinguish their documents. */
const stranger = (): string => world.patients.find(id => id !== OWN && familyOf(id) !== familyOf(OWN)) ?? '';

function familyOf(id: string): string {
  const found = world.known.get(`Patient/${id}`)?.resource as { name?: readonly { family?: string }[] } | undefined;
  const family = found?.name?.[0]?.family;
  if (family === undefined) throw new Error('a patient without a family name');
  return family;
}

/** One request for each of both patients. `named`: the answer contains the family name. */
const ofPatients =
  (path: (id: string) => string, { named = true, init = {} as RequestInit } = {}) =>
  (): readonly Probe[] => [
    { path: path(OWN), init, ...(named ? { shows: familyOf(OWN) } : {}) },
    { path: path(stranger()), init, ...(named ? { hides: familyOf(stranger()) } : { refuses: 'one' }) },
  ];

const ofJob =
  (operation: string, init: RequestInit = {}) =>
  (): readonly Probe[] => [{ path: `/fhir/${operation}?_jobId=${job}`, init, refuses: 'one' }];
const listed = (init: RequestInit) => (): readonly Probe[] => [{ path: '/fhir/$list-jobs', init, hides: job }];
const downloaded = (init: RequestInit) => (): readonly Probe[] => [
  { path: `/fhir/$download-resource?_jobResourceId=${job}-0-0`, init, refuses: 'one' },
];
const NOTHING = 'no data of patients';

/** The requests of each route: one for each type, or one. */
const ROWS: Readonly<Record<string, Row>> = {
  'GET /health': NOTHING,
  'GET /ready': NOTHING,
  'GET /': NOTHING,
  'GET /search/:type': NOTHING,
  'GET /fhir/metadata': NOTHING,
  'POST /api/users/login': NOTHING,
  'POST /api/users/logout': NOTHING,
  'POST /api/*': NOTHING,
  'PUT /api/*': NOTHING,
  'PATCH /api/*': NOTHING,
  'DELETE /api/*': NOTHING,
  'GET /api/:patientId/ccds/api/*': NOTHING,
  'GET /api/chart/:patientId/document': NOTHING,
  'GET /explain': pair => [{ path: `/explain?query=${pair.type}`, refuses: 'one' }],
  'GET /fhir/:type/:id': reads,
  'GET /fhir/:type/:id/_history/:version': versionReads,
  'GET /fhir/:type': searches,
  'GET /fhir/:type/_search': pair => [{ path: `/fhir/${pair.type}/_search?${both(pair)}`, ...told(pair) }],
  'POST /fhir/:type/_search': pair => [{ path: `/fhir/${pair.type}/_search`, init: form(both(pair)), ...told(pair) }],
  'GET /fhir': pair => [{ path: `/fhir?_type=${pair.type}&${both(pair)}`, ...told(pair) }],
  'GET /fhir/_search': pair => [{ path: `/fhir/_search?_type=${pair.type}&${both(pair)}`, ...told(pair) }],
  'POST /fhir/_search': pair => [
    { path: '/fhir/_search', init: form(`_type=${pair.type}&${both(pair)}`), ...told(pair) },
  ],
  'GET /fhir/:type/:id/:inner': pair => compartments(pair, (path, query) => ({ path: `${path}?${query}` })),
  'POST /fhir/:type/:id/:inner/_search': pair =>
    compartments(pair, (path, query) => ({ path: `${path}/_search`, init: form(query) })),
  'POST /fhir': pair => [batch(pair)],
  'GET /fhir/Patient/:id/$everything': ofPatients(id => `/fhir/Patient/${id}/$everything?_count=1000`),
  'POST /fhir/Patient/:id/$everything': ofPatients(id => `/fhir/Patient/${id}/$everything`, { init: parameters }),
  'GET /fhir/DocumentReference/$docref': () => documents({}),
  'POST /fhir/DocumentReference/$docref': () => documents(parameters),
  'GET /fhir/Patient/:id/$ccd': ofPatients(id => `/fhir/Patient/${id}/$ccd`, {
    init: { headers: { accept: 'application/xml' } },
  }),
  'POST /fhir/Patient/:id/$ccd': ofPatients(id => `/fhir/Patient/${id}/$ccd?_format=text/html`, { init: parameters }),
  ...Object.fromEntries(
    ['$export', 'Patient/$export', 'Group/$export', 'Group/:id/$export'].flatMap(path => [
      [`GET /fhir/${path}`, NOTHING],
      [`POST /fhir/${path}`, NOTHING],
    ]),
  ),
  'GET /fhir/$export-poll-status': ofJob('$export-poll-status'),
  'POST /fhir/$export-poll-status': ofJob('$export-poll-status', parameters),
  'GET /fhir/$pause-job': ofJob('$pause-job'),
  'POST /fhir/$pause-job': ofJob('$pause-job', parameters),
  'GET /fhir/$resume-job': ofJob('$resume-job'),
  'POST /fhir/$resume-job': ofJob('$resume-job', parameters),
  'GET /fhir/$list-jobs': listed({}),
  'POST /fhir/$list-jobs': listed(parameters),
  'GET /fhir/$download-resource': downloaded({}),
  'POST /fhir/$download-resource': downloaded(parameters),
  'GET /api/chart': () => lookedUp('/api/chart?search='),
  'GET /api/chart/:patientId': ofPatients(id => `/api/chart/${id}`),
  'GET /api/patientinfo/patient/id': (): readonly Probe[] => [
    { path: `/api/patientinfo/patient/id?lastName=${familyOf(OWN)}`, shows: OWN },
    { path: `/api/patientinfo/patient/id?lastName=${familyOf(stranger())}`, refuses: 'one' },
  ],
  'GET /api/patientinfo/:patientId': ofPatients(id => `/api/patientinfo/${id}`),
  'GET /api/patientsummary': () => lookedUp('/api/patientsummary?search='),
  'GET /api/:patientId/ccds/api/list-encounters': ofPatients(id => `/api/${id}/ccds/api/list-encounters`, {
    named: false,
  }),
  'GET /api/:patientId/ccds/api/encounter-ccds': () =>
    [...world.known.values()]
      .filter(({ type, patients }) => type === 'Encounter' && patients?.has(stranger()) === true)
      .map(({ resource }) => ({ path: `/api/${OWN}/ccds/api/encounter-ccds?encounterId=${resource.id}` })),
  // These requests cannot be undone, so they come last.
  'GET /fhir/$cancel-job': (): readonly Probe[] => [{ path: `/fhir/$cancel-job?_jobId=${job}`, refuses: 'both' }],
  'DELETE /fhir/$export-poll-status': ofJob('$export-poll-status', { method: 'DELETE' }),
  'POST /fhir/$cancel-job': (): readonly Probe[] => [
    { path: `/fhir/$cancel-job?_jobId=${job}`, init: parameters, refuses: 'both' },
  ],
};

const DOCUMENT = '"resourceType":"DocumentReference"';

const documents = (init: RequestInit): readonly Probe[] => {
  const { mine, other } = pairOf('DocumentReference');
  const of = (id: string): string => `/fhir/DocumentReference/$docref?patient=${id}`;
  return [
    ...(mine ? [{ path: of(OWN), init, shows: DOCUMENT }] : []),
    ...[...(other?.patients ?? [])].map(id => ({ path: of(id), init, hides: DOCUMENT })),
  ];
};

const lookedUp = (path: string): readonly Probe[] => [
  { path: path + familyOf(OWN), shows: familyOf(OWN) },
  { path: path + familyOf(stranger()) },
];

/** Returns the row of a route; all documents of the REST interface share one form. */
function rowOf(route: string): Row | undefined {
  const topic = /^GET \/api\/:patientId\/ccds\/api\/([a-z-]+)$/.exec(route)?.[1];
  return ROWS[route] ?? (topic === undefined ? undefined : ofPatients(id => `/api/${id}/ccds/api/${topic}`));
}

function routesOf(): readonly string[] {
  const routes = rest.app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => `${method} ${path}`);
  return [...new Set(routes)];
}

describe('of a caller who may see one patient', () => {
  test('each route has a row in the matrix', () => {
    expect(routesOf().filter(route => rowOf(route) === undefined)).toEqual([]);
    expect(Object.keys(ROWS).filter(route => !routesOf().includes(route))).toEqual([]);
  });

  test('each type of the compartment has a resource of the patient and one of another patient', () => {
    const bound = pairs.filter(({ type }) => type === 'Patient' || patientCompartmentOf(type).length > 0);
    expect(bound.length).toBeGreaterThan(15);
    const alone = bound.filter(({ type, mine, other }) => type !== 'Group' && (!mine || !other));
    expect(alone.map(({ type }) => type)).toEqual([]);
    expect(job).not.toBe('');
  });

  test('no route returns data of another patient, and each returns data of the own', { timeout: 600_000 }, async () => {
    const faults: string[] = [];
    let probes = 0;
    for (const route of [...routesOf()].toSorted((a, b) => order(a) - order(b))) {
      const row = rowOf(route);
      if (row === undefined || row === NOTHING) continue;
      const asked = row.length === 0 ? (row as () => readonly Probe[])() : pairs.flatMap(pair => row(pair));
      for (const probe of asked) {
        probes++;
        faults.push(...(await faultsOf(probe)));
      }
    }
    expect(faults).toEqual([]);
    expect(probes).toBeGreaterThan(500);
  });

  test('a page link of another caller returns no data of other patients', { timeout: 600_000 }, async () => {
    const followed: string[] = [];
    for (const { type, other } of pairs) {
      const first = (await (await ask('all', { path: `/fhir/${type}?_count=1` })).json()) as {
        readonly link?: readonly { readonly relation: string; readonly url: string }[];
      };
      const next = first.link?.find(({ relation }) => relation === 'next')?.url;
      if (next === undefined || other === undefined) continue;
      const { pathname, search } = new URL(next);
      followed.push(type);
      expect(await faultsOf({ path: pathname + search }), type).toEqual([]);
    }
    expect(followed.length).toBeGreaterThan(15);
  });
});

function order(route: string): number {
  const at = Object.keys(ROWS).indexOf(route);
  return at < 0 ? 0 : at;
}
