import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type ListenOptions, listen } from '../../src/http/server/server.ts';
import { appUnderTest, type SmallFacade } from './app-under-test.ts';

/** More bytes than the buffers of two sockets hold. */
const LARGE = `{"resourceType":"Bundle","language":"${'x'.repeat(30_000_000)}"}`;

async function start(search?: SmallFacade['search'], more: Partial<ListenOptions> = {}) {
  const { app } = appUnderTest({}, search === undefined ? {} : { search });
  const cut: number[] = [];
  const crowded: number[] = [];
  const told = { cutOff: (bytes: number) => cut.push(bytes), crowded: (one: number) => crowded.push(one) };
  const server = await listen(app, {
    ...{ host: '127.0.0.1', port: 0, drain: 0, ...more },
    connections: { unread: 50_000_000, every: 5, ...told, ...more.connections },
  });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close();
    return closed;
  };
  onTestFinished(close);
  return { url: server.url, close, cut, crowded };
}

/** A connection that sends bytes, and the promise of its end. */
function sends(
  url: string,
  bytes: string,
): { readonly socket: Socket; readonly text: () => string; readonly closed: Promise<unknown> } {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('error', () => {}).setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  return { socket, text: () => text, closed: once(socket, 'end') };
}

/** A client that sends all its requests at once, and reads nothing. */
function asks(url: string, ...paths: readonly string[]): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => {}).write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
  onTestFinished(() => void socket.destroy());
  return socket;
}

test('clients that read no answers are disconnected above a memory limit, for one answer or many', async () => {
  const { url, cut } = await start(async () => ({ json: LARGE, entries: 0 }));
  asks(url, '/fhir/Widget');
  const most = asks(url, ...Array.from({ length: 5 }, () => '/fhir/Widget'));
  await expect.poll(() => cut.length).toBeGreaterThan(0);
  // The connection with five answers holds the most bytes, and is cut first.
  expect(cut[0]).toBeGreaterThan(50_000_000);
  most.resume();
  await once(most, 'close');
  // A client that reads gets the whole answer.
  expect((await (await fetch(`${url}/fhir/Widget`)).text()).length).toBe(LARGE.length);
}, 30_000);

test('a client that disconnects cancels all its requests, queued ones too', async () => {
  const aborted: number[] = [];
  let called = 0;
  const { url } = await start((_request, { signal }) => {
    const number = called++;
    // The first answer is not read, so the others wait behind it.
    if (number === 0) return Promise.resolve({ json: LARGE, entries: 0 });
    signal?.addEventListener('abort', () => aborted.push(number));
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('gone'))));
  });
  const socket = asks(url, '/fhir/Widget', '/fhir/Widget', '/fhir/Widget');
  await expect.poll(() => called).toBe(3);
  socket.destroy();
  await expect.poll(() => aborted.toSorted()).toEqual([1, 2]);
});

const FORM = 'Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n';

test.each([
  ['nothing at all', ''],
  ['half a head', 'GET /fhir/Widget HTTP/1.1\r\nHost: local'],
  ['a head without its body', `POST /fhir/Widget/_search HTTP/1.1\r\n${FORM}Content-Length: 100\r\n\r\n`],
  ['half a body', `POST /fhir/Widget/_search HTTP/1.1\r\n${FORM}Transfer-Encoding: chunked\r\n\r\n4\r\nname`],
])('a client that sends %s gets 408 after a while, and is then disconnected', async (_what, bytes) => {
  const { url, close } = await start(undefined, { arrival: { head: 40, whole: 80 }, drain: 600_000 });
  const { text, closed } = sends(url, bytes);
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 408 [\s\S]*\r\nConnection: close\r\n[\s\S]*too slowly/);
  // The client keeps its side open, and the server does not wait for it.
  await close();
});

test('a client that does not read its answer is disconnected', async () => {
  const { url, cut } = await start(async () => ({ json: LARGE, entries: 0 }), {
    connections: { timeLimit: 100, pace: Number.POSITIVE_INFINITY },
  });
  const never = asks(url, '/fhir/Widget');
  await expect.poll(() => cut.length).toBe(1);
  never.resume();
  await once(never, 'close');
});

test('above the connection limit the longest idle connection is closed, none with a request', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let searches = 0;
  const { url, crowded } = await start(
    async () => {
      searches++;
      await released;
      return { json: '{"resourceType":"Bundle"}', entries: 0 };
    },
    { connections: { perAddress: 3 } },
  );
  const ask = 'GET /fhir/Widget HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  const waiting = sends(url, ask);
  await expect.poll(() => searches).toBe(1);
  const first = sends(url, 'GET /');
  await once(first.socket, 'connect');
  const second = sends(url, 'GET /');
  await once(second.socket, 'connect');
  const third = sends(url, ask);
  await first.closed.catch(() => {});
  await expect.poll(() => searches).toBe(2);
  await expect.poll(() => crowded).toEqual([1]);
  expect([second.socket.destroyed, second.text()]).toEqual([false, '']);
  release();
  await Promise.all([waiting.closed, third.closed]);
  expect([waiting.text(), third.text()].map(text => text.slice(0, 12))).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
});

test('a connection with very many pipelined requests is closed', async () => {
  const { url } = await start(() => new Promise(() => {}), { connections: { inRow: 10 } });
  const { closed } = sends(url, 'GET /fhir/Widget HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(11));
  await closed;
});
