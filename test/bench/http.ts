/**
 * `npm run bench -- http`: pages of 50 Observations and reads over HTTP, made anew each time, beside the two programs
 * written by hand behind a server of their own. In: a SQLite file of the demo's schema. Out: a table of CPU time of each
 * server's process per request. Bytes are compared before anything is measured. The programs know beforehand what is asked; one by hand
 * sends ready headers, checks nobody and keeps no log, the audited one does all that.
 */
import { median } from './clock.ts';
import { openDemo } from './demo.ts';
import type { Task } from './http-server.ts';
import { laboratoryPages, laboratoryReads, nextOf, type Page, unsealed } from './laboratory-pages.ts';
import { compareServers, fetchOnce, ratio, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

const ROUNDS = { rounds: 11, requests: 400, warm: 6000 };
const PROGRAM = new URL('http-server.ts', import.meta.url);

/** As the programs write it. */
const BASE_URL = 'http://127.0.0.1';

export async function benchHttp(file: string): Promise<void> {
  const opened = await openDemo(file);
  const pages = await laboratoryPages(opened);
  const reads = await laboratoryReads(opened, pages);
  await opened.database.close();
  const nothing: Task = { file, baseUrl: BASE_URL, pages: {}, reads: {}, headers: [] };
  const lintel = await startProgram(PROGRAM, 'lintel', nothing);
  const paths = await pathsOf(lintel, pages);
  const readPaths = reads.map(({ id }) => `/fhir/Observation/${id}`);
  const rows: (readonly string[])[] = [];
  for (const [what, asked, answers] of [
    ['page of 50 Observations', paths, pages],
    ['read of one', readPaths, reads],
  ] as const) {
    const { headers } = await fetchOnce(lintel, asked[0] ?? '', 'identity');
    const named = <T>(items: readonly T[], of: readonly string[]) =>
      Object.fromEntries(items.map((item, i) => [of[i] ?? '', item]));
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
    const times = await compareServers(servers, { paths: asked, coding: 'identity' }, ROUNDS);
    for (const { child } of [byHand, audited, obvious]) child.kill();
    rows.push([
      what,
      ...[times.lintel, times.audited, times.byHand, times.obvious].map(some => `${median(some).toFixed(0)} µs`),
      ...[times.audited, times.byHand, times.obvious].map(some => ratio(times.lintel, some).toFixed(2)),
    ]);
  }
  lintel.child.kill();
  const against = ['by hand, audited', 'by hand, bare', 'obvious'];
  printTable(['over HTTP', 'Lintel', ...against, ...against.map(one => `to ${one}`)], rows);
}

/** The addresses of the same pages: links are sealed by the server that gives them. */
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
