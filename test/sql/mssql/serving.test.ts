/**
 * The whole server against a scripted SQL Server that appears, disappears, falls silent and refuses: the answers to
 * clients and the log meanwhile.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { createLog } from '../../../src/log.ts';
import { startServer } from '../../../src/main.ts';
import { printError } from '../../../src/start/print-error.ts';
import { type Asked, type Endpoint, openEndpoint } from './endpoint.ts';
import { until } from './open.ts';
import { schemaScript } from './schema-script.ts';
import { HOUSE, PLACE, packFolder, ROOM } from './three-mappings.ts';

const SECRET = 'hunter2-4711';
const script = schemaScript({ tables: { PLACE, ROOM, HOUSE } });

interface Told {
  /** Everything that a person or a log collector sees. */
  readonly lines: string[];
}

interface Served extends Told {
  readonly get: (path: string, signal?: AbortSignal) => Promise<Response>;
}

/** The password is read from a file. `options`: of the address. */
function environment(endpoint: Endpoint, options: string): Readonly<Record<string, string>> {
  const folder = packFolder();
  writeFileSync(join(folder, 'password'), `${SECRET}\n`);
  return {
    DATABASE_URL: `mssql://reader@127.0.0.1:${endpoint.port}/ehr?encrypt=false&connectTimeout=3000${options}`,
    DATABASE_PASSWORD_FILE: join(folder, 'password'),
    MAPPINGS: folder,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    CACHE_TTL: '0',
  };
}

async function serve(endpoint: Endpoint, told: Told, options = ''): Promise<Served | undefined> {
  const note = (text: string): void => void told.lines.push(text);
  const log = createLog({ level: 'debug', format: 'json', write: note });
  const running = await startServer(readConfig(environment(endpoint, options)), { out: note, note }, log);
  if (running === undefined) return undefined;
  onTestFinished(() => running.stop());
  return { ...told, get: (path, signal) => fetch(running.url + path, signal ? { signal } : {}) };
}

async function opened(options?: string): Promise<{ readonly endpoint: Endpoint; readonly served: Served }> {
  const endpoint = await openEndpoint(script);
  onTestFinished(() => endpoint.stop());
  const served = await serve(endpoint, { lines: [] }, options);
  if (served === undefined) throw new Error('nothing is served');
  return { endpoint, served };
}

const PLACES = '/fhir/Location?_count=1';

async function away({ get }: Served): Promise<void> {
  const response = await get(PLACES);
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(await response.json()).toMatchObject({
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', details: { coding: [{ code: 'LNT-304' }] } }],
  });
}

test('an outage is 503 and ends by itself, without showing the password', async () => {
  const { endpoint, served } = await opened();
  expect((await served.get(PLACES)).status).toBe(200);
  await endpoint.stop();
  for (let i = 0; i < 5; i++) await away(served);
  expect((await served.get('/ready')).status).toBe(503);
  expect((await served.get('/health')).status).toBe(200);
  await endpoint.start();
  await until(async () => (await served.get(PLACES)).status === 200);
  expect((await served.get('/ready')).status).toBe(200);
  expect(served.lines.length).toBeGreaterThan(5);
  expect(served.lines.join('\n')).not.toMatch(/hunter2|reader|127\.0\.0\.1:\d+\/ehr/);
});

test('an unknown error is reported by /ready, a known one is not', async () => {
  const { endpoint, served } = await opened();
  endpoint.script = asked => (asksPlaces(asked) ? { error: 99_123 } : script(asked));
  expect((await served.get(PLACES)).status).toBe(500);
  const ready = await served.get('/ready');
  expect(ready.status).toBe(200);
  expect(await ready.json()).toMatchObject({ warnings: [expect.stringMatching(/no rule for: 99123 \(1×\)/)] });
});

test('a locked table is 503 with a reason, without the table name', async () => {
  const { endpoint, served } = await opened();
  endpoint.script = asked => (asksPlaces(asked) ? { error: 1222 } : script(asked));
  for (let i = 0; i < 2; i++) {
    const response = await served.get(PLACES);
    expect(response.status).toBe(503);
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
    const text = await response.text();
    expect(text).toContain('A table that this needs is locked by another program; try again later');
    expect(text).toContain('"LNT-312"');
    expect(text).not.toContain('PLACE');
  }
  expect(served.lines.join('\n')).toMatch(/place is locked for too long/);
});

test('a stalled server is 503', async () => {
  const { endpoint, served } = await opened();
  expect((await served.get(PLACES)).status).toBe(200);
  endpoint.script = () => 'deaf';
  await Promise.all([1, 2, 3].map(() => away(served)));
  // From then on only probes are sent.
  const statements = () => endpoint.asked.filter(({ text }) => text.includes('FROM PLACE')).length;
  const before = statements();
  await away(served);
  expect(statements()).toBe(before);
  endpoint.script = script;
  await until(async () => (await served.get(PLACES)).status === 200);
});

const asksPlaces = ({ kind, text }: Asked): boolean => kind === 'rpc' && text.includes('FROM PLACE');

test('a client that goes away has its statement cancelled on the server', async () => {
  const { endpoint, served } = await opened();
  endpoint.script = asked => (asksPlaces(asked) ? 'hang' : script(asked));
  const client = new AbortController();
  const answer = served.get(PLACES, client.signal);
  const gone = expect(answer).rejects.toThrow();
  await until(() => endpoint.asked.some(asksPlaces));
  client.abort();
  await gone;
  await until(() => endpoint.asked.some(({ kind }) => kind === 'attention'));
  endpoint.script = script;
  expect((await served.get(PLACES)).status).toBe(200);
});

test('requests beyond the queue get 503 and Retry-After, queued ones their answer', async () => {
  const { endpoint, served } = await opened('&pool=1&queue=1');
  const { promise: free, resolve } = Promise.withResolvers<void>();
  endpoint.script = async asked => {
    if (asksPlaces(asked)) await free;
    return script(asked);
  };
  const first = served.get(PLACES);
  await until(() => endpoint.asked.some(asksPlaces));
  // Different requests, so that none shares another's answer.
  const [second, third] = ['2', '3'].map(count => served.get(`/fhir/Location?_count=${count}`));
  const refused = await Promise.race([second, third]);
  expect(refused?.status).toBe(503);
  expect(Number(refused?.headers.get('Retry-After'))).toBeGreaterThan(0);
  resolve();
  const statuses = (await Promise.all([first, second, third])).map(answer => answer?.status);
  expect(statuses.toSorted()).toEqual([200, 200, 503]);
});

test.each([
  [18456, /refuses the login/],
  [4060, /cannot be opened/],
])('a start with error %i reports it without a secret', async (error, message) => {
  const endpoint = await openEndpoint(({ kind }) => (kind === 'login' ? { error } : undefined));
  onTestFinished(() => endpoint.stop());
  const told: Told = { lines: [] };
  const failed = await serve(endpoint, told).catch((thrown: unknown) => thrown);
  printError(failed, text => told.lines.push(text));
  expect(told.lines.join('\n')).toMatch(message);
  expect(told.lines.join('\n')).not.toMatch(/hunter2|reader|canary/);
});
