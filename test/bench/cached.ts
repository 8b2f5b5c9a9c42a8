/**
 * `npm run bench -- cached`: compares cached answers with a bare node:http server that sends the same bytes, and with a
 * route of the framework that does. Out: microseconds of the server's CPU time per request.
 */
import { compared, RUNS, shown } from './runs.ts';
import { compareServers, fetchOnce, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

/** Paths below the FHIR base. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'a read': '/fhir/Patient/',
  'a page of 50 Observations': '/fhir/Observation?category=vital-signs&_count=50',
};

const ROUNDS = { rounds: 15, requests: 2000, warm: 20_000, awake: true };
const PROGRAM = new URL('cached-server.ts', import.meta.url);

type Contender = 'bare' | 'hono' | 'lintel';

interface Measured {
  readonly bytes: number;
  readonly times: Readonly<Record<Contender, number>>;
}

export async function benchCached(): Promise<void> {
  const runs = new Map<string, Measured[]>();
  for (let run = 0; run < RUNS; run++) {
    const lintel = await startProgram(PROGRAM, 'lintel');
    for (const [what, address] of Object.entries(ADDRESSES)) {
      const path = address.endsWith('/') ? address + (await someId(lintel, address)) : address;
      for (const coding of ['identity', 'gzip']) {
        const title = coding === 'identity' ? what : `${what}, ${coding}`;
        runs.set(title, [...(runs.get(title) ?? []), await measured(lintel, path, coding)]);
      }
    }
    lintel.child.kill();
  }
  const rows = [...runs].map(([title, measured]) => {
    const times = measured.map(run => run.times);
    return [
      ...[title, (measured[0]?.bytes ?? 0).toLocaleString('en')],
      ...(['bare', 'hono', 'lintel'] as const).map(name => shown(times, name)),
      compared(times, 'lintel', 'bare'),
    ];
  });
  printTable(['answer', 'bytes', 'bare', 'route of the framework', 'Lintel', 'to bare'], rows);
}

async function someId(server: Server, address: string): Promise<string> {
  const { body } = await fetchOnce(server, `${address.slice(0, -1)}?_count=1`, 'identity');
  return JSON.parse(body.toString()).entry[0].resource.id;
}

async function measured(lintel: Server, path: string, coding: string): Promise<Measured> {
  // Repeated requests: the first ones make the answers, and the watermarks become known.
  for (let i = 0; i < 3; i++) await fetchOnce(lintel, path, coding);
  const { headers, body } = await fetchOnce(lintel, path, coding);
  const same = { headers, body: body.toString('base64') };
  const bare = await startProgram(PROGRAM, 'bare', same);
  const hono = await startProgram(PROGRAM, 'hono', same);
  const times = await compareServers({ bare, hono, lintel }, { paths: [path], coding }, ROUNDS);
  for (const { child } of [bare, hono]) child.kill();
  return { bytes: body.byteLength, times };
}
