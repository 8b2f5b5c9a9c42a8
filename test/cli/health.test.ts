/** `lintel health` against running servers. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

const pem = (name: string): string => resolve('test/tls', `${name}.pem`);
const TLS = { TLS_CERT: pem('server'), TLS_KEY: pem('server.key') };

async function started(more: Readonly<Record<string, string>>) {
  const { environment } = smallClinic();
  const log = createLog({ level: 'silent', format: 'json' });
  const running = await startServer(readConfig({ ...environment, ...more }), { out: () => {}, note: () => {} }, log);
  if (running === undefined) throw new Error('not started');
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= running.stop());
  onTestFinished(stop);
  return { environment: { ...environment, ...more, PORT: new URL(running.url).port }, url: running.url, stop };
}

test.each<[title: string, more: Readonly<Record<string, string>>]>([
  ['plain', {}],
  ['with TLS', TLS],
  ['with mutual TLS', { ...TLS, TLS_CLIENT_CA: pem('ca') }],
  ['on every address', { ...TLS, HOST: '0.0.0.0', ACCESS: 'smart', BASE_URL: 'https://lintel.example.org' }],
])('health of a running and a stopped server, %s', async (_title, more) => {
  const { environment, stop } = await started(more);
  expect(await lintel(environment, 'health')).toMatchObject({ code: 0 });
  await stop();
  const { code, out } = await lintel(environment, 'health');
  expect([code, out]).toEqual([1, expect.stringMatching(/does not answer \(ECONNREFUSED\)$/)]);
});

test('--ready asks for readiness, and --port selects the port', async () => {
  const { environment, url } = await started(TLS);
  expect(await lintel(environment, 'health', '--ready')).toMatchObject({
    code: 0,
    out: expect.stringContaining('/ready'),
  });
  const elsewhere = { ...environment, PORT: '1' };
  expect((await lintel(elsewhere, 'health')).code).toBe(1);
  expect((await lintel(elsewhere, 'health', '--port', new URL(url).port)).code).toBe(0);
});

test('another program on the port does not count as a server with TLS', async () => {
  const { environment } = await started({});
  expect((await lintel({ ...environment, ...TLS }, 'health')).code).toBe(1);
});

test('a server that is busy with a statement for seconds is healthy', { timeout: 20_000 }, async () => {
  const server = createServer((_, response) => void setTimeout(() => response.end(), 5000));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await lintel({ PORT: String(port) }, 'health')).toMatchObject({ code: 0 });
});
