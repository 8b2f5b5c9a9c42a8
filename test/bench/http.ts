/**
 * `npm run bench -- http`: pages of 50 Observations and reads over HTTP, uncached, next to two hand-written programs
 * behind a server of their own. In: a SQLite file of the demo's schema. Out: a table of CPU time of each server process
 * per request. Bytes are compared before the measurement. The programs know the requests beforehand; one by hand sends
 * precomputed headers without access control and log, the audited one has both.
 */
import { openDemo } from './demo.ts';
import type { Task } from './http-server.ts';
import { laboratoryPages, laboratoryReads, nextOf, type Page, type Read, unsealed } from './laboratory-pages.ts';
import { compared, RUNS, type Runs, shown } from './runs.ts';
import { compareServers, fetchOnce, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const ROUNDS = { rounds: 11, requests: 400, warm: 6000 };
const PROGRAM = new URL('http-server.ts', import.meta.url);

/** Form of the programs' output. */
const BASE_URL = 'http://127.0.0.1';

type Contender = 'lintel' | 'audited' | 'byHand' | 'obvious';

export async function benchHttp(file: string): Promise<void> {
  const opened = await openDemo(file);
  const pages = await laboratoryPages(opened);
  const reads = await laboratoryReads(opened, pages);
  await opened.database.close();
  const runs: Readonly<Record<Contender, number>>[][] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await measured(file, pages, reads));
  const rows = ['page of 50 Observations', 'read of one'].map((what, i) =>
    rowOf(
      what,
      runs.flatMap(run => run[i] ?? []),
    ),
  );
  const against = ['by hand, audited', 'by hand, bare', 'obvious'];
  printTable(['over HTTP', 'Lintel', ...against, ...against.map(one => `to ${one}`)], rows);
}

function rowOf(what: string, runs: Runs<Contender>): readonly string[] {
  const others = ['audited', 'byHand', 'obvious'] as const;
  return [
    what,
    ...(['lintel', ...others] as const).map(name => shown(runs, name)),
    ...others.map(other => compared(runs, 'lintel', other)),
  ];
}

/** Starts the servers and measures microseconds per page and per read. */
async function measured(
  file: string,
  pages: readonly Page[],
  reads: readonly Read[],
): Promise<Readonly<Record<Contender, number>>[]> {
  const nothing: Task = { file, baseUrl: BASE_URL, pages: {}, reads: {}, headers: [] };
  const lintel = await startProgram(PROGRAM, 'lintel', nothing);
  const paths = await pathsOf(lintel, pages);
  const readPaths = reads.map(({ id }) => `/fhir/Observation/${id}`);
  const times: Readonly<Record<Contender, number>>[] = [];
  for (const [asked, answers] of [
    [paths, pages],
    [readPaths, reads],
  ] as const) {
    const { headers } = await fetchOnce(lintel, asked[0] ?? '', 'identity');
    const same = {
      ...nothing,
      pages: named(pages, paths),
      reads: named(reads, readPaths),
      headers: withoutLength(headers),
    };
    const byHand = await startProgram(PROGRAM, 'by hand', same);
    const audited = await startProgram(PROGRAM, 'audited', same);
    const obvious = await startProgram(PROGRAM, 'obvious', same);
    const servers = { lintel, byHand, audited, obvious };
    for (const [i, path] of asked.entries()) {
      for (const server of Object.values(servers)) {
        const { body } = await fetchOnce(server, path, 'identity');
        if (unsealed(body.toString()) !== unsealed(answers[i]?.json ?? ''))
          throw new Error(`The bytes of ${path} differ`);
      }
    }
    times.push(await compareServers(servers, { paths: asked, coding: 'identity' }, ROUNDS));
    for (const { child } of [byHand, audited, obvious]) child.kill();
  }
  lintel.child.kill();
  return times;
}

function named<T>(items: readonly T[], of: readonly string[]): Readonly<Record<string, T>> {
  return Object.fromEntries(items.map((item, i) => [of[i] ?? '', item]));
}

/** The paths of the same pages on this server: each server seals its own links. */
async function pathsOf(lintel: Server, pages: readonly Page[]): Promise<readonly string[]> {
  const paths: string[] = [];
  let parameters = pages[0]?.parameters ?? [];
  for (const _page of pages) {
    const query = new URLSearchParams(parameters.map(([name, value]) => [name, value]));
    const path = `/fhir/Observation?${query}`;
    paths.push(path);
    const { body } = await fetchOnce(lintel, path, 'identity');
    parameters = nextOf(body.toString());
  }
  return paths;
}

function withoutLength(headers: readonly string[]): readonly string[] {
  return headers.flatMap((name, i) =>
    i % 2 === 0 && name.toLowerCase() !== 'content-length' ? [name, headers[i + 1] ?? ''] : [],
  );
}
