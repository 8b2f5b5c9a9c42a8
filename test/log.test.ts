import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../src/log.ts';
import { temporaryFolder } from './temporary-folder.ts';

const written = (format: 'json' | 'text', level: 'debug' | 'warn' = 'debug') => {
  const lines: string[] = [];
  return { lines, log: createLog({ level, format, write: line => lines.push(line) }) };
};

test('a JSON line has time, level, message and the given fields', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.dictionary(fc.stringMatching(/^f[a-z]{1,5}$/), fc.oneof(fc.string(), fc.nat(), fc.boolean())),
      (message, fields) => {
        const { lines, log } = written('json');
        log.warn(message, { ...fields, nothing: undefined });
        const { time, ...rest } = JSON.parse(lines[0] ?? '');
        expect(time).toMatch(/^\d{4}-\d{2}-\d{2}T[\d:.]{12}Z$/);
        expect(rest).toEqual({ level: 'warn', message, ...fields });
      },
    ),
  );
  const { lines, log } = written('json');
  log.info('alone');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'alone' });
});

test('as text, no message or field begins a line or commands a terminal', () => {
  const { lines, log } = written('text');
  log.warn('a\nb', { reason: '\u001b[31m\r\n\u009b2J\u202e' });
  expect(lines[0]).toMatch(/ warn: a\\u000ab reason=\\u001b\[31m\\u000d\\u000a\\u009b2J\\u202e$/);
});

test('context fields come before those of the line', () => {
  const same = { route: '/a', gone: undefined };
  for (const format of ['json', 'text'] as const) {
    const { lines, log } = written(format);
    for (const ms of [1, 2]) log.info('request', { ms }, same);
    log.info('request', {}, same);
    log.info('request', { ms: 3 }, {});
    const json = ['"route":"/a","ms":1}', '"route":"/a","ms":2}', '"route":"/a"}', '"message":"request","ms":3}'];
    const text = [' route=/a ms=1', ' route=/a ms=2', ' route=/a', ' request ms=3'];
    const ends = format === 'json' ? json : text;
    expect(lines.map((line, i) => line.slice(-(ends[i]?.length ?? 0)))).toEqual(ends);
  }
});

test('a text line has the time of day, and the level unless it is info', () => {
  const { lines, log } = written('text');
  log.info('request', { status: 200, trace: undefined });
  log.error('request', { status: 500 });
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} request status=200$/);
  expect(lines[1]).toMatch(/ error: request status=500$/);
});

test('lines below the log level are not written', () => {
  const { lines, log } = written('text', 'warn');
  log.debug('a');
  log.info('b');
  log.warn('c');
  expect(lines).toHaveLength(1);
});

test('buffered lines are written before the process ends, even to a slow reader', async () => {
  const script = `import { createLog } from ${JSON.stringify(new URL('../src/log.ts', import.meta.url).href)};
    const log = createLog({ level: 'info', format: 'json' });
    for (let i = 0; i < 20_000; i++) log.info('line', { i });
    process.exit(3);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'close');
  // The log is larger than the system's buffer for a reader that has not begun to read.
  await Promise.race([ended, setTimeout(1000)]);
  const lines = (await text(child.stderr)).trim().split('\n');
  expect(lines.map(line => JSON.parse(line).i)).toEqual([...new Array(20_000).keys()]);
  expect((await ended)[0]).toBe(3);
});

test.skipIf(process.platform !== 'linux')(
  'a pipe whose reader takes nothing stops nothing; the loss is reported',
  async () => {
    const pipe = join(temporaryFolder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const script = `import { createLog } from ${JSON.stringify(new URL('../src/log.ts', import.meta.url).href)};
    const log = createLog({ level: 'info', format: 'json' });
    for (let i = 0; i < 30_000; i++) {
      log.info('line', { i });
      if (i % 100 === 0) await new Promise(setImmediate);
    }
    console.log('alive');
    for await (const _ of process.stdin);
    log.info('last');`;
    const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const writer = openSync(pipe, 'w');
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['pipe', 'pipe', writer] });
    closeSync(writer);
    const ended = once(child, 'close');
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error('the process has no pipes');
    onTestFinished(() => {
      child.kill('SIGKILL');
      closeSync(reader);
    });
    await once(stdout, 'data', { signal: AbortSignal.timeout(10_000) });
    const read: Buffer[] = [];
    const timer = setInterval(() => {
      const chunk = Buffer.alloc(1_000_000);
      try {
        read.push(chunk.subarray(0, readSync(reader, chunk)));
      } catch (error) {
        expect(error).toMatchObject({ code: 'EAGAIN' });
      }
    }, 1);
    onTestFinished(() => clearInterval(timer));
    stdin.end();
    expect((await ended)[0]).toBe(0);
    await expect.poll(() => Buffer.concat(read).toString().endsWith('"message":"last"}\n')).toBe(true);
    const all = Buffer.concat(read).toString().split('\n').filter(Boolean);
    const entries = all.map(line => JSON.parse(line) as { readonly message: string; readonly lines?: number });
    const written = entries.filter(({ message }) => message === 'line').length;
    const lost = entries.reduce((sum, entry) => sum + (entry.lines ?? 0), 0);
    expect(lost).toBeGreaterThan(0);
    expect(written + lost).toBe(30_000);
  },
);

test.skipIf(process.platform !== 'linux')('a pipe whose reader takes nothing delays the end by seconds', async () => {
  const pipe = join(temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const script = `import { createLog } from ${JSON.stringify(new URL('../src/log.ts', import.meta.url).href)};
    const log = createLog({ level: 'info', format: 'json' });
    for (let i = 0; i < 3000; i++) log.info('line', { i });
    process.exit(3);`;
  const reader = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(reader));
  const writer = openSync(pipe, 'w');
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'ignore', writer] });
  closeSync(writer);
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(await once(child, 'close', { signal: AbortSignal.timeout(20_000) })).toEqual([3, null]);
});

test.skipIf(!existsSync('/dev/full'))('a full disk stops nothing, and the loss is reported later', async () => {
  const file = join(temporaryFolder(), 'log');
  // A new file gets the lowest free descriptor, which is that of standard error.
  const script = `import { closeSync, openSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    import { createLog } from ${JSON.stringify(new URL('../src/log.ts', import.meta.url).href)};
    const log = createLog({ level: 'info', format: 'json' });
    closeSync(2);
    openSync('/dev/full', 'w');
    for (let i = 0; i < 3000; i++) log.info('line', { i });
    await setTimeout(50);
    closeSync(2);
    openSync(${JSON.stringify(file)}, 'w');
    log.info('last');
    await setTimeout(50);
    log.info('after');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  expect(await once(child, 'close')).toEqual([0, null]);
  const read = readFileSync(file, 'utf8').trim().split('\n');
  expect(read.map(line => JSON.parse(line))).toMatchObject([
    { level: 'error', message: 'there was no room for lines of the log, and they are lost', lines: 3000 },
    { message: 'last' },
    { message: 'after' },
  ]);
});
