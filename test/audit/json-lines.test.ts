/** The sink of JSON lines on pipes: full ones, slow readers, and none. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdirSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { jsonLines } from '../../src/audit/sinks/json-lines.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Together more than a pipe holds (64 kB). */
const EVENTS = Array.from({ length: 50 }, (_, i) => ({
  id: `${i}-1`,
  json: JSON.stringify({ i, x: 'x'.repeat(6000) }),
}));
const LINES = EVENTS.map(({ json }) => `${json}\n`).join('');

function pipe(): string {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

/** Opens the reading end of a pipe. */
function reader(path: string) {
  const end = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(end));
  const piece = Buffer.alloc(20_000);
  /** Reads what is there, at most one piece. */
  const some = (): string => {
    try {
      return piece.toString('utf8', 0, readSync(end, piece));
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return '';
      throw error;
    }
  };
  return { some };
}

test('a named pipe without a reader fails at once', async () => {
  await expect(jsonLines(pipe()).send(EVENTS)).rejects.toMatchObject({ name: 'SinkError', code: 'ENXIO' });
});

test('a slow reader of a named pipe gets each line once', async () => {
  const path = pipe();
  const { some } = reader(path);
  let sent = false;
  const sending = jsonLines(path)
    .send(EVENTS)
    .then(() => {
      sent = true;
    });
  let text = '';
  for (let rest = some(); !sent || rest !== ''; rest = some()) {
    text += rest;
    await pause(2);
  }
  await sending;
  expect(text).toBe(LINES);
});

test('a pipe that nobody empties fails after a time limit', async () => {
  const path = pipe();
  reader(path);
  const sink = jsonLines(path, 50);
  await expect(sink.send(EVENTS)).rejects.toMatchObject({ name: 'SinkError', code: 'ETIMEDOUT' });
});

test('a slow reader of standard output gets each line once', async () => {
  const sink = new URL('../../src/audit/sinks/json-lines.ts', import.meta.url).href;
  const code = `import { jsonLines } from ${JSON.stringify(sink)};
    await jsonLines('stdout').send(Array.from({ length: 50 }, (_, i) => ({ id: '', json: JSON.stringify({ i, x: 'x'.repeat(6000) }) })));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  let text = '';
  for await (const piece of child.stdout.setEncoding('utf8')) {
    text += piece;
    await pause(5);
  }
  expect((await ended)[0]).toBe(0);
  expect(text).toBe(LINES);
});
