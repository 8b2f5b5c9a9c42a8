import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { boundedCache } from '../../src/common/caches.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { heapAfterCollection } from '../heap.ts';
import { HOSTILE, target } from './target.ts';

const MB = 1024 * 1024;
/** Milliseconds per flood. The full form sends some 180,000 requests. */
const LONGEST = HOSTILE ? 900_000 : 150_000;

test('a cache is bounded by the length of its keys, too', () => {
  const held = heapAfterCollection();
  const cache = boundedCache<{ n: number }>(10_000);
  const before = held();
  for (let n = 0; n < 5000; n++) cache.keep(`${n}${'x'.repeat(16_000)}`, { n });
  expect(held() - before).toBeLessThan(10 * MB);
  expect(cache.find(`4999${'x'.repeat(16_000)}`)).toEqual({ n: 4999 });
});

interface Attack {
  readonly method?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const LONG = 'x'.repeat(7000);
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** All inputs of clients that the server might store. `n`: a different one each time. */
const CHOSEN: Readonly<Record<string, (n: string) => Attack>> = {
  accept: n => ({ path: '/fhir/Patient/1', headers: { accept: `application/fhir+json;x=${n}${LONG}` } }),
  'short accept': n => ({ path: '/fhir/Patient/1', headers: { accept: `application/fhir+json;x=${n}` } }),
  'accept-encoding': n => ({ path: '/fhir/Patient?_count=2', headers: { 'accept-encoding': `gzip, ${n}${LONG}` } }),
  host: n => ({ path: '/fhir/Patient/1', headers: { host: `${n}.example` } }),
  'any header': n => ({ path: '/fhir/Patient/1', headers: { [`x-${n}`]: LONG } }),
  'request id': n => ({ path: '/fhir/Patient/1', headers: { 'x-request-id': n } }),
  traceparent: n => ({
    path: '/fhir/Patient/1',
    headers: { traceparent: `00-${n.replaceAll('-', '')}-0000000000000001-01` },
  }),
  prefer: n => ({ path: '/fhir/Patient/1', headers: { prefer: `handling=${n}${LONG}` } }),
  'cache-control': n => ({ path: '/fhir/Patient/1', headers: { 'cache-control': `max-age=0, ${n}${LONG}` } }),
  cookie: n => ({ path: '/api/patients', headers: { cookie: `JSESSIONID=${n}${LONG}` } }),
  token: n => ({ path: '/fhir/Patient/1', headers: { authorization: `Bearer ${n}${LONG}` } }),
  method: n => ({ method: 'PROPFIND', path: `/fhir/Patient/${n}`, headers: {} }),
  path: n => ({ path: `/${n}/${LONG}`, headers: {} }),
  'resource id': n => ({ path: `/fhir/Patient/${n}`, headers: {} }),
  'resource type': n => ({ path: `/fhir/${n}${LONG}`, headers: {} }),
  'parameter name': n => ({ path: `/fhir/Patient?${n}=${LONG}`, headers: {} }),
  'parameter value': n => ({ path: `/fhir/Patient?family=${n}${'x'.repeat(3900)}`, headers: {} }),
  'many values': n => ({
    path: `/fhir/Patient?_id=${Array.from({ length: 100 }, (_, i) => `${n}-${i}`).join()}`,
    headers: {},
  }),
  cursor: n => ({ path: `/fhir/Patient?_cursor=${n}${LONG}`, headers: {} }),
  elements: n => ({ path: `/fhir/Patient?_elements=${n},name`, headers: {} }),
  'body of a search': n => ({
    method: 'POST',
    path: '/fhir/Patient/_search',
    headers: FORM,
    body: `family=${n}${'x'.repeat(3900)}`,
  }),
  'sealed parameters': n => ({ path: `/fhir/Patient?_sealed=${n}${LONG}`, headers: {} }),
  'reason of a break-glass': n => ({ path: '/fhir/Patient/1', headers: { 'break-glass': `${n}${LONG}` } }),
  'if-none-match': n => ({ path: '/fhir/Patient/1', headers: { 'if-none-match': `W/"${n}${LONG}"` } }),
  origin: n => ({ path: '/fhir/Patient/1', headers: { origin: `https://${n}.example` } }),
  'search that is explained': n => ({ path: `/explain?query=Patient%3Ffamily%3D${n}${'x'.repeat(3900)}`, headers: {} }),
  'document of a patient': n => ({ path: `/api/${n}/ccds/api/all-patient-data?date=${n}`, headers: {} }),
  'export that is polled': n => ({ path: `/fhir/$export-poll-status/${n}`, headers: {} }),
  'user name': n => ({
    method: 'POST',
    path: '/api/users/login',
    headers: FORM,
    body: `username=${n}&password=${LONG}`,
  }),
  'user name without end': n => ({
    method: 'POST',
    path: '/api/users/login',
    headers: FORM,
    body: `username=${n}${LONG.repeat(30)}&password=x`,
  }),
};

test('no client input makes memory grow: every header, name, path and body', {
  timeout: LONGEST,
}, async () => {
  const { url } = await target({ CACHE_SIZE: '4', LOG_LEVEL: 'error' });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const send = ({ method = 'GET', path, headers, body }: Attack): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}${path}`, { method, headers, agent }, response => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject).end(body);
    });
  const flood = async (times: number): Promise<void> => {
    for (const attack of Object.values(CHOSEN))
      for (let i = 0; i < times; i += 8) await Promise.all(Array.from({ length: 8 }, () => send(attack(randomUUID()))));
  };
  const held = heapAfterCollection();
  const times = HOSTILE ? 2000 : 40;
  await flood(times);
  const before = held();
  await flood(times);
  await flood(times);
  const grown = held() - before;
  agent.destroy();
  console.log(`held for ${Object.keys(CHOSEN).length} kinds of floods: ${(grown / MB).toFixed(1)} MB`);
  // The full form sends 28 MB of most kinds, and would notice if one kind were stored; the short form would notice if
  // many were.
  expect(grown).toBeLessThan((HOSTILE ? 16 : 8) * MB);
});

test('replaced mappings are released, also while their connections stay open', async () => {
  const clinic = smallClinic();
  const { url, reload } = await target({ RELOAD_INTERVAL: '0', LOG_LEVEL: 'error' }, clinic);
  const agents = Array.from({ length: 40 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const ask = (agent: Agent): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request(`${url}/fhir/Observation?patient=1`, { agent }, response => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject).end();
    });
  let version = 0;
  /** Each connection sends one request, with a version of its own, and stays open. */
  const round = async (asking: readonly Agent[]): Promise<void> => {
    for (const agent of asking) {
      const pack = readFileSync(`${clinic.pack}/pack.yaml`, 'utf8').replace(/clinic.*/, `clinic ${version++}`);
      writeFileSync(`${clinic.pack}/pack.yaml`, pack);
      expect(await reload()).toBe('swapped');
      expect(await ask(agent)).toBe(200);
      expect(await ask(agent)).toBe(200);
    }
  };
  const held = heapAfterCollection();
  // V8 also takes some megabytes for code that it compiles meanwhile.
  if (HOSTILE) for (let i = 0; i < 5; i++) await round(agents);
  else await round(agents.slice(0, 5));
  const [first, before] = [version, held()];
  for (let i = 0; i < (HOSTILE ? 10 : 1); i++) await round(agents);
  const grown = held() - before;
  console.log(`held after ${version} versions of the mappings: ${(grown / MB).toFixed(1)} MB more than after ${first}`);
  for (const agent of agents) agent.destroy();
  expect(grown).toBeLessThan(5 * MB);
});
