/**
 * `npm run bench -- export-latency [file]`: measures how long clients wait with and without a running export. In: a
 * SQLite file of the demo's schema, large enough for a long export. Out: a table of milliseconds. Rounds with and
 * without the export alternate; it is paused in between.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task } from './http-server.ts';
import { mixOf } from './latency.ts';
import { load, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const PROGRAM = new URL('http-server.ts', import.meta.url);
const ROUNDS = 5;
const REQUESTS = 400;
/** With one connection a core is left for the export; four connections keep both cores busy without it. */
const CONNECTIONS = [1, 4];

export async function benchExportLatency(file: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lintel-'));
  const task: Task = { file, baseUrl: 'http://127.0.0.1', pages: {}, reads: {}, headers: [], dataDir };
  const server = await startProgram(PROGRAM, 'lintel', task);
  try {
    const paths = await mixOf(server);
    const rows: (readonly string[])[] = [];
    for (const connections of CONNECTIONS) {
      const [idle, busy]: [number[], number[]] = [[], []];
      const ask = (times: number[], requests = REQUESTS): Promise<void> =>
        load(server, { paths, coding: 'identity' }, requests, { connections, waited: time => void times.push(time) });
      await ask([], REQUESTS * 2);
      for (let round = 0; round < ROUNDS; round++) {
        await ask(idle);
        await during(server, () => ask(busy));
      }
      rows.push(described(`${connections} clients, no export`, idle));
      rows.push(described(`${connections} clients, during an export`, busy));
      rows.push([
        'ratio',
        ...SHARES.map(share => (at(busy, share) / at(idle, share)).toFixed(2)),
        (busy.length / idle.length).toFixed(0),
      ]);
    }
    printTable(['', 'median', 'p95', 'p99', 'longest', 'requests'], rows);
  } finally {
    server.child.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Starts an export, and ends it after the work. Throws if the export ended before the work. */
async function during({ port }: Server, work: () => Promise<void>): Promise<void> {
  const fhir = `http://127.0.0.1:${port}/fhir`;
  const begun = await fetch(`${fhir}/$export?_type=Observation`, { headers: { prefer: 'respond-async' } });
  const poll = new URL(begun.headers.get('content-location') ?? '').searchParams.get('_jobId');
  const status = `${fhir}/$export-poll-status?_jobId=${poll}`;
  // While a thread is still loading the mappings, the measurement would be of something else.
  while (!/[1-9]\d* resources|[1-9]\d*%/.test((await fetch(status)).headers.get('x-progress') ?? ''))
    await new Promise(resolve => setTimeout(resolve, 1000));
  await work();
  const { status: code } = await fetch(status);
  if (code !== 202 && code !== 429) throw new Error('the export was over too soon: take a larger database');
  await fetch(status, { method: 'DELETE' });
}

const SHARES = [0.5, 0.95, 0.99, 1];

function at(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function described(what: string, times: readonly number[]): readonly string[] {
  return [what, ...SHARES.map(share => `${at(times, share).toFixed(1)} ms`), String(times.length)];
}
