/**
 * `npm run bench -- cached`: kept answers against a bare node:http server that sends the same bytes, and against a route
 * of the framework that does, in requests per second of the server's CPU time.
 */
import { median } from './clock.ts';
import { compareServers, fetchOnce, ratio, type Server, startProgram } from './servers.ts';
import { printTable } from './table.ts';

/** Addresses behind the FHIR base. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'a read': '/fhir/Patient/',
  'a page of 50 Observations': '/fhir/Observation?category=vital-signs&_count=50',
};

const ROUNDS = { rounds: 15, requests: 2000, warm: 20_000 };
const PROGRAM = new URL('cached-server.ts', import.meta.url);

export async function benchCached(): Promise<void> {
  const lintel = await startProgram(PROGRAM, 'lintel');
  const rows: (readonly string[])[] = [];
  try {
    for (const [what, address] of Object.entries(ADDRESSES)) {
      for (const coding of ['identity', 'gzip']) {
        const path = address.endsWith('/') ? address + (await someId(lintel, address)) : address;
        rows.push(await compare(lintel, coding === 'identity' ? what : `${what}, ${coding}`, path, coding));
      }
    }
  } finally {
    lintel.child.kill();
  }
  printTable(['answer', 'bytes', 'bare', 'route of the framework', 'Lintel', 'Lintel : bare'], rows);
}

async function someId(server: Server, address: string): Promise<string> {
  const { body } = await fetchOnce(server, `${address.slice(0, -1)}?_count=1`, 'identity');
  return JSON.parse(body.toString()).entry[0].resource.id;
}

async function compare(lintel: Server, what: string, path: string, coding: string): Promise<readonly string[]> {
  // Twice and a bit later: the first answers are made, and their marks become known.
  for (let i = 0; i < 3; i++) await fetchOnce(lintel, path, coding);
  const { headers, body } = await fetchOnce(lintel, path, coding);
  const same = { headers, body: body.toString('base64') };
  const bare = await startProgram(PROGRAM, 'bare', same);
  const hono = await startProgram(PROGRAM, 'hono', same);
  const times = await compareServers({ bare, hono, lintel }, { paths: [path], coding }, ROUNDS);
  for (const { child } of [bare, hono]) child.kill();
  const rates = [times.bare, times.hono, times.lintel].map(some => Math.round(1e6 / median(some)).toLocaleString('en'));
  return [what, body.byteLength.toLocaleString('en'), ...rates, ratio(times.lintel, times.bare).toFixed(2)];
}
