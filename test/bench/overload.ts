/**
 * `npm run bench -- overload`: measures answers under overload. Requests begin on schedule, whether earlier ones are
 * answered or not (open loop), at 1, 2, 5 and 10 times the rate that the server reaches with 64 clients. In: a SQLite
 * file of the demo's schema. Out: answers in time, refusals, milliseconds and memory at each load. Run it on an idle
 * machine: client and server need a core each.
 */
import { connect, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Task } from './http-server.ts';
import { delayOf, mixOf } from './latency.ts';
import { load, memoryOf, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const PROGRAM = new URL('http-server.ts', import.meta.url);
/** Milliseconds of each load, and the limit for an answer in time. */
const LASTS = 10_000;
const IN_TIME = 2000;
const CONNECTIONS = 1000;

interface Ended {
  readonly status: number;
  /** Milliseconds measured by the client, and the server's share: from the parsed head to the finished answer. */
  readonly took: number;
  readonly inside: number;
}

export async function benchOverload(file: string): Promise<void> {
  const task: Task = { file, baseUrl: 'http://127.0.0.1', pages: {}, reads: {}, headers: [] };
  const server = await startProgram(PROGRAM, 'lintel', task);
  const bare = await startProgram(PROGRAM, 'bare', task);
  try {
    const paths = await mixOf(server);
    await load(server, { paths, coding: 'identity' }, 4000);
    const begun = performance.now();
    await load(server, { paths, coding: 'identity' }, 6000, { connections: 64, waited: () => {} });
    const bears = 6_000_000 / (performance.now() - begun);
    console.log(`64 clients: ${rounded(bears)} answers/s, ${await megabytes(server)}`);
    const rows: (readonly string[])[] = [];
    for (const times of [1, 2, 5, 10]) rows.push(await row(`${times} times`, server, paths, bears * times));
    await wait(5000);
    rows.push(await row('half, 5 s later', server, paths, bears / 2));
    // The same load on a server that does no work.
    for (const times of [1, 5, 10]) rows.push(await row(`a bare server, ${times} times`, bare, paths, bears * times));
    printTable(HEAD, rows);
  } finally {
    server.child.kill();
    bare.child.kill();
  }
}

const HEAD = ['load', 'due/s', 'asked/s', 'answered in time/s', 'refused/s', 'median', 'p99 of answers'].concat([
  'p99 of refusals',
  'p99 in the server',
  'p99 before and after',
  'thread held, p99',
  'client late, p99',
  'memory',
]);

async function row(
  name: string,
  server: Server,
  paths: readonly string[],
  perSecond: number,
): Promise<readonly string[]> {
  const late = monitorEventLoopDelay({ resolution: 1 });
  await delayOf(server);
  late.enable();
  const ended = await openLoop(server, paths, perSecond);
  late.disable();
  const held = await delayOf(server);
  const ofClient = `${Math.round(late.percentile(99) / 1e6)} ms`;
  return [name, rounded(perSecond), ...told(ended), `${Math.round(held.p99)} ms`, ofClient, await megabytes(server)];
}

function told(ended: readonly Ended[]): readonly string[] {
  const answers = ended.filter(({ status }) => status === 200);
  const refusals = ended.filter(({ status }) => status === 503);
  const perSecond = (count: number): string => rounded((count * 1000) / LASTS);
  return [
    perSecond(ended.length),
    perSecond(answers.filter(({ took }) => took <= IN_TIME).length),
    perSecond(refusals.length),
    at(
      answers.map(({ took }) => took),
      0.5,
    ),
    ...[answers.map(({ took }) => took), refusals.map(({ took }) => took)].map(times => at(times, 0.99)),
    ...[answers.map(({ inside }) => inside), answers.map(({ took, inside }) => took - inside)].map(times =>
      at(times, 0.99),
    ),
  ];
}

function at(times: readonly number[], share: number): string {
  const sorted = times.toSorted((a, b) => a - b);
  return `${Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)} ms`;
}

const rounded = (value: number): string => Math.round(value).toString();

/** Resident memory of the server's process, with its heap and buffers. */
async function megabytes(server: Server): Promise<string> {
  const { rss, heapUsed, heapTotal, external } = await memoryOf(server);
  const [all, used, heap, buffers] = [rss, heapUsed, heapTotal, external].map(bytes => rounded(bytes / 1024 ** 2));
  return `${all} MB (heap ${used} of ${heap}, buffers ${buffers})`;
}

/**
 * Sends requests on schedule. A request without a free connection is dropped, and counts as neither answered nor
 * refused.
 */
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

/** One connection; a response ends after its head and Content-Length bytes. */
function asking(port: number, free: Asking[], tell: (one: Ended) => void): Asking {
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  let begun = 0;
  let status = 0;
  let inside = 0;
  let left = -1;
  const self: Asking = {
    socket,
    ask(path) {
      begun = performance.now();
      // The cache does not store the answer.
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
        inside = Number(/\r\nserver-timing: total;dur=([\d.]+)/i.exec(head)?.[1] ?? 0);
        left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
        bytes -= end + 4;
      }
      left -= bytes;
      if (left > 0) return;
      left = -1;
      tell({ status, took: performance.now() - begun, inside });
      free.push(self);
    });
  return self;
}
