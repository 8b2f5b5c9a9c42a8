import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/http/server.ts';
import { appUnderTest, type SmallFacade } from './app-under-test.ts';

/** More than the buffers of two sockets hold. */
const LARGE = `{"resourceType":"Bundle","language":"${'x'.repeat(30_000_000)}"}`;

async function start(search: SmallFacade['search']) {
  const { app } = appUnderTest({}, { search });
  const cut: number[] = [];
  const unread = { atMost: 50_000_000, every: 5, cutOff: (bytes: number) => cut.push(bytes) };
  const server = await listen(app, { host: '127.0.0.1', port: 0, drain: 0, unread });
  onTestFinished(() => server.close());
  return { url: server.url, cut };
}

/** A client that asks, all at once, and reads nothing. */
function asks(url: string, ...paths: readonly string[]): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => {}).write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  onTestFinished(() => void socket.destroy());
  return socket;
}

test('clients that take no answers lose their connections once they hold too much, be it in one answer or in a row', async () => {
  const { url, cut } = await start(async () => ({ json: LARGE, entries: 0 }));
  asks(url, '/fhir/Widget');
  const most = asks(url, ...Array.from({ length: 5 }, () => '/fhir/Widget'));
  await expect.poll(() => cut.length, { timeout: 20_000 }).toBeGreaterThan(0);
  // The one with five answers holds most, and first goes who holds most.
  expect(cut[0]).toBeGreaterThan(50_000_000);
  most.resume();
  await once(most, 'close');
  // Who reads gets all of it.
  expect((await (await fetch(`${url}/fhir/Widget`)).text()).length).toBe(LARGE.length);
}, 30_000);

test('a client that leaves ends all that it asked, what waits for its turn as well', async () => {
  const aborted: number[] = [];
  let called = 0;
  const { url } = await start((_request, { signal }) => {
    const number = called++;
    // The first is made, and nobody takes it: the others wait behind it.
    if (number === 0) return Promise.resolve({ json: LARGE, entries: 0 });
    signal?.addEventListener('abort', () => aborted.push(number));
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('gone'))));
  });
  const socket = asks(url, '/fhir/Widget', '/fhir/Widget', '/fhir/Widget');
  await expect.poll(() => called).toBe(3);
  socket.destroy();
  await expect.poll(() => aborted.toSorted()).toEqual([1, 2]);
});
