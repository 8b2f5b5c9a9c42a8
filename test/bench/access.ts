/**
 * `npm run bench -- access [file]`: measures the cost of access control. In: a SQLite file of the demo's schema. Out:
 * two tables of microseconds of CPU of each server process per request. The first has uncached pages of 50 of one
 * patient, with a token of that patient's app and on an open server. The second has cache hits, with a token and on an
 * open server, next to a bare node:http server that sends the same bytes. With a token each answer is audited; the
 * audit thread is included, on the open server only where the column says so.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Task } from './access-server.ts';
import { compared, RUNS, type Runs, shown } from './runs.ts';
import { compareServers, fetchOnce, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const PROGRAM = new URL('access-server.ts', import.meta.url);
const PAGES = { rounds: 11, requests: 300, warm: 3000 };
const HITS = { rounds: 15, requests: 2000, warm: 20_000, awake: true };
const FULL = 50;

/** Searches behind `patient=ID`. */
const SEARCHES: Readonly<Record<string, string>> = {
  'Observation, laboratory': 'Observation?category=laboratory&_count=50',
  Condition: 'Condition?_count=50',
  'MedicationRequest with _include': 'MedicationRequest?_count=50&_include=MedicationRequest:medication',
};

type Contender = 'bare' | 'open' | 'audited' | 'token';

export async function benchAccess(file: string): Promise<void> {
  const pages = new Map<string, Readonly<Record<'open' | 'audited' | 'token', number>>[]>();
  const hits = new Map<string, Readonly<Record<Contender, number>>[]>();
  for (let run = 0; run < RUNS; run++) {
    const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
    try {
      await measurePages(file, folder, pages);
      await measureHits(file, folder, hits);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  const columns = ['open', 'open, audited', 'token', 'token to open, audited', 'token to open'];
  printTable(
    ['a page of 50', ...columns],
    [...pages].map(([what, runs]) => [
      what,
      ...(['open', 'audited', 'token'] as const).map(name => shown(runs, name)),
      cost(runs, 'token', 'audited'),
      cost(runs, 'token', 'open'),
    ]),
  );
  printTable(
    [
      'kept',
      'bare',
      'open',
      'open, audited',
      'token',
      'open to bare',
      'audited to bare',
      'token to bare',
      'token to audited',
    ],
    [...hits].map(([what, runs]) => [
      what,
      ...(['bare', 'open', 'audited', 'token'] as const).map(name => shown(runs, name)),
      ...(['open', 'audited', 'token'] as const).map(name => compared(runs, name, 'bare')),
      compared(runs, 'token', 'audited'),
    ]),
  );
}

/** Cost of `own` as a multiple of `other`. */
function cost<Name extends string>(runs: Runs<Name>, own: Name, other: Name): string {
  return compared(runs, other, own);
}

interface Servers {
  readonly open: Server;
  readonly audited: Server;
  readonly token: Server;
}

/** Starts the servers for one patient whose record fills a page. */
async function start(file: string, folder: string, kept: boolean): Promise<Servers & { readonly patient: string }> {
  const task = (name: string, patient = ''): Task => ({
    file,
    dataDir: join(folder, `${name} ${kept}`),
    patient,
    kept,
  });
  const open = await startProgram(PROGRAM, 'open', task('open'));
  const patient = await fullPatient(open);
  return {
    open,
    patient,
    audited: await startProgram(PROGRAM, 'audited', task('audited')),
    token: await startProgram(PROGRAM, 'token', task('token', patient)),
  };
}

async function fullPatient(open: Server): Promise<string> {
  const ids = await entriesOf(open, '/fhir/Patient?_count=100');
  for (const { id } of ids) {
    const found = await entriesOf(open, `/fhir/Observation?patient=${id}&category=laboratory&_count=50`);
    if (found.length >= FULL) return id;
  }
  throw new Error('No record fills a page');
}

async function entriesOf(server: Server, path: string): Promise<readonly { readonly id: string }[]> {
  const { body } = await fetchOnce(server, path, 'identity');
  const { entry = [] } = JSON.parse(body.toString()) as { entry?: readonly { readonly resource: { id: string } }[] };
  return entry.map(({ resource }) => resource);
}

function end(servers: Readonly<Record<string, Server>>): void {
  for (const { child } of Object.values(servers)) child.kill();
}

async function measurePages(
  file: string,
  folder: string,
  pages: Map<string, Readonly<Record<'open' | 'audited' | 'token', number>>[]>,
): Promise<void> {
  const { patient, ...servers } = await start(file, folder, false);
  for (const [what, search] of Object.entries(SEARCHES)) {
    const path = `/fhir/${search}&patient=${patient}`;
    const found = await Promise.all([entriesOf(servers.open, path), entriesOf(servers.token, path)]);
    if (found[0].length !== found[1].length) throw new Error(`The pages of ${path} differ`);
    const title = `${what} (${found[0].length})`;
    const times = await compareServers(servers, { paths: [path], coding: 'identity' }, PAGES);
    pages.set(title, [...(pages.get(title) ?? []), times]);
  }
  end(servers);
}

async function measureHits(
  file: string,
  folder: string,
  hits: Map<string, Readonly<Record<Contender, number>>[]>,
): Promise<void> {
  const { patient, ...servers } = await start(file, folder, true);
  for (const [what, path] of Object.entries({
    'a read': `/fhir/Patient/${patient}`,
    'a page of 50 Observations': `/fhir/Observation?patient=${patient}&category=laboratory&_count=50`,
  })) {
    for (const coding of ['identity', 'gzip']) {
      // Four requests: the first ones make the answers, and the watermarks become known.
      for (const server of Object.values(servers)) for (let i = 0; i < 4; i++) await fetchOnce(server, path, coding);
      const { headers, body } = await fetchOnce(servers.token, path, coding);
      const same: Task = { file, dataDir: folder, patient, kept: true, headers, body: body.toString('base64') };
      const bare = await startProgram(PROGRAM, 'bare', same);
      const times = await compareServers({ bare, ...servers }, { paths: [path], coding }, HITS);
      end({ bare });
      const title = coding === 'identity' ? what : `${what}, ${coding}`;
      hits.set(title, [...(hits.get(title) ?? []), times]);
    }
  }
  end(servers);
}
