/**
 * `npm run bench -- overload`: what becomes of the answers when far more is asked than the server bears. Requests begin when they are due,
 * whether those before them were answered or not (open loop), at 1, 2, 5 and 10 times what the server answers to 64 clients. In: a SQLite file
 * of the demo's schema. Out: answers in time, refusals, milliseconds and memory at each load. To be run on a machine that does nothing else:
 * client and server need a core each.
 */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Task } from './http-server.ts';
import { mixOf } from './latency.ts';
import { load, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const PROGRAM = new URL('http-server.ts', import.meta.url);
/** Milliseconds of each load, and within which an answer is in time. */
const LASTS = 10_000;
const IN_TIME = 2000;
const CONNECTIONS = 1000;

interface Ended {
  readonly status: number;
  readonly took: number;
}

export async function benchOverload(file: string): Promise<void> {
  const task: Task = { file, baseUrl: 'http://127.0.0.1', pages: {}, reads: {}, headers: [] };
  const server = await startProgram(PROGRAM, 'lintel', task);
  try {
    const paths = await mixOf(server);
    await load(server, { paths, coding: 'identity' }, 4000);
    const begun = performance.now();
    await load(server, { paths, coding: 'identity' }, 6000, { connections: 64, waited: () => {} });
    const bears = 6_000_000 / (performance.now() - begun);
    const rows: (readonly string[])[] = [['64 clients', rounded(bears), rounded(bears), '', '', '', megabytes(server)]];
    for (const times of [1, 2, 5, 10]) {
      const ended = await openLoop(server, paths, bears * times);
      rows.push([`${times} times`, rounded(bears * times), ...told(ended), megabytes(server)]);
    }
    await wait(5000);
    const after = await openLoop(server, paths, bears / 2);
    rows.push(['half, 5 s later', rounded(bears / 2), ...told(after), megabytes(server)]);
    printTable(['load', 'asked/s', 'answered in time/s', 'refused/s', 'median', 'p99 of answers', 'memory'], rows);
  } finally {
    server.child.kill();
  }
}

function told(ended: readonly Ended[]): readonly string[] {
  const answers = ended.filter(({ status }) => status === 200).map(({ took }) => took);
  answers.sort((a, b) => a - b);
  const at = (share: number): string => `${Math.round(answers[Math.floor(answers.length * share)] ?? 0)} ms`;
  const perSecond = (count: number): string => rounded((count * 1000) / LASTS);
  return [
    perSecond(answers.filter(took => took <= IN_TIME).length),
    perSecond(ended.filter(({ status }) => status === 503).length),
    ...[at(0.5), at(0.99)],
  ];
}

const rounded = (value: number): string => Math.round(value).toString();

/** Resident memory of the server's process, as Linux tells it. */
function megabytes({ child }: Server): string {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? [];
  return `${rounded(Number(kilobytes) / 1024)} MB`;
}

/** Requests that no connection was free for are asked for nobody: they count as neither answered nor refused. */
async function openLoop(server: Server, paths: readonly string[], perSecond: number): Promise<readonly Ended[]> {
  const ended: Ended[] = [];
  const free: Asking[] = [];
  const all = Array.from({ length: CONNECTIONS }, () => asking(server.port, free, one => ended.push(one)));
  free.push(...all);
  const begun = performance.now();
  let asked = 0;
  for (let now = begun; now - begun < LASTS; now = performance.now()) {
    for (const due = ((now - begun) * perSecond) / 1000; asked < due; asked++) {
      const path = paths[asked % paths.length] ?? '';
      free.pop()?.ask(path);
    }
    await wait(1);
  }
  await wait(IN_TIME);
  for (const { socket } of all) socket.destroy();
  return ended;
}

interface Asking {
  readonly socket: Socket;
  ask(path: string): void;
}

/** One connection; a head with Content-Length and so many bytes after it end a request. */
function asking(port: number, free: Asking[], tell: (one: Ended) => void): Asking {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let begun = 0;
  let status = 0;
  let left = -1;
  const self: Asking = {
    socket,
    ask(path) {
      begun = performance.now();
      // Nothing of it is kept.
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: no-store\r\n\r\n`);
    },
  };
  socket
    .on('error', () => {})
    .on('data', (piece: Buffer) => {
      let bytes = piece.byteLength;
      if (left < 0) {
        const end = piece.indexOf('\r\n\r\n');
        const head = piece.toString('latin1', 0, end);
        status = Number(head.slice(9, 12));
        left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
        bytes -= end + 4;
      }
      left -= bytes;
      if (left > 0) return;
      left = -1;
      tell({ status, took: performance.now() - begun });
      free.push(self);
    });
  return self;
}
