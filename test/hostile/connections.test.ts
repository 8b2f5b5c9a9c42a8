import { expect, test } from 'vitest';
import { exchanged, HOSTILE, sends, target } from './target.ts';

const many = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

test('connections that announce a body and send none do not block other requests', async () => {
  const { url, port } = await target({ REQUEST_TIMEOUT: '10' });
  const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100';
  await many(HOSTILE ? 1500 : 210, () =>
    sends(port, `POST /fhir/Patient/_search HTTP/1.1\r\nHost: localhost\r\n${form}\r\n\r\n`),
  );
  const search = await fetch(`${url}/fhir/Patient?family=kowalski`);
  expect([search.status, (await fetch(`${url}/ready`)).status]).toEqual([200, 200]);
  const posted = await fetch(`${url}/fhir/Patient/_search`, { method: 'POST', body: new URLSearchParams('family=k') });
  expect(posted.status).toBe(200);
});

test.each([
  ['a length that is too much', 'Content-Length: 300000', 'x'.repeat(1000)],
  ['chunks that are too many', 'Transfer-Encoding: chunked', `50000\r\n${'x'.repeat(0x50000)}`],
])('413 announces that the connection closes, and closes it: %s', async (_what, framing, body) => {
  const { port } = await target();
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const head = `POST /fhir/Patient/_search HTTP/1.1\r\nHost: localhost\r\n${form}\r\n${framing}\r\n\r\n`;
  const answer = await exchanged(port, head + body);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toMatch(/\r\nConnection: close\r\n/i);
});

test('a refusal before the body arrives closes the connection; a chunked body is read as a whole', async () => {
  const { port } = await target();
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const refused = await exchanged(
    port,
    `POST /fhir/Patient/_search HTTP/1.1\r\nHost: evil.example\r\n${form}\r\nContent-Length: 100\r\n\r\nname`,
  );
  expect(refused).toMatch(/^HTTP\/1\.1 421 [\s\S]*\r\nConnection: close\r\n/i);
  const read = await exchanged(
    port,
    `POST /fhir/Patient/_search HTTP/1.1\r\nHost: localhost\r\n${form}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n` +
      '7\r\nfamily=\r\n3\r\nkow\r\n0\r\n\r\n',
  );
  expect(read).toMatch(/^HTTP\/1\.1 200 [\s\S]*Kowalski/);
});

test.each(['/fhir/Patient/1', '/health', '/fhir/Patient/none', '/fhir/Patient?family=k', '/nowhere'])(
  'a connection that sends hundreds of requests for %s at once is closed, with cached and uncached answers',
  async path => {
    const { port } = await target();
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const last = request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    for (let i = 0; i < 2; i++) await exchanged(port, last);
    const answers = (await exchanged(port, request.repeat(600))).split('HTTP/1.1 ').length - 1;
    expect(answers).toBeLessThan(100);
    // A few pipelined requests are allowed.
    const few = await exchanged(port, request.repeat(9) + last);
    expect(few.split('HTTP/1.1 ')).toHaveLength(11);
  },
);
