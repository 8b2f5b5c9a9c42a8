import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { smallClinic } from './small-clinic.ts';

const LINTEL = fileURLToPath(new URL('../../bin/lintel.mjs', import.meta.url));

/** Starts the server like npm: from a shell that waits for it and alone receives the signal. */
test('a server stops when its parent shell is killed, such as that of `npm start`', async () => {
  const { environment } = smallClinic();
  const shell = spawn('sh', ['-c', '"$0" "$1" serve; exit $?', process.execPath, LINTEL], {
    env: { PATH: process.env['PATH'], ...environment, PORT: '0', LOG_FORMAT: 'json', npm_execpath: 'npm' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void shell.kill('SIGKILL'));
  let log = '';
  shell.stderr.on('data', text => {
    log += String(text);
  });
  let said = '';
  for await (const text of shell.stdout) {
    said += String(text);
    if (said.includes('Start here')) break;
  }
  expect(said, log).toContain('Start here');
  const [home = ''] = /http:[^ ]*(?=\/\n)/.exec(said) ?? [];
  expect((await fetch(`${home}/health`)).status).toBe(200);
  shell.kill('SIGTERM');
  // The server has the other end, which closes when the server ends.
  await once(shell.stderr, 'close');
  expect(log).toContain('"signal":"SIGTERM"');
  await expect(fetch(`${home}/health`)).rejects.toThrow('fetch failed');
});

test('SIGUSR1, which rotation of logs may send, opens no debugger: every user of the machine could connect to it', async () => {
  const { environment } = smallClinic();
  const server = spawn(process.execPath, [LINTEL, 'serve'], {
    env: { PATH: process.env['PATH'], ...environment, PORT: '0', LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const log = text(server.stderr);
  let said = '';
  for await (const part of server.stdout) {
    said += String(part);
    if (said.includes('Start here')) break;
  }
  const [home = ''] = /http:[^ ]*(?=\/\n)/.exec(said) ?? [];
  server.kill('SIGUSR1');
  for (let i = 0; i < 20; i++) expect((await fetch(`${home}/health`)).status).toBe(200);
  server.kill('SIGTERM');
  expect(await log).not.toMatch(/debugger|inspector/i);
  expect(server.exitCode ?? (await once(server, 'exit'))[0]).toBe(0);
});

test.skipIf(!existsSync('/dev/full'))(
  'a server starts and serves even if a full disk accepts none of its output',
  async () => {
    const { environment } = smallClinic();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    await new Promise(resolve => taken.close(resolve));
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const server = spawn(process.execPath, [LINTEL, 'serve'], {
      env: { PATH: process.env['PATH'], ...environment, PORT: String(port) },
      stdio: ['ignore', full, full],
    });
    onTestFinished(() => void server.kill('SIGKILL'));
    const ended = once(server, 'close');
    const health = async (): Promise<number> => {
      const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
      return answer?.status ?? (server.exitCode === null ? health() : 0);
    };
    expect(await health()).toBe(200);
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  },
);

/** True if this system can start a process as PID 1 of its own namespace. */
const isFirst = spawnSync('unshare', ['-r', '-p', '-f', 'true']).status === 0;

test.skipIf(!isFirst)('the first process of a container ends by a signal while it starts', async () => {
  const { environment } = smallClinic();
  // Repeats the signal until it is handled: at the very beginning there is no handler.
  const again = `data:text/javascript,setInterval(() => process.kill(1, 'SIGTERM'), 5)`;
  const first = spawn(
    'unshare',
    ['-r', '-p', '-f', '--kill-child', process.execPath, '--import', again, LINTEL, 'serve'],
    {
      env: { PATH: process.env['PATH'], ...environment, PORT: '0' },
      stdio: 'ignore',
    },
  );
  onTestFinished(() => void first.kill('SIGKILL'));
  expect(await once(first, 'close')).toEqual([143, null]);
});
