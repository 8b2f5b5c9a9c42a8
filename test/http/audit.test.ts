import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { seeingPatients } from '../../src/audit/patients-in.ts';
import type { AuditRecord } from '../../src/audit/record.ts';
import { accessToPatients } from '../../src/auth/access.ts';
import type { Grant } from '../../src/auth/token.ts';
import { summaryMaker } from '../../src/ccda/summary.ts';
import { TOPICS } from '../../src/ccda/topics.ts';
import { readConfig } from '../../src/config/config.ts';
import type { AppParts, HttpEnv } from '../../src/http/context.ts';
import { askedFor } from '../../src/http/middleware/audit.ts';
import { createEntry } from '../../src/http/middleware/bearer.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { FhirError } from '../../src/outcome.ts';
import { rowsOf } from '../audit/records.ts';
import { demoContent } from '../ccda/demo-documents.ts';
import { clinic, finished, kickOff, LENIENT, served } from '../export/exporting.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { form, type RestUnderTest, restUnderTest } from '../rest/rest-under-test.ts';

let demo: Demo;
let under: RestUnderTest;
const records: AuditRecord[] = [];

const audit = {
  async write(record: AuditRecord) {
    records.push(record);
  },
};

const jobs = {
  load: () => ({ jobs: { running: 0, paused: 0, complete: 0, failed: 0 }, threads: { running: 0, waiting: 0 } }),
  list: () => [],
  view: () => undefined,
  resume: () => undefined,
  download: () => undefined,
  isLost: () => false,
  pause: async () => undefined,
  remove: async () => false,
  settled: async () => {},
  close: async () => {},
  start() {
    throw new FhirError('too-many-requests', 'too many');
  },
} satisfies NonNullable<AppParts['exports']>['jobs'];

beforeAll(async () => {
  demo = await openDemo({ patients: 3 });
  const facade = seeingPatients(demo.facade);
  under = await restUnderTest(facade, {}, undefined, {
    audit,
    exports: { jobs, facade },
    metrics: createMetrics(),
    explain: async () => {
      throw new FhirError('no-such-resource', 'nothing is explained here');
    },
    summary: summaryMaker({ facade, content: demoContent(facade), software: { name: 'Lintel', version: '0' } }),
  });
});
afterAll(() => demo.close());

/** The audit records of one request. */
async function audited(
  app: Hono<HttpEnv>,
  path: string,
  init: RequestInit = {},
): Promise<{ readonly response: Response; readonly written: readonly AuditRecord[] }> {
  records.length = 0;
  const response = await app.request(`http://localhost${path}`, init);
  await response.arrayBuffer();
  return { response, written: [...records] };
}

/** Routes that reveal nothing about patients. A new route is either audited, or listed here after a decision. */
const NOT_AUDITED = ['/', '/health', '/ready', '/metrics', '/search/:type', '/fhir/metadata'];
const MIDDLEWARE = /\/\*$|^\*$/;
const VALUES: Readonly<Record<string, string>> = {
  ':type': 'Patient',
  ':id': '1',
  ':inner': 'Observation',
  ':version': '1',
  ':patientId': '1',
};

test('each route writes exactly one audit record, except those listed without patient data', async () => {
  const routes = new Set(under.app.routes.map(({ path }) => path).filter(path => !MIDDLEWARE.test(path)));
  expect(routes.size).toBeGreaterThan(50);
  const wrong: string[] = [];
  for (const route of routes) {
    const path = route.replace(/:[a-zA-Z]+/g, name => VALUES[name] ?? 'x');
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
      const { response, written } = await audited(under.app, path, { method });
      const expected = NOT_AUDITED.includes(route) ? 0 : 1;
      if (written.length !== expected) wrong.push(`${method} ${route}: ${response.status}, ${written.length} records`);
      for (const one of written) expect(one.status, `${method} ${route}`).toBe(response.status);
    }
  }
  expect(wrong).toEqual([]);
});

test('the list of unaudited routes has no removed route', () => {
  const routes = under.app.routes.map(({ path }) => path);
  expect(NOT_AUDITED.filter(path => !routes.includes(path))).toEqual([]);
});

const JSON_TYPE = { 'content-type': 'application/fhir+json' };

test.each<readonly [status: number, path: string, init: RequestInit]>([
  [200, '/fhir/Patient/1', {}],
  [200, '/fhir/Patient/1', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }],
  [200, '/fhir/Patient/1/$everything', {}],
  [200, '/fhir/Patient/1/$ccd', {}],
  [200, '/fhir/Patient/_search', { method: 'POST', body: form({ family: 'x' }) }],
  [400, '/fhir/Patient?_count=x', { headers: { prefer: 'handling=strict' } }],
  [401, '/api/patientinfo/1', {}],
  [404, '/fhir/Patient/none', {}],
  [404, '/fhir/nothing/at/all/here', {}],
  [405, '/fhir/Patient/1', { method: 'PUT', body: '{}', headers: JSON_TYPE }],
  [406, '/fhir/Patient/1', { headers: { accept: 'image/png' } }],
  [413, '/fhir', { method: 'POST', body: 'x'.repeat(300_000), headers: JSON_TYPE }],
  [414, `/fhir/Patient?family=${'x'.repeat(9000)}`, {}],
  [415, '/fhir/Patient/_search', { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' } }],
  [429, '/fhir/$export', {}],
])('an answer with %i writes one audit record: %s', async (status, path, init) => {
  const { response, written } = await audited(under.app, path, init);
  expect(response.status).toBe(status);
  expect(written).toHaveLength(1);
  expect(written[0]).toMatchObject({ status, server: 'localhost' });
  if (status >= 400) expect(written[0]?.patients).toEqual([]);
});

test('a record has the request and the patients in the answer', async () => {
  const read = await audited(under.app, '/fhir/Patient/2');
  expect(read.written[0]).toMatchObject({
    who: { client: 'open' },
    interaction: 'read',
    resource: 'Patient/2',
    query: 'GET /fhir/Patient/2',
    route: 'GET /fhir/Patient/:id',
    patients: ['2'],
  });
  expect(read.written[0]?.request).toBe(read.response.headers.get('x-request-id'));
  const search = await audited(under.app, '/fhir/Patient/_search?_count=2', {
    method: 'POST',
    body: form({ _sort: '_id' }),
  });
  expect(search.written[0]).toMatchObject({
    interaction: 'search-type',
    query: 'POST /fhir/Patient/_search?_count=2\n_sort=_id',
    patients: ['1', '2'],
  });
});

test('a 304 answer is audited as an access to its patient', async () => {
  const first = await audited(under.app, '/fhir/Patient/1');
  const again = await audited(under.app, '/fhir/Patient/1', {
    headers: { 'if-none-match': first.response.headers.get('etag') ?? '' },
  });
  expect(again.response.status).toBe(304);
  expect(again.written).toMatchObject([{ status: 304, patients: ['1'] }]);
});

test('the patient is recorded even if _elements omits the reference', async () => {
  for (const selecting of ['_elements=meta', '_summary=true', '_summary=text', '_elements=id&_count=3']) {
    for (const type of ['Observation', 'Condition', 'Encounter', 'Provenance', 'DocumentReference']) {
      const count = selecting.includes('_count') ? '' : '&_count=20';
      const whole = await audited(under.app, `/fhir/${type}?_count=${count === '' ? 3 : 20}`);
      const part = await audited(under.app, `/fhir/${type}?${selecting}${count}`);
      expect(part.written[0]?.patients.toSorted(), `${type}?${selecting}`).toEqual(
        whole.written[0]?.patients.toSorted(),
      );
      expect(part.written[0]?.patients.length).toBeGreaterThan(0);
    }
  }
  const { entry } = (await (await under.app.request('http://localhost/fhir/Observation?_count=1')).json()) as {
    entry: { resource: { id: string; subject: { reference: string } } }[];
  };
  const { id, subject } = entry[0]?.resource ?? { id: '', subject: { reference: '' } };
  const { written } = await audited(under.app, `/fhir/Observation/${id}?_elements=status`);
  expect(written[0]?.patients.map(patient => `Patient/${patient}`)).toEqual([subject.reference]);
});

test('the patient of a Binary is recorded through the resource that refers to it', async () => {
  const response = await under.app.request('http://localhost/fhir/Binary?_count=1');
  const { entry } = (await response.json()) as { entry: { resource: { id: string } }[] };
  const { written } = await audited(under.app, `/fhir/Binary/${entry[0]?.resource.id}`);
  expect(written[0]?.patients).toHaveLength(1);
});

test('each request of a batch and the batch itself write a record, with one common id', async () => {
  const request = (url: string) => ({ request: { method: 'GET', url } });
  const { response, written } = await audited(under.app, '/fhir', {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({
      resourceType: 'Bundle',
      type: 'batch',
      entry: [request('Patient/1'), request('Patient?_id=2'), request('Patient/none')],
    }),
  });
  expect(response.status).toBe(200);
  expect(written.map(({ interaction, status, patients }) => ({ interaction, status, patients }))).toEqual(
    expect.arrayContaining([
      { interaction: 'read', status: 200, patients: ['1'] },
      { interaction: 'search-type', status: 200, patients: ['2'] },
      { interaction: 'read', status: 404, patients: [] },
      { interaction: 'batch', status: 200, patients: [] },
    ]),
  );
  expect(written).toHaveLength(4);
  expect(new Set(written.map(one => one.request))).toEqual(new Set([response.headers.get('x-request-id')]));
});

const NAMED: readonly (readonly [path: string, init: RequestInit])[] = [
  ['/fhir/Condition?patient=2&_summary=count', {}],
  ['/fhir/Condition?patient=Patient/2&_count=0&_total=accurate', {}],
  ['/fhir/Condition?subject:Patient=2&code=nothing', {}],
  ['/fhir/Condition?subject=2&code=nothing', {}],
  ['/fhir/Patient?_id=2&_summary=count', {}],
  ['/fhir/Patient?_id=2&gender=unknown', {}],
  ['/fhir/Patient/_search', { method: 'POST', body: form({ _id: '2', gender: 'unknown' }) }],
  ['/fhir/Encounter?subject:Patient._id=2&status=planned', {}],
  ['/fhir/Practitioner?_has:Patient:general-practitioner:_id=2&_summary=count', {}],
  ['/fhir/Practitioner?_has:Encounter:practitioner:patient=2', {}],
  ['/fhir/Patient/2/Condition?code=nothing', {}],
  ['/fhir/Patient/2/Condition?_summary=count', {}],
  ['/fhir?_type=Condition,Observation&patient=2&code=nothing', {}],
];

test.each(NAMED)(
  'a patient whom a search names is recorded, even if the answer has none of their data: %s',
  async (path, init) => {
    const { response, written } = await audited(under.app, path, init);
    expect(response.status).toBe(200);
    expect(written.map(({ patients }) => patients)).toEqual([['2']]);
  },
);

test.each([
  '/fhir/Patient?_summary=count',
  '/fhir/Patient?_id:not=1,2,3,4',
  '/fhir/Condition?patient:Patient._id:not=2&code=nothing',
  '/fhir/Organization?_id=2&_summary=count',
])('no patient is recorded for %s', async path => {
  const { response, written } = await audited(under.app, path);
  expect(response.status).toBe(200);
  expect(written.map(({ patients }) => patients)).toEqual([[]]);
});

test('the REST interface: records have the account and the patients, never a password', async () => {
  records.length = 0;
  const client = await under.client();
  expect(records).toMatchObject([{ who: { client: 'rest', subject: 'anna' }, route: 'POST /api/users/login' }]);
  expect(JSON.stringify(records)).not.toContain('password=');
  records.length = 0;
  expect((await client.get('/api/patientinfo/2')).status).toBe(200);
  expect(records).toMatchObject([{ who: { client: 'rest', subject: 'anna' }, status: 200, patients: ['2'] }]);
  records.length = 0;
  expect((await client.get(`/api/1/ccds/api/${TOPICS[0]?.name}`)).status).toBe(200);
  expect(records).toMatchObject([{ who: { client: 'rest', subject: 'anna' }, interaction: 'operation', status: 200 }]);
  expect(records[0]?.patients).toContain('1');
});

test('a pack without patients answers searches that name one', async () => {
  const { facade } = demo;
  const types = facade.offers.types.filter(type => type !== 'Patient');
  const search: typeof facade.search = async (request, context) => {
    if (request.type === 'Patient') throw new FhirError('unknown-type', 'this server has no Patient resources');
    return facade.search(request, context);
  };
  const seen: string[] = [];
  const request = { type: 'Condition', parameters: [['patient', '1'] as const, ['code', 'nothing'] as const] };
  const context = {
    ...{ access: accessToPatients('app', ['1']), base: 'http://localhost/fhir', handling: 'strict' as const },
    see: (ids: Iterable<string>) => void seen.push(...ids),
  };
  const found = await seeingPatients({ ...facade, search, offers: { ...facade.offers, types } }).search(
    request,
    context,
  );
  expect([found.entries, seen]).toEqual([0, []]);
});

test('the REST interface: a refused login names the account that was tried, if there is one', async () => {
  const tried = async (username: string) =>
    (await audited(under.app, '/api/users/login', { method: 'POST', body: form({ username, password: 'wrong one' }) }))
      .written;
  expect(await tried('anna')).toMatchObject([{ who: { client: 'open', subject: 'anna' }, status: 401 }]);
  expect((await tried('correct horse battery')).map(({ who }) => who)).toEqual([{ client: 'open' }]);
  expect((await tried('nobody-of-this-name')).map(({ who }) => who)).toEqual([{ client: 'open' }]);
});

const GRANT: Grant = {
  subject: 'u7',
  client: 'app',
  issuer: 'https://issuer.example.org',
  scopes: ['patient/*.rs'],
  patient: '1',
  fhirUser: 'Practitioner/7',
  purpose: 'BTG',
  expires: Date.now() + 3_600_000,
};

test('access token: records have application, person, issuer and purpose, for refusals, too', async () => {
  const tokens = { grantOf: async (token: string) => (token === 'good' ? GRANT : undefined) };
  const entry = createEntry(tokens, ({ client }) => accessToPatients(client, ['1']));
  const facade = seeingPatients(demo.facade);
  const config = { ...readConfig({}), access: 'jwt' } as const;
  const { app } = await restUnderTest(facade, {}, undefined, { audit, entry, config });
  const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });
  expect((await audited(app, '/fhir/Patient/1', bearer('good'))).written).toMatchObject([
    {
      who: { client: 'app', subject: 'u7', issuer: GRANT.issuer, user: 'Practitioner/7', purpose: 'BTG' },
      status: 200,
      patients: ['1'],
    },
  ]);
  expect((await audited(app, '/fhir/Patient/2', bearer('good'))).written).toMatchObject([
    { status: 404, patients: [] },
  ]);
  // The records of a search name only patients whom the caller may see.
  for (const [patient, patients] of [
    ['1', ['1']],
    ['2', []],
    ['none', []],
    ['1,2', ['1']],
  ])
    expect(
      (await audited(app, `/fhir/Condition?patient=${patient}&code=nothing`, bearer('good'))).written,
    ).toMatchObject([{ status: 200, patients }]);
  expect((await audited(app, '/fhir/Patient/1', bearer('bad'))).written).toMatchObject([
    { who: { client: 'nobody' }, status: 401, patients: [] },
  ]);
  expect((await audited(app, '/fhir/Patient/1')).written).toMatchObject([{ status: 401 }]);
});

test('an answer whose audit fails is not sent, in both interfaces', async () => {
  const failing = {
    write: async () => {
      throw new Error('disk');
    },
  };
  const { app, lines } = await restUnderTest(seeingPatients(demo.facade), {}, undefined, { audit: failing });
  const fhir = await app.request('http://localhost/fhir/Patient?family=Smithson');
  expect(fhir.status).toBe(503);
  expect(fhir.headers.get('retry-after')).toBe('30');
  expect(await fhir.json()).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ code: 'transient' }] });
  const rest = await app.request('http://localhost/api/patientinfo/1');
  expect(rest.status).toBe(503);
  expect(await rest.json()).toMatchObject({ error: 'unavailable' });
  expect((await app.request('http://localhost/fhir/metadata')).status).toBe(200);
  expect((await app.request('http://localhost/health')).status).toBe(200);
  expect(lines.join()).not.toContain('Smithson');
});

test('each cache hit is audited, with the patients in the answer', async () => {
  const where = clinic(5, 2);
  const { fhir } = await served(where, { AUDIT: 'required' });
  const statuses: string[] = [];
  for (let i = 0; i < 4; i++) {
    const response = await fetch(`${fhir}/Patient?_count=3`);
    await response.text();
    statuses.push(response.headers.get('cache-status') ?? '');
  }
  expect(statuses.filter(status => status.includes('hit')).length).toBeGreaterThan(1);
  const file = join(where.environment['DATA_DIR'] ?? '', 'audit.sqlite');
  const rows = rowsOf(
    file,
    'SELECT KEPT, (SELECT COUNT(*) FROM EVENT e WHERE e.SEQ = r.SEQ) AS N FROM RECORD r ORDER BY SEQ',
  );
  expect(rows.map(({ N }) => N)).toEqual([3, 3, 3, 3]);
  expect(rows.filter(({ KEPT }) => KEPT === 1)).toHaveLength(statuses.filter(status => status.includes('hit')).length);
});

test('a full audit store stops reads and cache hits; /metadata still answers', async () => {
  const where = clinic(5, 2);
  const { fhir, lines } = await served(where, { AUDIT: 'required', AUDIT_SIZE: '1' });
  const long = `${fhir}/Patient?_count=3&family=${'x'.repeat(3900)}`;
  let status = 200;
  for (let i = 0; i < 900 && status === 200; i++) {
    const response = await fetch(long);
    await response.text();
    status = response.status;
  }
  expect(status).toBe(503);
  const kept = await fetch(long);
  expect(kept.status).toBe(503);
  expect(await kept.json()).toMatchObject({ resourceType: 'OperationOutcome' });
  expect((await fetch(`${fhir}/metadata`)).status).toBe(200);
  expect(lines.join('\n')).toContain('the audit cannot be written');
  expect(lines.join('\n')).not.toContain('xxxx');
  expect((await fetch(`${new URL(fhir).origin}/ready`)).status).toBe(503);
  // An export whose client cannot learn of it is cancelled.
  const unsupported = `elements=${'x'.repeat(7000)}`;
  expect((await fetch(`${fhir}/$export?${unsupported}`, { headers: LENIENT })).status).toBe(503);
  const exports = (): readonly string[] =>
    readdirSync(join(where.folder, 'data', 'export')).filter(name => /^[0-9a-f]{32}$/.test(name));
  // Its thread may be reading a list of rows.
  await vi.waitFor(() => expect(exports()).toEqual([]), 60_000);
});

test('pages of a POST search have the search in the audit, cached ones too', async () => {
  const where = clinic(5, 2);
  const { fhir } = await served(where, { AUDIT: 'required' });
  const body = new URLSearchParams({ _count: '2', _id: '1,2,3,4,5,6' });
  const first = (await (await fetch(`${fhir}/Patient/_search`, { method: 'POST', body })).json()) as {
    readonly link: readonly { readonly relation: string; readonly url: string }[];
  };
  const next = first.link.find(({ relation }) => relation === 'next')?.url ?? '';
  expect(next).toContain('_sealed=');
  const statuses: string[] = [];
  for (let i = 0; i < 4; i++) {
    const response = await fetch(next);
    await response.text();
    statuses.push(response.headers.get('cache-status') ?? '');
  }
  expect(statuses.filter(status => status.includes('hit')).length).toBeGreaterThan(1);
  // A sealed value that cannot be opened is recorded as it came.
  await (await fetch(`${fhir}/Patient?_sealed=sx`)).text();
  const file = join(where.environment['DATA_DIR'] ?? '', 'audit.sqlite');
  const queries = rowsOf(file, 'SELECT QUERY FROM RECORD ORDER BY SEQ').map(({ QUERY }) => String(QUERY));
  expect(queries).toHaveLength(6);
  for (const query of queries.slice(1, 5)) {
    const asked = new URLSearchParams(query.slice(query.indexOf('?')));
    expect([asked.get('_id'), asked.has('_cursor'), asked.has('_sealed')]).toEqual(['1,2,3,4,5,6', true, false]);
  }
  expect(queries[5]).toBe('GET /fhir/Patient?_sealed=sx');
});

test('the audit is forwarded to a file, and /metrics shows its position', async () => {
  const where = clinic(5, 2);
  const file = join(where.environment['DATA_DIR'] ?? '', 'audit.ndjson');
  const { fhir } = await served(where, { AUDIT: 'required', AUDIT_JSON: file });
  await (await fetch(`${fhir}/Patient?_count=3`)).text();
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []);
  await expect.poll(() => lines().length).toBe(3);
  expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ resourceType: 'AuditEvent', id: '1-1' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const metrics = async () => (await fetch(new URL('/metrics', fhir))).text();
  await expect.poll(metrics).toContain('lintel_audit_sink_behind{sink="json"} 0');
  expect(await metrics()).toContain('lintel_audit_sink_events_total{sink="json"} 3');
});

test('files of an export: each download is audited, complete or aborted, with the export request', async () => {
  const where = clinic(40, 5);
  const { fhir } = await served(where, { AUDIT: 'required' });
  const manifest = await finished(await kickOff(`${fhir}/Patient/$export?_type=Patient`));
  const url = new URL(manifest.output[0]?.url ?? '');
  await (await fetch(url)).text();
  // A client that disconnects after the head of the answer.
  const socket = connect(Number(url.port), url.hostname);
  onTestFinished(() => void socket.destroy());
  await new Promise<void>(resolve => {
    socket.once('data', () => {
      socket.destroy();
      resolve();
    });
    socket.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
  });
  const file = join(where.environment['DATA_DIR'] ?? '', 'audit.sqlite');
  const rows = rowsOf(file, 'SELECT ROUTE, STATUS, BULK, QUERY FROM RECORD WHERE BULK = 1');
  expect(rows).toHaveLength(2);
  for (const { STATUS, QUERY } of rows) {
    expect(STATUS).toBe(200);
    expect(QUERY).toContain('/fhir/Patient/$export?_type=Patient');
  }
  expect(rowsOf(file, "SELECT STATUS FROM RECORD WHERE QUERY LIKE '%$export?%' AND BULK = 0")).toEqual([
    { STATUS: 202 },
  ]);
});

test.each([
  ['GET', '/fhir', 'search-system', undefined],
  ['POST', '/fhir/', 'batch', undefined],
  ['POST', '/fhir/_search', 'search-system', undefined],
  ['GET', '/fhir/Patient', 'search-type', undefined],
  ['POST', '/fhir/Patient/_search', 'search-type', undefined],
  ['GET', '/fhir/Patient/1/Observation', 'search-type', undefined],
  ['GET', '/fhir/Patient/1', 'read', 'Patient/1'],
  ['GET', '/fhir/Patient/%31', 'read', 'Patient/1'],
  ['GET', '/fhir/Patient/a%2Fb', 'read', undefined],
  ['GET', '/fhir/Patient/1/_history/2', 'vread', 'Patient/1'],
  ['GET', '/fhir/Patient/1/_history', 'history-instance', undefined],
  ['GET', '/fhir/Patient/1/%24everything', 'operation', undefined],
  ['GET', '/fhir/Patient/1/$everything', 'operation', undefined],
  ['GET', '/fhirs/Patient/1', 'operation', undefined],
  ['GET', '/%66hir/Patient/%31', 'read', 'Patient/1'],
  ['GET', '/api/patientinfo/1', 'operation', undefined],
])('%s %s is audited as %s', (method, path, interaction, resource) => {
  expect(askedFor(method, path, '/fhir')).toEqual(resource === undefined ? { interaction } : { interaction, resource });
});
