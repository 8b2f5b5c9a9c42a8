/**
 * `npm run bench -- soak`: detects growth of memory and other resources under long mixed load. MINUTES sets the
 * duration (30). It makes a database and a copy of the demo's mappings. Out: once a minute memory, heap, event loop
 * delay, file descriptors, and the number of requests by kind and status.
 */
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { buildFixture } from '../../fixtures/build.ts';
import { mixOf } from './latency.ts';
import { memoryOf, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const PROGRAM = new URL('soak-server.ts', import.meta.url);
const PACK = new URL('../../mappings/medkeep/', import.meta.url).pathname;
const ACCOUNT = { username: 'soak', password: 'soak and soak again' };
/** Milliseconds between two requests of one client, so that the machine is busy and not overloaded. */
const PAUSE = 5;
const READERS = 4;

interface Soak {
  readonly server: Server;
  readonly base: string;
  readonly patients: readonly string[];
  readonly pack: string;
  isOver(): boolean;
  count(kind: string, status: number | string): void;
}

export async function benchSoak(minutes = Number(process.env['MINUTES'] ?? 30)): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-soak-'));
  try {
    const [file, pack] = [join(folder, 'soak.sqlite'), join(folder, 'pack')];
    buildFixture({ file, patients: 300, seed: 1, version: '4.1' });
    cpSync(PACK, pack, { recursive: true });
    const server = await startProgram(PROGRAM, 'lintel', {
      ...{ DATABASE_URL: `sqlite:${file}`, MAPPINGS: pack, DATA_DIR: join(folder, 'data') },
      ...{ DEMO_USER: ACCOUNT.username, DEMO_PASSWORD: ACCOUNT.password, CACHE_SIZE: '16' },
    });
    try {
      await soak(server, pack, minutes);
    } finally {
      server.child.kill();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function soak(server: Server, pack: string, minutes: number): Promise<void> {
  const counts = new Map<string, number>();
  const end = performance.now() + minutes * 60_000;
  const paths = await mixOf(server);
  const of: Soak = {
    ...{ server, pack, base: `http://127.0.0.1:${server.port}` },
    patients: paths.flatMap(path => /^\/fhir\/Patient\/([^/?]+)$/.exec(path)?.[1] ?? []),
    isOver: () => performance.now() > end,
    count(kind, status) {
      const name = `${kind} ${status}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
  };
  const rows = [await state('start', server)];
  const work = [
    ...Array.from({ length: READERS }, (_, i) => reading(of, paths, i)),
    ...[paging(of), documents(of), exporting(of), reloading(of), aborting(of), mistaken(of)],
  ];
  const watching = (async () => {
    for (let minute = 1; minute <= minutes; minute++) {
      await wait(60_000);
      rows.push(await state(`${minute} min`, server));
      console.log(rows.at(-1)?.join(' | '));
    }
  })();
  await Promise.all([...work, watching]);
  // Waits until remaining connections and jobs have ended.
  await wait(10_000);
  rows.push(await state('10 s after', server));
  server.child.send('outcomes');
  const [told]: { readonly outcomes: Readonly<Record<string, number>> }[] = await once(server.child, 'message');
  for (const [outcome, times] of Object.entries(told?.outcomes ?? {})) counts.set(`reloads ${outcome}`, times);
  printTable(['', 'RSS', 'heap used', 'heap', 'buffers', 'handles', 'file descriptors', 'CPU'], rows);
  printTable(
    ['answered', 'times'],
    [...counts].toSorted().map(([name, times]) => [name, String(times)]),
  );
}

async function state(name: string, server: Server): Promise<readonly string[]> {
  const { rss, heapUsed, heapTotal, external, resources } = await memoryOf(server);
  const bytes = [rss, heapUsed, heapTotal, external].map(count => `${Math.round(count / 1024 ** 2)} MB`);
  const files = readdirSync(`/proc/${server.child.pid}/fd`).length;
  return [name, ...bytes, String(resources), String(files), `${Math.round(await server.cpu())} s`];
}

async function asked(of: Soak, kind: string, path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${of.base}${path}`, { ...init, signal: AbortSignal.timeout(60_000) });
  of.count(kind, response.status);
  return response;
}

async function reading(of: Soak, paths: readonly string[], first: number): Promise<void> {
  for (let i = first; !of.isOver(); i += READERS) {
    const headers = i % 3 === 0 ? { 'cache-control': 'no-store' } : {};
    await (await asked(of, 'reads and searches', paths[i % paths.length] ?? '', { headers })).arrayBuffer();
    await wait(PAUSE);
  }
}

async function paging(of: Soak): Promise<void> {
  const first = '/fhir/Observation?_count=50';
  for (let path = first; !of.isOver(); ) {
    const page = (await (await asked(of, 'pages', path)).json()) as { readonly link?: readonly Link[] };
    const next = page.link?.find(({ relation }) => relation === 'next');
    path = next === undefined ? first : next.url.slice(of.base.length);
    await wait(50);
  }
}

interface Link {
  readonly relation: string;
  readonly url: string;
}

async function documents(of: Soak): Promise<void> {
  for (let i = 0; !of.isOver(); i++) {
    const body = new URLSearchParams(i % 5 === 4 ? { ...ACCOUNT, password: 'not this one' } : ACCOUNT);
    const login = await asked(of, 'logins', '/api/users/login', { method: 'POST', body });
    await login.arrayBuffer();
    const cookie = login.headers.get('set-cookie')?.split(';')[0];
    for (let one = 0; one < 3 && cookie !== undefined; one++) {
      const patient = of.patients[(i + one) % of.patients.length];
      const path = `/api/${patient}/ccds/api/all-patient-data`;
      await (await asked(of, 'documents', path, { headers: { cookie } })).arrayBuffer();
    }
    await wait(1000);
  }
}

async function exporting(of: Soak): Promise<void> {
  while (!of.isOver()) {
    const headers = { prefer: 'respond-async', accept: 'application/fhir+json' };
    const begun = await asked(of, 'exports begun', '/fhir/$export?_type=Patient,Condition', { headers });
    await begun.arrayBuffer();
    const poll = begun.headers.get('content-location')?.slice(of.base.length);
    if (poll !== undefined) await exported(of, poll);
    await wait(5000);
  }
}

async function exported(of: Soak, poll: string): Promise<void> {
  for (;;) {
    const answer = await asked(of, 'exports polled', poll);
    if (answer.status === 202) {
      await answer.arrayBuffer();
      await wait(1000);
      continue;
    }
    const { output = [] } = (await answer.json()) as { readonly output?: readonly { readonly url: string }[] };
    for (const { url } of output) await (await asked(of, 'files of exports', url.slice(of.base.length))).arrayBuffer();
    await (await asked(of, 'exports deleted', poll, { method: 'DELETE' })).arrayBuffer();
    return;
  }
}

/** Changes the mappings each time, because unchanged ones would not be reloaded. */
async function reloading(of: Soak): Promise<void> {
  const path = join(of.pack, 'pack.yaml');
  const text = readFileSync(path, 'utf8');
  for (let version = 0; !of.isOver(); version++) {
    await wait(10_000);
    writeFileSync(path, `${text}\n# ${version}\n`);
    of.server.child.send('reload');
  }
}

/** Clients that disconnect while their answer is made, or before their request is complete. */
async function aborting(of: Soak): Promise<void> {
  for (let i = 0; !of.isOver(); i++) {
    const socket = connect(of.server.port, '127.0.0.1').on('error', () => {});
    const path = i % 2 === 0 ? '/fhir/Observation?_count=500' : '/fhir/Patient?_revinclude=Observation:patient';
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: no-store\r\n${i % 3 === 0 ? '' : '\r\n'}`);
    await wait(20 + (i % 10) * 10);
    socket.destroy();
    of.count('clients that go', 'gone');
    await wait(200);
  }
}

const MISTAKES = [
  '/fhir/Patient/none',
  '/fhir/Patient?_id=',
  '/fhir/None/1',
  '/fhir/Patient?birthdate=x',
  '/none',
  '/api/1',
];

async function mistaken(of: Soak): Promise<void> {
  for (let i = 0; !of.isOver(); i++) {
    await (await asked(of, 'mistakes', `${MISTAKES[i % MISTAKES.length]}`)).arrayBuffer();
    await wait(100);
  }
}
