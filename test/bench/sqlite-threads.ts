/**
 * `npm run bench -- sqlite-threads`: what it costs to ask SQLite in threads, side by side with asking it in the
 * server's own. In: a SQLite file of the demo's schema. Out: microseconds of CPU and milliseconds of waiting for a
 * read and for a page of 50, what becomes of short reads beside statements that take long, and how long a thread
 * takes to end while it runs one (decision 385).
 */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { median } from './clock.ts';
import { delayOf } from './latency.ts';
import { compareServers, fetchOnce, load, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';
import { WAYS, type Way } from './threads-database.ts';

const PROGRAM = new URL('threads-server.ts', import.meta.url);
const READS = { rounds: 7, requests: 1500, warm: 3000 };
const PAGES = { rounds: 7, requests: 200, warm: 400 };

export async function benchThreads(file: string): Promise<void> {
  const all = await Promise.all(WAYS.map(async way => [way, await startProgram(PROGRAM, way, { file })] as const));
  const servers = Object.fromEntries(all) as Readonly<Record<Way, Server>>;
  try {
    const page = await fetchOnce(servers.today, '/fhir/Patient?_count=50', 'identity');
    const { entry }: { entry: readonly { resource: { id: string } }[] } = JSON.parse(page.body.toString());
    const reads = { paths: entry.map(({ resource: { id } }) => `/fhir/Patient/${id}`), coding: 'identity' };
    const pages = { paths: ['/fhir/Observation?category=vital-signs&_count=50'], coding: 'identity' };
    const cpu = {
      reads: await compareServers(servers, reads, READS),
      pages: await compareServers(servers, pages, PAGES),
    };
    const waits = { reads: await waitsOf(servers, reads, 300), pages: await waitsOf(servers, pages, 60) };
    const beside = new Map<Way, readonly string[]>();
    for (const way of WAYS) beside.set(way, await besideLong(servers[way], reads));
    printTable(
      [
        '',
        'read, µs CPU',
        'alone, ms',
        'page, µs CPU',
        'alone, ms',
        'long statement',
        'reads beside it, p99',
        'loop held',
      ],
      WAYS.map(way => [
        way,
        ...[share(cpu.reads, way, 0), share(waits.reads, way, 3), share(cpu.pages, way, 0), share(waits.pages, way, 2)],
        ...(beside.get(way) ?? []),
      ]),
    );
  } finally {
    for (const { child } of Object.values(servers)) child.kill();
  }
  console.log(`\nA thread in a statement of SQLite, told to end, ends ${await endOfThread()}.`);
}

function share(of: Readonly<Record<Way, number>>, way: Way, digits: number): string {
  return `${of[way].toFixed(digits)} (${((of[way] / of.today - 1) * 100).toFixed(0)} %)`;
}

/** Milliseconds for one client alone, the median of rounds that are interleaved. */
async function waitsOf(
  servers: Readonly<Record<Way, Server>>,
  asked: { readonly paths: readonly string[]; readonly coding: string },
  requests: number,
): Promise<Readonly<Record<Way, number>>> {
  const times = new Map<Way, number[]>(WAYS.map(way => [way, []]));
  for (let round = 0; round < 7; round++)
    for (const way of WAYS)
      await load(servers[way], asked, requests, { connections: 1, waited: ms => times.get(way)?.push(ms) });
  return Object.fromEntries(WAYS.map(way => [way, median(times.get(way) ?? [])])) as Readonly<Record<Way, number>>;
}

/** A search by many names of patients that no index serves, and reads by eight clients until it is answered. */
async function besideLong(
  server: Server,
  reads: { readonly paths: readonly string[]; readonly coding: string },
): Promise<readonly string[]> {
  const names = Array.from({ length: 450 }, (_, i) => `nobody${i}`).join();
  const times: number[] = [];
  await delayOf(server);
  const begun = performance.now();
  let took = 0;
  const long = fetchOnce(server, `/fhir/Observation?patient.name:contains=${names}`, 'identity').then(() => {
    took = performance.now() - begun;
  });
  while (took === 0) await load(server, reads, 64, { connections: 8, waited: ms => times.push(ms) });
  await long;
  const held = await delayOf(server);
  times.sort((a, b) => a - b);
  const p99 = times[Math.floor(times.length * 0.99)] ?? Number.NaN;
  return [`${took.toFixed(0)} ms`, `${p99.toFixed(1)} ms`, `${held.longest.toFixed(0)} ms`];
}

const COUNTING = `
  import { DatabaseSync } from 'node:sqlite';
  import { parentPort } from 'node:worker_threads';
  const database = new DatabaseSync(':memory:');
  const statement = database.prepare(
    'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 30000000) SELECT MAX(i) FROM n');
  parentPort.postMessage('begun');
  statement.all();
  parentPort.postMessage('ended');`;

/** Nothing but a function of ours that it calls gets a statement to stop: `terminate` waits for it. */
async function endOfThread(): Promise<string> {
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(COUNTING)}`));
  await once(thread, 'message');
  await wait(200);
  const begun = performance.now();
  await thread.terminate();
  return `${(performance.now() - begun).toFixed(0)} ms later`;
}
