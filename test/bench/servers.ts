/**
 * Starts servers in separate processes, and clients for them. Compares the CPU time of the server processes in
 * alternating rounds, so that other load of the machine affects all of them equally.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get, type Server as HttpServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { median } from './clock.ts';

const CONNECTIONS = 8;

export interface Server {
  readonly port: number;
  readonly child: ChildProcess;
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds of CPU so far. */
  cpu(): Promise<number>;
}

/** Children are killed when the bench ends for any reason. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill();
});

/**
 * `program` receives `kind` as its argument and `what` as a message, and sends its port, with the headers that it
 * requires.
 */
export async function startProgram(program: URL, kind: string, what?: object): Promise<Server> {
  // The server writes its log, and the system discards it.
  const child = fork(program, [kind], { stdio: ['ignore', 'inherit', 'ignore', 'ipc'] });
  running.add(child);
  if (what) child.send(what);
  const [{ port, headers = {} }] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`The server ${kind} does not start`);
    }),
  ]);
  return {
    ...{ port, child, headers },
    async cpu() {
      child.send('cpu');
      const [seconds] = await once(child, 'message');
      return seconds;
    },
  };
}

/** Bytes of memory, and the number of the event loop's active resources (connections, timers). */
export interface Memory extends NodeJS.MemoryUsage {
  readonly resources: number;
}

export async function memoryOf({ child }: Server): Promise<Memory> {
  child.send('memory');
  const [memory] = await once(child, 'message');
  return memory;
}

/** Handles the messages of `startProgram` once a program listens. */
export function answerQuestions(): void {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  process.on('message', message => {
    if (message === 'cpu') {
      const { user, system } = process.cpuUsage();
      process.send?.((user + system) / 1e6);
    } else if (message === 'delay') {
      process.send?.({ p99: delay.percentile(99) / 1e6, longest: delay.max / 1e6 });
      delay.enable();
      delay.reset();
    } else if (message === 'memory') {
      process.send?.({ ...process.memoryUsage(), resources: process.getActiveResourcesInfo().length } satisfies Memory);
    }
  });
}

/** Starts the product's own server in this process, with access control and log. Out: its port. */
export async function startLintel(environment: Readonly<Record<string, string>>): Promise<number> {
  const { readConfig } = await import('../../src/config/config.ts');
  const { createLog } = await import('../../src/log.ts');
  const { startServer } = await import('../../src/main.ts');
  const config = readConfig({ PORT: '0', LOG_FORMAT: 'json', RELOAD_INTERVAL: '0', ...environment });
  const running = await startServer(config, { out: () => {}, note: () => {} }, createLog(config.log));
  if (running === undefined) throw new Error('Lintel does not start');
  return Number(new URL(running.url).port);
}

/** Returns the port of a server once it listens on loopback. */
export async function portOf(server: HttpServer): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

export interface Asked {
  /** Requested one after the other, repeatedly. */
  readonly paths: readonly string[];
  readonly coding: string;
}

export interface Load {
  readonly rounds: number;
  readonly requests: number;
  readonly warm: number;
  /**
   * Keeps this client process from sleeping between requests. For servers as fast as the client: to wake a sleeping
   * client on the same machine costs the server up to a sixth of a request, and a slower server pays it more often.
   */
  readonly awake?: boolean;
}

/** Microseconds of CPU per request of each server, the median of alternating rounds. */
export async function compareServers<Name extends string>(
  servers: Readonly<Record<Name, Server>>,
  asked: Asked,
  { rounds, requests, warm, awake = false }: Load,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(servers) as Name[];
  const times = new Map<Name, number[]>(names.map(name => [name, []]));
  const sleep = awake ? stayAwake() : () => {};
  for (const name of names) await load(servers[name], asked, warm);
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const before = await servers[name].cpu();
      await load(servers[name], asked, requests);
      times.get(name)?.push((((await servers[name].cpu()) - before) / requests) * 1e6);
    }
  }
  sleep();
  const medians = names.map(name => [name, median(times.get(name) ?? [])] as const);
  return Object.fromEntries(medians) as Readonly<Record<Name, number>>;
}

/**
 * Keeps the process awake until the returned function is called: with a pending immediate the event loop never waits.
 */
function stayAwake(): () => void {
  let turn = setImmediate(function next() {
    turn = setImmediate(next);
  });
  return () => clearImmediate(turn);
}

export interface Fetched {
  /** Alternating names and values, without the headers of the connection. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export async function fetchOnce({ port, headers: own }: Server, path: string, coding: string): Promise<Fetched> {
  const request = get({ host: '127.0.0.1', port, path, headers: { ...headersFor(coding), ...own } });
  const [response] = await once(request, 'response');
  const body = await bytesOf(response);
  if (response.statusCode !== 200) throw new Error(`${path} is answered with ${response.statusCode}`);
  const ofConnection = new Set(['date', 'connection', 'keep-alive']);
  const headers: string[] = [];
  for (let i = 0; i < response.rawHeaders.length; i += 2) {
    if (!ofConnection.has(response.rawHeaders[i].toLowerCase()))
      headers.push(response.rawHeaders[i], response.rawHeaders[i + 1]);
  }
  return { headers, body };
}

async function bytesOf(response: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function headersFor(coding: string): Record<string, string> {
  return { Accept: 'application/fhir+json', 'Accept-Encoding': coding, 'User-Agent': 'bench' };
}

/**
 * Sends requests over keep-alive connections, each after the whole answer to the one before. `waited` receives the
 * milliseconds of each.
 */
export async function load(
  { port, headers = {} }: Pick<Server, 'port'> & Partial<Pick<Server, 'headers'>>,
  { paths, coding }: Asked,
  requests: number,
  { connections = CONNECTIONS, waited }: { connections?: number; waited?: (milliseconds: number) => void } = {},
): Promise<void> {
  const lines = Object.entries({ ...headersFor(coding), ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const texts = paths.map(path => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n`);
  let next = 0;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      let left = Math.ceil(requests / connections);
      let missing = 0;
      let begun = 0;
      const ask = (): void => {
        begun = performance.now();
        socket.write(texts[next++ % texts.length] ?? '');
      };
      socket.on('data', chunk => {
        if (missing === 0) missing = lengthOf(chunk);
        missing -= chunk.byteLength;
        if (missing > 0) return;
        missing = 0;
        waited?.(performance.now() - begun);
        if (--left > 0) ask();
        else socket.end();
      });
      ask();
      await once(socket, 'close');
    }),
  );
}

/** Length of head and body together; the head must arrive in one piece. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)/i.exec(chunk.toString('latin1', 0, end))?.[1];
  if (length === undefined) throw new Error('An answer without a length, or with a head in pieces');
  return end + Number(length);
}
