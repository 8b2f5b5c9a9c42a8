import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/http/server/server.ts';
import { appUnderTest, type SmallFacade } from './app-under-test.ts';

async function start(replace: Partial<SmallFacade> = {}, drain = 600_000) {
  const { app, ...rest } = appUnderTest({}, replace);
  const refused: number[] = [];
  const server = await listen(app, { host: '127.0.0.1', port: 0, drain, refused: status => refused.push(status) });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= server.close();
    return closed;
  };
  onTestFinished(close);
  return { ...rest, url: server.url, close, refused };
}

/** Sends raw bytes and returns the first line of the response. */
async function raw(url: string, bytes: string): Promise<string> {
  return (await rawText(url, bytes)).split('\r\n')[0] ?? '';
}

/** The same; returns the whole response. */
async function rawText(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end(bytes);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await once(socket, 'close');
  return text;
}

test('answers over a real connection, and HEAD without a body', async () => {
  const { url } = await start();
  const response = await fetch(`${url}/fhir/Widget/1`);
  expect(response.status).toBe(200);
  expect(((await response.json()) as { id: string }).id).toBe('1');
  const head = await fetch(`${url}/fhir/Widget/1`, { method: 'HEAD' });
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(0);
});

test.each(['hits', 'isFull', 'aside'] as const)(
  'an exception in %s fails one request and not the server',
  async part => {
    const { app } = appUnderTest();
    const failed: unknown[] = [];
    let thrown: Error | undefined = new TypeError('no header holds this');
    const parts = {
      fetch: app.fetch,
      [part]: () => {
        if (thrown !== undefined) throw thrown;
        return false;
      },
    };
    const server = await listen(parts, { host: '127.0.0.1', port: 0, drain: 0, failed: error => failed.push(error) });
    onTestFinished(() => server.close());
    const answer = await rawText(server.url, 'GET /fhir/Widget/1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 500 /);
    expect(answer).toContain('LNT-301');
    expect(answer).not.toContain('no header');
    expect(failed).toEqual([thrown]);
    thrown = undefined;
    expect((await fetch(`${server.url}/fhir/Widget/1`)).status).toBe(200);
  },
);

test.each(['/fhir/Widget/1', '/health', '/api/patientinfo/1', '/nowhere'])(
  'TRACE of %s is refused with an OperationOutcome',
  async path => {
    const { url, refused, lines } = await start();
    const answer = await rawText(url, `TRACE ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 501 /);
    expect(answer).toContain('OperationOutcome');
    expect(refused).toEqual([501]);
    expect(lines.join()).not.toContain('unexpected error');
  },
);

test.each([
  ['GET /fhir/Widget/%2e%2e%2f1 HTTP/1.1', /^HTTP\/1.1 400/],
  ['GET /fhir/../../etc/passwd HTTP/1.1', /^HTTP\/1.1 400/],
  ['GET /fhir/Widget/%00 HTTP/1.1', /^HTTP\/1.1 404/],
  ['GET /fhir/Widget?name=%ff HTTP/1.1', /^HTTP\/1.1 400/],
  ['GET /%E0%A4%A HTTP/1.1', /^HTTP\/1.1 404/],
  ['GET http://evil.example/fhir/Widget HTTP/1.1', /^HTTP\/1.1 (400|421)/],
  ['GET //evil.example/fhir/Widget HTTP/1.1', /^HTTP\/1.1 404/],
  ['OPTIONS * HTTP/1.1', /^HTTP\/1.1 4\d\d/],
  ['BREW /fhir/Widget HTTP/1.1', /^HTTP\/1.1 4\d\d/],
  [`GET /fhir/Widget?a=${'x'.repeat(20_000)} HTTP/1.1`, /^HTTP\/1.1 414/],
  [`GET /fhir/Widget?a=${'x'.repeat(100_000)} HTTP/1.1`, /^HTTP\/1.1 414/],
  [`GET /fhir/Widget HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}`, /^HTTP\/1.1 431/],
  ['GET /fhir/Widget?name=\u00ff HTTP/1.1', /^HTTP\/1.1 400/],
  ['GET /fhir/Widget HTTP/1.1\r\nX: a\0b', /^HTTP\/1.1 400/],
  ['GET /fhir/Widget HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked', /^HTTP\/1.1 400/],
  ['POST /fhir/Widget/_search HTTP/1.1\r\nTransfer-Encoding: gzip, chunked', /^HTTP\/1.1 501/],
  ['POST /fhir/Widget/_search HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked', /^HTTP\/1.1 501/],
  ['POST /fhir/Widget/_search HTTP/1.1\r\nTransfer-Encoding: chunked, chunked', /^HTTP\/1.1 (400|501)/],
  ['\0\0\0\0', /^HTTP\/1.1 400/],
])('malformed bytes never cause a server error: %s', async (line, expected) => {
  const { url, calls } = await start();
  expect(await raw(url, `${line}\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`)).toMatch(expected);
  expect(calls).toEqual([]);
});

test.each(['/health', '/ready'])('%s is answered without a Host by HTTP/1.0, as load balancers probe', async path => {
  const { url } = await start();
  expect(await raw(url, `GET ${path} HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200/);
  expect(await raw(url, `HEAD ${path}?x HTTP/1.0\r\n\r\n`)).toMatch(/^HTTP\/1.1 200/);
  expect(await raw(url, `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1.1 400/);
  expect(await raw(url, `GET ${path} HTTP/1.0\r\nHost: a b\r\n\r\n`)).toMatch(/^HTTP\/1.1 400/);
});

test.each([
  ['GET /fhir/Widget/1 HTTP/1.1\r\nConnection: close', 'no Host'],
  ['GET /fhir/Widget/1 HTTP/1.0', 'no Host, as HTTP/1.0 allows'],
  ['GET /fhir/Widget/1 HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close', 'two hosts'],
  ['GET /fhir/Widget/1 HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\nConnection: close', 'one host twice'],
  ['OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close', 'no path'],
  ['GET http://[::1/fhir/Widget/1 HTTP/1.1\r\nHost: localhost\r\nConnection: close', 'no address'],
])('a request without exactly one valid address is refused with a reason: %s (%s)', async bytes => {
  const { url, calls } = await start();
  const [head = '', body = ''] = (await rawText(url, `${bytes}\r\n\r\n`)).split('\r\n\r\n');
  expect(head).toMatch(/^HTTP\/1.1 400 /);
  expect(JSON.parse(body)).toMatchObject({
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'error', code: 'invalid', diagnostics: expect.stringContaining('Host') }],
  });
  expect(calls).toEqual([]);
});

test('only requests refused before the application are reported, with their status', async () => {
  const { url, refused } = await start();
  const close = 'Host: localhost\r\nConnection: close\r\n\r\n';
  for (const bytes of [
    '\0\0\0\0\r\n\r\n',
    `GET /fhir/Widget?a=${'x'.repeat(20_000)} HTTP/1.1\r\n${close}`,
    `GET /fhir/Widget HTTP/1.1\r\nX-Long: ${'x'.repeat(20_000)}\r\n${close}`,
    `GET /fhir/Widget HTTP/1.1\r\nHost: evil.example\r\n${close}`,
    'GET /fhir/Widget HTTP/1.1\r\nConnection: close\r\n\r\n',
    `GET /fhir/Nothing/1/2/3 HTTP/1.1\r\n${close}`,
    `GET /fhir/Widget HTTP/1.1\r\n${close}`,
  ])
    await raw(url, bytes);
  expect(refused).toEqual([400, 414, 431, 400, 400]);
});

test('a disconnected client does not count as a refused request', async () => {
  const { url, refused } = await start();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('GET /fhir/Widget HTTP/1.1\r\nHost: local');
  await once(socket, 'connect');
  socket.resetAndDestroy();
  await once(socket, 'close');
  await fetch(`${url}/health`);
  expect(refused).toEqual([]);
});

test.each([
  ['with its length', 'Content-Length: 100\r\n\r\nname=x'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n6\r\nname=x\r\n'],
])('a client that disconnects within a body causes no server error: %s', async (_how, rest) => {
  const { url, lines } = await start();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const form = 'Content-Type: application/x-www-form-urlencoded';
  socket.write(`POST /fhir/Widget/_search HTTP/1.1\r\nHost: localhost\r\n${form}\r\n${rest}`);
  await once(socket, 'connect');
  await fetch(`${url}/health`);
  socket.destroy();
  await expect.poll(() => lines.filter(line => line.includes('"method":"POST"')).length).toBe(1);
  expect(lines.filter(line => /unexpected|"status":500/.test(line))).toEqual([]);
});

test('the abort signal fires when the client disconnects', async () => {
  const { promise: aborted, resolve } = Promise.withResolvers<void>();
  const { promise: called, resolve: call } = Promise.withResolvers<void>();
  const { url } = await start({
    search: (_request, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          resolve();
          reject(new Error('gone'));
        });
        call();
      }),
  });
  const client = new AbortController();
  const answer = fetch(`${url}/fhir/Widget`, { signal: client.signal });
  await called;
  client.abort();
  await expect(answer).rejects.toThrow();
  await aborted;
});

test('on close a running request is answered, and new ones are refused', async () => {
  const { promise: called, resolve: call } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { url, close } = await start({
    search: async () => {
      call();
      await released;
      return { json: '{"resourceType":"Bundle"}', entries: 0 };
    },
  });
  const answer = fetch(`${url}/fhir/Widget`);
  await called;
  const closing = close();
  await expect(fetch(`${url}/health`)).rejects.toThrow();
  release();
  expect((await answer).status).toBe(200);
  await closing;
});

test('on close a hanging request is aborted after the drain time', async () => {
  const { promise: called, resolve: call } = Promise.withResolvers<void>();
  const { url, close } = await start(
    {
      search: () => {
        call();
        return new Promise(() => {});
      },
    },
    50,
  );
  const answer = fetch(`${url}/fhir/Widget`);
  const refused = expect(answer).rejects.toThrow();
  await called;
  await close();
  await refused;
});

test('a port that is taken is an error', async () => {
  const { url } = await start();
  const { app } = appUnderTest();
  await expect(listen(app, { host: '127.0.0.1', port: Number(new URL(url).port), drain: 0 })).rejects.toThrow(
    /EADDRINUSE/,
  );
});
