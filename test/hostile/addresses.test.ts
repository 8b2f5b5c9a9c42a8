import { once } from 'node:events';
import { createConnection } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { isHost } from '../../src/http/server/malformed.ts';
import { exchanged, HOSTILE, target } from './target.ts';

const NO_ADDRESS = [
  ...[
    '',
    ' ',
    'a b',
    '[',
    '[]',
    '[::1',
    '[::1]x',
    '::1',
    '[::1%25lo]',
    'localhost:99999',
    'localhost:80:80',
    'localhost:x',
  ],
  ...['127.0.0.1@evil.example', 'localhost/fhir', 'localhost?x', 'localhost#x', 'localhost\\x', 'http://localhost'],
  ...[
    'loc%61lhost',
    'localhost,evil.example',
    '0x7f.1',
    '127.1',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    'a..b',
    '.',
  ],
  ...[
    '-a',
    "localhost'",
    'localhost"',
    '<b>',
    '\u00ef\u00bd\u008cocalhost',
    'l\u00f6calhost',
    '*',
    `${'a'.repeat(64)}.example`,
  ],
];

test('an invalid Host header is 400, before and after the path was cached for a valid one', async () => {
  const { port } = await target();
  const ask = (host: string): Promise<string> =>
    exchanged(port, `GET /fhir/Patient/1 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  const statuses = async (): Promise<readonly (readonly [string, string])[]> =>
    Promise.all(NO_ADDRESS.map(async host => [host, (await ask(host)).slice(9, 12)] as const));
  expect((await statuses()).filter(([, status]) => status !== '400')).toEqual([]);
  for (const host of ['localhost', 'LOCALHOST', 'localhost:3000', '127.0.0.1', '[::1]', '[::1]:3000', 'localhost:'])
    for (const kept of ['miss', 'hit']) {
      const answer = await ask(host);
      expect([host, answer.slice(9, 12)]).toEqual([host, '200']);
      expect(answer).toContain('Kowalski');
      if (kept === 'hit') expect(answer).toMatch(/cache-status: Lintel; hit/i);
    }
  expect((await statuses()).filter(([, status]) => status !== '400')).toEqual([]);
});

test('names and addresses of hospitals are hosts', () => {
  for (const host of ['ehr.example.org', 'ehr.example.org.', 'fhir_1.local', '10.0.0.1:8080', '[2001:db8::1]:443', 'x'])
    expect([host, isHost(host)]).toEqual([host, true]);
});

/** Parts of paths that try to leave the folder. */
const PIECES = [
  ...[
    '..',
    '.',
    '%2e',
    '%2E',
    '%2e%2e',
    '.%2e',
    '%252e',
    '%c0%ae',
    '%ff',
    '%00',
    '%',
    ';',
    '..;',
    '%3b',
    '...',
    '%u002e',
  ],
  ...['/', '/', '/', '//', '%2f', '%2F', '%5c', '\\', '%252f', '%0d%0a', '%20', '+', '~', '@', ':', '*', '$', '&', '='],
  ...[
    'fhir',
    'api',
    'Patient',
    'Observation',
    '1',
    'metadata',
    'etc',
    'passwd',
    'health',
    '_history',
    '$export',
    '_search',
  ],
];

/** Statuses for many paths, in order; each answer ends before the next request. A refusal closes its connection. */
async function statusesOf(port: number, paths: readonly string[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  while (statuses.length < paths.length) await statusesOnOne(port, paths, statuses);
  return statuses;
}

/** Appends statuses until the connection closes, at the latest after the last path. */
async function statusesOnOne(port: number, paths: readonly string[], statuses: number[]): Promise<void> {
  const socket = createConnection(port, '127.0.0.1').setEncoding('latin1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  let sent = 0;
  const ask = (): void => {
    sent++;
    socket.write(`HEAD ${paths[statuses.length]} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 'latin1');
  };
  socket
    .on('error', () => {})
    .on('data', (chunk: string) => {
      text += chunk;
      if (!text.includes('\r\n\r\n')) return;
      const closes = /\r\nconnection: close\r\n/i.test(text);
      statuses.push(Number(text.slice(9, 12)));
      text = '';
      if (statuses.length === paths.length || closes) socket.destroy();
      else ask();
    });
  ask();
  const before = statuses.length;
  await once(socket, 'close');
  if (statuses.length === before) throw new Error(`No answer to ${paths[before]} (${sent} sent)`);
}

test('no encoding of a path reaches another resource', async () => {
  const { port } = await target();
  const path = fc.array(fc.constantFrom(...PIECES), { maxLength: 9 }).map(pieces => `/${pieces.join('')}`);
  const paths = fc.sample(path, { numRuns: HOSTILE ? 100_000 : 3000, seed: 21 });
  const statuses = await statusesOf(port, paths);
  const plain =
    /^\/(health|fhir\/metadata|fhir\/(Patient|Observation)(\/1)?|fhir\/(Patient|Observation)\/_search|)\/?$/;
  const wrong = paths.flatMap((asked, i) => {
    const status = statuses[i] ?? 0;
    const dots = asked.split(/[/\\]|%2f|%5c/i).some(segment => /^(\.|%2e){1,2}(;.*)?$/i.test(segment));
    if (dots ? status === 400 : status >= 400 && status < 500) return [];
    return !dots && status === 200 && plain.test(asked.replace(/[?#].*$/, '')) ? [] : [[asked, status]];
  });
  expect(wrong.slice(0, 20)).toEqual([]);
  expect(statuses.filter(status => status === 200).length).toBeGreaterThan(0);
});
