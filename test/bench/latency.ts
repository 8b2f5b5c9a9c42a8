/**
 * `npm run bench -- latency`: measures how long clients wait under concurrent uncached requests, and how long the
 * server's thread is blocked at a time. In: a SQLite file of the demo's schema. Out: a table of milliseconds.
 */
import { once } from 'node:events';
import type { Task } from './http-server.ts';
import { type Asked, fetchOnce, load, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const PROGRAM = new URL('http-server.ts', import.meta.url);
const REQUESTS = 4000;

/** The mix of requests of an application that opens a chart, and sometimes a list. */
export async function mixOf(server: Server): Promise<readonly string[]> {
  const page = await fetchOnce(server, '/fhir/Patient?_count=40', 'identity');
  const { entry }: { entry: readonly { resource: { id: string } }[] } = JSON.parse(page.body.toString());
  return entry.flatMap(({ resource: { id } }) => [
    `/fhir/Patient/${id}`,
    `/fhir/Patient/${id}`,
    `/fhir/Condition?patient=${id}&clinical-status=active`,
    `/fhir/MedicationRequest?patient=${id}&intent=order`,
    `/fhir/Observation?patient=${id}&category=laboratory`,
    `/fhir/Observation?patient=${id}&category=vital-signs&_count=20`,
    `/fhir/Encounter?patient=${id}&_include=Encounter:location`,
    `/fhir/DocumentReference?patient=${id}`,
  ]);
}

export async function benchLatency(file: string): Promise<void> {
  const task: Task = { file, baseUrl: 'http://127.0.0.1', pages: {}, reads: {}, headers: [] };
  const server = await startProgram(PROGRAM, 'lintel', task);
  try {
    const paths = await mixOf(server);
    const rows: (readonly string[])[] = [];
    await load(server, { paths, coding: 'gzip' }, REQUESTS);
    for (const [coding, connections] of [
      ['identity', 1],
      ['identity', 8],
      ['identity', 64],
      ['gzip', 8],
      ['gzip', 64],
    ] as const) {
      rows.push([`${connections} connections, ${coding}`, ...(await measure(server, { paths, coding }, connections))]);
    }
    printTable(['', 'requests/s', 'median', 'p95', 'p99', 'longest', 'thread held, p99', 'longest'], rows);
  } finally {
    server.child.kill();
  }
}

async function measure(server: Server, asked: Asked, connections: number): Promise<readonly string[]> {
  const times: number[] = [];
  await delayOf(server);
  const begun = performance.now();
  await load(server, asked, REQUESTS, { connections, waited: milliseconds => times.push(milliseconds) });
  const seconds = (performance.now() - begun) / 1000;
  const held = await delayOf(server);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return [
    Math.round(times.length / seconds).toString(),
    ...[at(0.5), at(0.95), at(0.99), at(1), held.p99, held.longest].map(value => `${value.toFixed(1)} ms`),
  ];
}

/** Delay of the server's timers since the last call, which is how long its thread was blocked. */
export async function delayOf({ child }: Server): Promise<{ readonly p99: number; readonly longest: number }> {
  child.send('delay');
  const [delay] = await once(child, 'message');
  return delay;
}
