/** A server whose pack is edited while it serves. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { type Running, startServer } from '../../src/main.ts';
import { PLACES, type SmallClinic, smallClinic, VISITS } from '../cli/small-clinic.ts';

const PEOPLE = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
  birthDate: { from: BORN }
`;

/** A mapping without elements to search by. */
const NAMELESS = PEOPLE.replace(/ {2}name:.*\n/, '');
const MISSPELT = PEOPLE.replace('SURNAME', 'SURNAM').replace('BORN', 'BRON');

interface Edited extends SmallClinic {
  readonly running: Running;
  readonly url: string;
  readonly lines: string[];
  write(file: string, text: string): void;
  alter(text: string): void;
  get(path: string): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
}

async function serving(environment: Record<string, string> = {}, files = {}): Promise<Edited> {
  const clinic = smallClinic({ 'person.yaml': PEOPLE, ...files });
  const lines: string[] = [];
  const running = await startServer(
    readConfig({ ...clinic.environment, RELOAD_INTERVAL: '0', ...environment }),
    { out: () => {}, note: () => {} },
    createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
  );
  if (running === undefined) throw new Error('the pack has errors');
  onTestFinished(() => running.stop());
  return {
    ...clinic,
    running,
    url: running.url,
    lines,
    write: (file, text) => writeFileSync(join(clinic.pack, file), text),
    alter(text) {
      const database = new DatabaseSync(clinic.environment['DATABASE_URL']?.slice('sqlite:'.length) ?? '');
      database.exec(text);
      database.close();
    },
    async get(path) {
      const response = await fetch(running.url + path, { headers: { accept: 'application/json' } });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
  };
}

const said = ({ lines }: Edited, message: string): readonly Record<string, unknown>[] =>
  lines.map(line => JSON.parse(line)).filter(line => line.message === message);

test('an edited mapping is served without a restart, with its /metadata', async () => {
  const server = await serving({ RELOAD_INTERVAL: '1' });
  expect((await server.get('/fhir/Patient/1')).body).toMatchObject({ name: [{ family: 'Kowalski' }] });
  server.write('person.yaml', NAMELESS);
  await vi.waitFor(async () => expect((await server.get('/fhir/Patient/1')).body).not.toHaveProperty('name'), {
    timeout: 60_000,
    interval: 100,
  });
  const strict = { headers: { prefer: 'handling=strict' } };
  expect((await fetch(`${server.url}/fhir/Patient?family=Kowalski`, strict)).status).toBe(400);
  expect(JSON.stringify((await server.get('/fhir/metadata')).body)).not.toContain('"family"');
  expect(said(server, 'mappings swapped')).toHaveLength(1);
}, 30_000);

test('with a broken file the old version is served, and /, /ready and the log report it', async () => {
  const server = await serving();
  const { pack } = (await server.get('/')).body as { pack: { version: string } };
  server.write('person.yaml', MISSPELT);
  expect(await server.running.reload()).toBe('refused');
  expect((await server.get('/fhir/Patient?family=Kowalski')).body).toMatchObject({ total: 1 });
  const home = (await server.get('/')).body;
  expect(home).toMatchObject({
    pack,
    refused: {
      problems: [
        expect.stringMatching(/^person\.yaml:6:\d+: .*SURNAM; did you mean SURNAME\?/),
        expect.stringMatching(/^person\.yaml:7:\d+: .*BRON/),
      ],
    },
  });
  const page = await (await fetch(`${server.url}/`, { headers: { accept: 'text/html' } })).text();
  expect(page).toContain('did you mean SURNAME?');
  const ready = await server.get('/ready');
  expect(ready.status).toBe(200);
  expect(ready.body).toMatchObject({ status: 'ok', warnings: [expect.stringContaining('mappings on disk')] });
  expect(said(server, 'mapping problem').map(({ at, level }) => [level, at])).toEqual([
    ['error', expect.stringMatching(/^person\.yaml:6:\d+$/)],
    ['error', expect.stringMatching(/^person\.yaml:7:\d+$/)],
  ]);
  expect(said(server, 'the mappings on disk are refused')).toMatchObject([{ level: 'error', serving: pack.version }]);
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  for (const line of [
    'lintel_mapping_refused 1',
    `lintel_mapping_info{pack="small",version="${pack.version}"} 1`,
    'lintel_mapping_reloads_total{outcome="refused"} 1',
    'lintel_sql_statements_total{mapping="people",bulkhead="interactive",outcome="answered"} 1',
    'lintel_export_jobs{status="running"} 0',
    'lintel_cache_answers_total{result="miss"} 1',
    'lintel_http_request_duration_seconds_count{method="GET",route="/fhir/Patient",status="200"} 1',
  ]) {
    expect(metrics.split('\n')).toContain(line);
  }
});

test('a pack without a former mapping is used only on request, and that is reported', async () => {
  const server = await serving({ RELOAD_INTERVAL: '1' }, { 'place.yaml': PLACES });
  expect((await server.get('/fhir/Organization/place-1')).status).toBe(200);
  // As a copy in progress leaves it, file by file.
  rmSync(join(server.pack, 'place.yaml'));
  server.write('person.yaml', NAMELESS);
  await vi.waitFor(() => expect(said(server, 'the mappings on disk are refused')).toHaveLength(1), {
    timeout: 60_000,
    interval: 100,
  });
  expect((await server.get('/fhir/Organization/place-1')).status).toBe(200);
  expect((await server.get('/fhir/Patient/1')).body).toHaveProperty('name');
  expect(JSON.stringify((await server.get('/ready')).body)).toContain('mappings on disk');
  await server.running.reload();
  expect((await server.get('/fhir/Organization/place-1')).status).toBe(404);
  expect((await server.get('/fhir/Patient/1')).body).not.toHaveProperty('name');
  expect(said(server, 'mappings swapped')).toEqual([expect.objectContaining({ gone: 'places' })]);
});

test('of thousands of problems the first are reported, with the total', async () => {
  const server = await serving();
  server.write('codes.yaml', Array.from({ length: 3000 }, (_, i) => `slip${i}: 1\n`).join(''));
  expect(await server.running.reload()).toBe('refused');
  const { refused } = (await server.get('/')).body as { refused: { problems: string[] } };
  expect(refused.problems).toHaveLength(201);
  expect(refused.problems.at(-1)).toMatch(/^and \d{4} more; lintel check lists them all$/);
  expect(said(server, 'mapping problem')).toHaveLength(200);
});

test('a refusal is cleared once the files are valid again, changed or restored', async () => {
  const server = await serving({ RELOAD_INTERVAL: '1' });
  const waiting = { timeout: 60_000, interval: 100 };
  for (const text of [PEOPLE, NAMELESS]) {
    server.write('person.yaml', 'mapping: [');
    await vi.waitFor(async () => expect((await server.get('/')).body).toHaveProperty('refused'), waiting);
    server.write('person.yaml', text);
    await vi.waitFor(async () => expect((await server.get('/')).body).not.toHaveProperty('refused'), waiting);
    expect((await server.get('/ready')).body).not.toHaveProperty('warnings');
  }
  expect(said(server, 'mappings swapped')).toHaveLength(1);
});

test('a folder that is missing for a moment changes nothing', async () => {
  const server = await serving();
  rmSync(server.pack, { recursive: true });
  expect(await server.running.reload()).toBe('later');
  expect((await server.get('/fhir/Patient/1')).status).toBe(200);
});

test('mappings are checked against the schema as it is now', async () => {
  const server = await serving();
  const wider = `${PEOPLE}  telecom: [ { system: phone, value: { from: PHONE } } ]\n`;
  server.write('person.yaml', wider);
  expect(await server.running.reload()).toBe('refused');
  server.alter("ALTER TABLE PERSON ADD COLUMN PHONE VARCHAR(20); UPDATE PERSON SET PHONE = '555-0101'");
  expect(await server.running.reload()).toBe('swapped');
  expect((await server.get('/fhir/Patient/1')).body).toMatchObject({ telecom: [{ value: '555-0101' }] });
});

test('a table dropped at run time is reported with its mappings, in the log, /ready and /, by one check', async () => {
  const server = await serving({ CACHE_MAX_AGE: '0' });
  expect((await server.get('/fhir/Observation')).status).toBe(200);
  server.alter('ALTER TABLE WEIGHING RENAME COLUMN KG TO WEIGHT');
  const failed = await Promise.all(
    Array.from({ length: 40 }, (_, i) => server.get(`/fhir/Observation?_count=${i + 1}`)),
  );
  expect(new Set(failed.map(({ status }) => status))).toEqual(new Set([500]));
  expect(failed[0]?.body).toMatchObject({
    issue: [{ code: 'exception', diagnostics: expect.stringContaining('lacks a table or a column') }],
  });
  expect((await server.get('/fhir/Patient/1')).status).toBe(200);
  const warnings = async () => (await server.get('/ready')).body['warnings'];
  await vi.waitFor(async () => expect(await warnings()).toEqual([expect.stringContaining('database lacks')]), 60_000);
  expect((await server.get('/ready')).status).toBe(200);
  expect((await server.get('/')).body).toMatchObject({
    lacking: { problems: [expect.stringMatching(/^weighing\.yaml:\d+:\d+: .*KG/)] },
  });
  const page = await (await fetch(`${server.url}/`, { headers: { accept: 'text/html' } })).text();
  expect(page).toContain('The database lacks what the mappings need');
  const [line] = said(server, 'the database lacks a table or a column');
  expect(line).toMatchObject({ code: 'SQLITE_ERROR', number: 1, mapping: 'weights', request: expect.any(String) });
  expect(said(server, 'the database lacks what the mappings need')).toHaveLength(1);
  const metrics = async () => (await (await fetch(`${server.url}/metrics`)).text()).split('\n');
  expect(await metrics()).toEqual(
    expect.arrayContaining([
      'lintel_schema_looks_total{outcome="lacking"} 1',
      'lintel_schema_lacking 1',
      'lintel_sql_statements_total{mapping="weights",bulkhead="interactive",outcome="missing"} 40',
    ]),
  );
  server.alter('ALTER TABLE WEIGHING RENAME COLUMN WEIGHT TO KG');
  expect(await server.running.reload()).toBe('swapped');
  expect(await warnings()).toBeUndefined();
  expect((await server.get('/fhir/Observation')).status).toBe(200);
  expect(await metrics()).toContain('lintel_schema_lacking 0');
});

test('a page link of the previous version works, unless the sort order changed; then it is refused with advice', async () => {
  const server = await serving();
  const { link } = (await server.get('/fhir/Patient?_count=1')).body as { link: { relation: string; url: string }[] };
  const next = (link.find(({ relation }) => relation === 'next')?.url ?? '').slice(server.url.length);
  expect((await server.get(next)).status).toBe(200);
  server.write('person.yaml', NAMELESS);
  expect(await server.running.reload()).toBe('swapped');
  expect((await server.get(next)).status).toBe(200);
  server.write('person.yaml', PEOPLE.replace('key: [ID]', 'key: [ID, SURNAME]'));
  expect(await server.running.reload()).toBe('swapped');
  const refused = await server.get(next);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain('the mappings have changed');
  expect(JSON.stringify(refused.body)).toContain('start again from the first page');
});

test('requests never fail during version changes', async () => {
  const server = await serving();
  const statuses = new Set<number>();
  let over = false;
  const asking = [1, 2, 3].map(async () => {
    while (!over) statuses.add((await server.get('/fhir/Observation?_include=Observation:subject')).status);
  });
  for (const text of [NAMELESS, MISSPELT, PEOPLE, NAMELESS, PEOPLE]) {
    server.write('person.yaml', text);
    await server.running.reload();
  }
  over = true;
  await Promise.all(asking);
  expect([...statuses]).toEqual([200]);
  expect(said(server, 'mappings swapped')).toHaveLength(4);
});

test('REST sessions survive a reload, and the interface appears and disappears with ccds.yaml', async () => {
  const server = await serving({ DEMO_USER: 'anna', DEMO_PASSWORD: 'correct horse' }, { 'visits.yaml': VISITS });
  expect((await fetch(`${server.url}/api/patientinfo/1`)).status).toBe(404);
  server.write('ccds.yaml', 'lists: {}\n');
  expect(await server.running.reload()).toBe('swapped');
  const login = await fetch(`${server.url}/api/users/login`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'anna', password: 'correct horse' }),
  });
  const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
  const info = async () => (await fetch(`${server.url}/api/patientinfo/1`, { headers: { cookie } })).json();
  expect(await info()).toMatchObject({ lastName: 'Kowalski' });
  server.write('person.yaml', NAMELESS);
  expect(await server.running.reload()).toBe('swapped');
  expect(JSON.stringify(await info())).not.toContain('Kowalski');
});

test('a missing custodian is logged at the start and at each reload', async () => {
  const ccds = (id: number) => `custodian: Organization?_id=place-${id}\nlists: {}\n`;
  const user = { DEMO_USER: 'anna', DEMO_PASSWORD: 'correct horse' };
  const server = await serving(user, { 'places.yaml': PLACES, 'visits.yaml': VISITS, 'ccds.yaml': ccds(99) });
  const told = () => said(server, 'mapping problem').filter(({ at }) => at === 'ccds.yaml:1:12');
  await vi.waitFor(() => expect(told()).toHaveLength(1), 60_000);
  expect(told()[0]).toMatchObject({
    level: 'warn',
    problem: expect.stringContaining('no Organization is the custodian'),
  });
  server.write('ccds.yaml', ccds(98));
  expect(await server.running.reload()).toBe('swapped');
  await vi.waitFor(() => expect(told()).toHaveLength(2), 60_000);
});

test('SIGHUP reloads the mappings', async () => {
  const clinic = smallClinic({ 'person.yaml': PEOPLE });
  const child = spawn(process.execPath, [new URL('../../bin/lintel.mjs', import.meta.url).pathname, 'serve'], {
    env: { ...clinic.environment, RELOAD_INTERVAL: '0', LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
  });
  let out = '';
  let log = '';
  child.stdout.on('data', chunk => {
    out += chunk;
  });
  child.stderr.on('data', chunk => {
    log += chunk;
  });
  const waiting = { timeout: 60_000, interval: 50 };
  await vi.waitFor(() => expect(out).toContain('Stop with'), waiting);
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(out) ?? [''];
  const patient = async () => (await fetch(`${url}/fhir/Patient/1`)).json();
  expect(await patient()).toHaveProperty('name');
  writeFileSync(join(clinic.pack, 'person.yaml'), MISSPELT);
  child.kill('SIGHUP');
  await vi.waitFor(() => expect(log).toContain('"at":"person.yaml:6:'), waiting);
  expect(await patient()).toHaveProperty('name');
  writeFileSync(join(clinic.pack, 'person.yaml'), NAMELESS);
  child.kill('SIGHUP');
  await vi.waitFor(() => expect(log).toContain('mappings swapped'), waiting);
  expect(await patient()).not.toHaveProperty('name');
});
