import { Readable } from 'node:stream';
import { Hono } from 'hono';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { HttpEnv } from '../../src/http/context.ts';
import { streamed } from '../../src/http/middleware/streamed.ts';
import { listen } from '../../src/http/server/server.ts';
import { createLog } from '../../src/log.ts';

async function start(source: () => Readable) {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: line => lines.push(line) });
  const app = new Hono<HttpEnv>().get('/', c => c.body(streamed(c, source(), log)));
  const server = await listen(app, { host: '127.0.0.1', port: 0, drain: 0 });
  onTestFinished(() => server.close());
  return { url: server.url, lines };
}

async function* failing(): AsyncGenerator<string> {
  yield 'x'.repeat(100_000);
  throw new Error('Okonkwo in /var/lib/lintel');
}

test('a failing stream ends the connection without the error message', async () => {
  const console = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {});
  onTestFinished(() => console.mockRestore());
  const { url, lines } = await start(() => Readable.from(failing(), { objectMode: false }));
  const response = await fetch(url);
  let text = '';
  const reading = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
  })();
  await expect(reading).rejects.toThrow('terminated');
  expect(text).toMatch(/^x*$/);
  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { level: 'error', message: 'an answer broke off', kind: 'Error' },
  ]);
  expect(lines.join()).not.toMatch(/Okonkwo|lintel\b.*lib/);
  expect(console).not.toHaveBeenCalled();
});

test('a client that disconnects ends its stream, without a log entry', async () => {
  const endless = new Readable({
    read() {
      this.push('x'.repeat(65_536));
    },
  });
  const { url, lines } = await start(() => endless);
  const abort = new AbortController();
  const response = await fetch(url, { signal: abort.signal });
  await response.body?.getReader().read();
  const closed = new Promise(resolve => endless.once('close', resolve));
  abort.abort();
  await closed;
  expect(lines).toEqual([]);
});

test('a complete answer is sent unchanged', async () => {
  const { url, lines } = await start(() => Readable.from(['a', 'é'.repeat(70_000)], { objectMode: false }));
  expect(await (await fetch(url)).text()).toBe(`a${'é'.repeat(70_000)}`);
  expect(lines).toEqual([]);
});
