/** The embedded authorization server behind the server's own TLS: every URL is https, every cookie Secure. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { authorize, launch, read, type Served, serveSmart } from './served.ts';

const pem = (name: string): string => resolve('test/tls', `${name}.pem`);

const OVER_TLS = { TLS_CERT: pem('server'), TLS_KEY: pem('server.key') };
let served: Served;
beforeAll(async () => {
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(pem('ca'), 'utf8')]);
  served = await serveSmart(OVER_TLS);
});
afterAll(() => served.stop());

test('discovery has https URLs, and a token from there works', async () => {
  expect(served.base).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const told = (await (await fetch(`${served.fhir}/.well-known/smart-configuration`)).json()) as Record<
    string,
    unknown
  >;
  const addresses = Object.values(told).filter(value => String(value).includes('://'));
  expect(addresses.length).toBeGreaterThan(5);
  for (const address of addresses) expect(address).toMatch(/^https:/);
  const metadata = await (await fetch(`${served.fhir}/metadata`)).text();
  expect(metadata).toContain(`"valueUri":"${served.auth}/token"`);
  expect(metadata).not.toContain(`http://127`);
  const { status, body } = await launch(served);
  expect(status).toBe(200);
  expect(await read(served, 'Patient/1', body['access_token'])).toBe(200);
  expect(await read(served, 'Patient/2', body['access_token'])).toBe(404);
});

test('cookies are Secure', async () => {
  const { seen } = await authorize(served, { decision: 'deny' });
  expect(seen.length).toBeGreaterThan(0);
  const parameters = {
    response_type: 'code',
    client_id: 'public',
    redirect_uri: 'https://app.example.org/back?kept=1',
  };
  const query = { ...parameters, scope: 'patient/*.rs', aud: served.fhir, code_challenge_method: 'S256' };
  const address = `${served.auth}/authorize?${new URLSearchParams({ ...query, code_challenge: 'x'.repeat(43), state: 's' })}`;
  const answer = await fetch(address, { redirect: 'manual' });
  const cookies = answer.headers.getSetCookie();
  expect(cookies.length).toBeGreaterThan(0);
  for (const cookie of cookies) expect(cookie).toMatch(/; secure/i);
});

test('a server that was stopped leaves no timer behind', async () => {
  const [begun, ended] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  onTestFinished(() => {
    begun.mockRestore();
    ended.mockRestore();
  });
  await (await serveSmart(OVER_TLS)).stop();
  const timers = begun.mock.results.map(({ value }) => value as NodeJS.Timeout);
  expect(timers.length).toBeGreaterThan(3);
  const cleared = new Set(ended.mock.calls.map(([timer]) => timer));
  expect(timers.filter(timer => !cleared.has(timer))).toEqual([]);
});
