/** TLS of the server itself, with test certificates that expire in a hundred years. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type SecureVersion } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ConfigError } from '../../src/config/config.ts';
import { type ListenOptions, listen } from '../../src/http/server/server.ts';
import { openTls } from '../../src/http/server/tls.ts';
import { createLog } from '../../src/log.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { appUnderTest } from './app-under-test.ts';

const PEM = 'test/tls';
const pem = (name: string): string => readFileSync(join(PEM, `${name}.pem`), 'utf8');

function files(name = 'server') {
  const folder = temporaryFolder();
  const paths = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const use = (which: string): void => {
    copyFileSync(join(PEM, `${which}.pem`), paths.cert);
    copyFileSync(join(PEM, `${which}.key.pem`), paths.key);
  };
  use(name);
  return { paths, use };
}

async function served({
  connections = {},
  clientCa,
  arrival,
}: {
  readonly clientCa?: string;
  readonly arrival?: ListenOptions['arrival'];
  readonly connections?: NonNullable<ListenOptions['connections']>;
} = {}) {
  const { paths, use } = files();
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: line => lines.push(line) });
  const tls = openTls({ ...paths, clientCa }, log, 20);
  const { app } = appUnderTest();
  const refused: number[] = [];
  const server = await listen(app, {
    host: '127.0.0.1',
    port: 0,
    drain: 1000,
    tls,
    refused: status => refused.push(status),
    connections,
    ...(arrival && { arrival }),
  });
  onTestFinished(() => server.close());
  return { ...server, port: Number(new URL(server.url).port), paths, use, lines, refused };
}

interface Answer {
  readonly status: number;
  readonly body: string;
  /** Serial number of the certificate. */
  readonly serial: string;
}

function get(url: string, client?: string): Promise<Answer> {
  const own = client === undefined ? {} : { cert: pem(client), key: pem(`${client}.key`) };
  return new Promise((resolve, reject) => {
    const asked = request(url, { ca: pem('ca'), agent: false, ...own }, response => {
      const { serialNumber: serial } = (response.socket as ReturnType<typeof connect>).getPeerCertificate();
      let body = '';
      response.setEncoding('utf8').on('data', text => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, serial }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The negotiated protocol, or why there is none. */
function agreed(port: number, minVersion: SecureVersion, maxVersion: SecureVersion): Promise<string> {
  return new Promise(resolve => {
    const options = { host: '127.0.0.1', port, servername: 'localhost', ca: pem('ca'), ciphers: 'DEFAULT@SECLEVEL=0' };
    const socket = connect({ ...options, minVersion, maxVersion }, () => {
      resolve(socket.getProtocol() ?? '');
      socket.destroy();
    });
    socket.on('error', () => resolve('refused'));
  });
}

test('answers by TLS 1.2 and 1.3, and by nothing older', async () => {
  const { url, port } = await served();
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(await get(`${url}/fhir/Widget/1`)).toMatchObject({ status: 200 });
  expect(await agreed(port, 'TLSv1.2', 'TLSv1.2')).toBe('TLSv1.2');
  expect(await agreed(port, 'TLSv1.3', 'TLSv1.3')).toBe('TLSv1.3');
  expect(await agreed(port, 'TLSv1', 'TLSv1.1')).toBe('refused');
});

test('links begin with https', async () => {
  const { url } = await served();
  const { body } = await get(`${url}/fhir/metadata`);
  expect((JSON.parse(body) as { url?: string }).url ?? body).toContain(`${url}/fhir`);
});

test('plain HTTP and other protocols get no answer, and block no other client', async () => {
  const { url, port, refused } = await served();
  for (const bytes of ['GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n', '\x16\x03\x01\x00\x05hello', '']) {
    const socket = connectPlain(port, '127.0.0.1');
    socket.on('error', () => {});
    let text = '';
    socket.on('data', chunk => {
      text += String(chunk);
    });
    socket.end(bytes);
    await once(socket, 'close');
    expect(text).not.toContain('HTTP/1.1');
  }
  expect((await get(`${url}/health`)).status).toBe(200);
  expect(refused).toEqual([]);
});

test('a client that never completes the handshake is disconnected without an answer', async () => {
  const { url, port, refused } = await served({ arrival: { head: 200, whole: 400 } });
  const hello = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';
  for (const bytes of ['', hello]) {
    const socket = connectPlain(port, '127.0.0.1');
    socket.on('error', () => {});
    let text = '';
    socket.on('data', chunk => {
      text += String(chunk);
    });
    socket.write(bytes, 'latin1');
    await once(socket, 'close');
    expect(text).toBe('');
  }
  expect((await get(`${url}/health`)).status).toBe(200);
  expect(refused).toEqual([]);
});

test('the connection limit counts incomplete handshakes, too; idle connections make room', async () => {
  const { url, port } = await served({ connections: { perAddress: 4 } });
  const plain = [connectPlain(port, '127.0.0.1'), connectPlain(port, '127.0.0.1')];
  const secure = [0, 1].map(() => connect({ host: '127.0.0.1', port, servername: 'localhost', ca: pem('ca') }));
  for (const socket of [...plain, ...secure]) socket.on('error', () => {}).resume();
  await Promise.all(secure.map(socket => once(socket, 'secureConnect')));
  const idle = [...plain, ...secure];
  const closed = Promise.race(idle.map(socket => once(socket, 'close')));
  expect((await get(`${url}/health`)).status).toBe(200);
  await closed;
  // The server closed only one of them.
  expect(idle.filter(socket => !socket.destroyed)).toHaveLength(3);
  for (const socket of idle) socket.destroy();
});

test('a malformed request within TLS gets 400', async () => {
  const { port, refused } = await served();
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca: pem('ca') });
  await once(socket, 'secureConnect');
  socket.end('no request\r\n\r\n');
  let text = '';
  socket.on('data', chunk => {
    text += String(chunk);
  });
  await once(socket, 'close');
  expect(text).toMatch(/^HTTP\/1\.1 400/);
  expect(refused).toEqual([400]);
});

test('a new certificate is served soon, without closing connections', async () => {
  const { url, use, lines } = await served();
  const before = (await get(`${url}/health`)).serial;
  use('next');
  await vi.waitFor(async () => expect((await get(`${url}/health`)).serial).not.toBe(before), 120_000);
  expect(lines.join('\n')).toContain('the TLS certificate was read anew');
});

test.each<[title: string, spoil: (paths: { readonly cert: string; readonly key: string }) => void, problem: string]>([
  ['a certificate that is half written', ({ cert }) => truncateSync(cert, 300), 'TLS_CERT: expected'],
  ['an empty certificate', ({ cert }) => writeFileSync(cert, ''), 'TLS_CERT: expected'],
  ['a key that is half written', ({ key }) => truncateSync(key, 100), 'TLS_KEY: expected'],
  [
    'a certificate of another key',
    ({ cert }) => copyFileSync(join(PEM, 'next.pem'), cert),
    'TLS_KEY: expected the private key of',
  ],
  [
    'a key of another certificate',
    ({ key }) => copyFileSync(join(PEM, 'next.key.pem'), key),
    'TLS_KEY: expected the private key of',
  ],
  ['no key', ({ key }) => rmSync(key), 'TLS_KEY: expected the path'],
])(
  '%s keeps the old pair, is reported once without content, and a valid pair is used then',
  async (_title, spoil, problem) => {
    const { url, paths, use, lines } = await served();
    const before = (await get(`${url}/health`)).serial;
    spoil(paths);
    const told = () => lines.filter(line => line.includes('cannot be used'));
    await vi.waitFor(() => expect(told()).toHaveLength(1), 120_000);
    expect(told()[0]).toContain(problem);
    expect((await get(`${url}/health`)).serial).toBe(before);
    use('next');
    await vi.waitFor(async () => expect((await get(`${url}/health`)).serial).not.toBe(before), 120_000);
    expect(told()).toHaveLength(1);
    const secrets = [pem('server.key'), pem('next.key'), pem('server'), pem('next')].flatMap(text => text.split('\n'));
    for (const secret of secrets.filter(line => line.length > 20 && !line.startsWith('-----')))
      expect(lines.join('\n')).not.toContain(secret);
  },
);

test('touched but unchanged certificate files are read again without effect', async () => {
  const { url, paths, lines } = await served();
  const { atime, mtimeMs } = statSync(paths.cert);
  utimesSync(paths.cert, atime, new Date(mtimeMs + 5000));
  await vi.waitFor(() => expect(lines.join('\n')).toContain('read anew'), 120_000);
  expect((await get(`${url}/health`)).status).toBe(200);
});

test('mutual TLS: only clients with a certificate of the authority get an answer', async () => {
  const { url } = await served({ clientCa: join(PEM, 'ca.pem') });
  expect(await get(`${url}/fhir/Widget/1`, 'client')).toMatchObject({ status: 200 });
  await expect(get(`${url}/health`)).rejects.toThrow();
  await expect(get(`${url}/health`, 'stranger')).rejects.toThrow();
});

test('mutual TLS: connections of an authority that was taken away are closed', async () => {
  const clientCa = join(temporaryFolder(), 'ca.pem');
  copyFileSync(join(PEM, 'ca.pem'), clientCa);
  const server = await served({ clientCa });
  const opened = async () => {
    const credentials = { cert: pem('client'), key: pem('client.key'), ca: pem('ca') };
    const socket = connect({ host: '127.0.0.1', port: server.port, ...credentials });
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    const ask = (): Promise<string> =>
      new Promise(resolve => {
        socket.once('data', (data: Buffer) => resolve(data.toString('utf8', 0, 12)));
        if (socket.closed) resolve('closed');
        else socket.once('close', () => resolve('closed'));
        socket.write('GET /fhir/Widget/1 HTTP/1.1\r\nHost: localhost\r\n\r\n');
      });
    return { ask, socket };
  };
  const [idle, late] = [await opened(), await opened()];
  expect(await idle.ask()).toBe('HTTP/1.1 200');
  const closed = once(idle.socket, 'close');
  copyFileSync(join(PEM, 'other-ca.pem'), clientCa);
  await closed;
  // A connection that had sent no request yet.
  expect(await late.ask()).toBe('closed');
});

test.each<[cert: string, key: string, clientCa: string | undefined, problem: RegExp]>([
  ['nowhere.pem', 'server.key.pem', undefined, /^TLS_CERT: expected the path of a file that can be read$/],
  ['server.pem', 'nowhere.pem', undefined, /^TLS_KEY: expected the path/],
  ['server.key.pem', 'server.key.pem', undefined, /^TLS_CERT: expected a certificate as PEM/],
  ['server.pem', 'server.pem', undefined, /^TLS_KEY: expected a private key as PEM/],
  ['server.pem', 'next.key.pem', undefined, /^TLS_KEY: expected the private key of the certificate in TLS_CERT$/],
  ['server.pem', 'server.key.pem', 'server.key.pem', /^TLS_CLIENT_CA: expected a certificate as PEM$/],
])('%s with %s and %s stops the start', (cert, key, clientCa, problem) => {
  const path = (name: string): string => join(PEM, name);
  const log = createLog({ level: 'silent', format: 'json' });
  try {
    openTls({ cert: path(cert), key: path(key), clientCa: clientCa && path(clientCa) }, log);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).problems[0]).toMatch(problem);
  }
});

test('a certificate that ends while it is served is warned of once a day', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-06-30T12:00:00Z'), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: line => lines.push(line) });
  const { paths, use } = files();
  const told = (): readonly unknown[] =>
    lines.filter(line => line.includes('the TLS certificate')).map(line => JSON.parse(line).days ?? 'read');
  const tls = openTls({ ...paths, clientCa: undefined }, log, 5);
  onTestFinished(tls.follow({ setSecureContext: () => undefined }, () => undefined));
  for (const days of [14, 13.5, 13.4, 12.5, -0.5]) {
    vi.setSystemTime(tls.ends() - days * 86_400_000);
    await sleep(40);
  }
  expect(told()).toEqual([13, 12, -1]);
  use('next');
  await sleep(60);
  expect(told()).toEqual([13, 12, -1, 'read', -1]);
  const { validTo } = new X509Certificate(readFileSync(paths.cert));
  expect(tls.ends()).toBe(Date.parse(validTo));
});

test('an expired or soon expiring certificate is warned of', () => {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: line => lines.push(line) });
  const { paths } = files();
  vi.useFakeTimers({ now: Date.parse('2200-01-01T00:00:00Z'), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  openTls({ ...paths, clientCa: undefined }, log);
  expect(lines.join()).toContain('the TLS certificate has ended');
});
