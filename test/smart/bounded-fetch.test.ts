import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { boundedFetch } from '../../src/common/bounded-fetch.ts';

test('no more of an answer is read than documents have, and its connection is closed', async () => {
  let sent = 0;
  const closed = Promise.withResolvers<void>();
  const server = createServer(({ url = '' }, response) => {
    if (url === '/short')
      return void response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(500_000));
    if (url === '/none') return void response.writeHead(204).end();
    response.on('close', () => closed.resolve());
    const send = (): void => {
      while (response.write(' '.repeat(65_536))) sent += 65_536;
    };
    response.writeHead(200).on('drain', send);
    send();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const short = await boundedFetch(`${base}/short`);
  expect([short.status, short.headers.get('content-type'), (await short.text()).length]).toEqual([
    ...[200, 'text/plain', 500_000],
  ]);
  expect((await boundedFetch(`${base}/none`)).status).toBe(204);
  const endless = await boundedFetch(`${base}/endless`);
  await expect(endless.text()).rejects.toThrow('too long an answer');
  await closed.promise;
  expect(sent).toBeLessThan(50_000_000);
});
