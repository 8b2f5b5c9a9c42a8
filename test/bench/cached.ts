/**
 * `npm run bench -- cached`: kept answers against a bare node:http server that sends the same bytes, and against a route
 * of the framework that does. Each server is a process of its own; what is compared is requests per second of its CPU
 * time, in alternating rounds, so that whatever else the machine does falls on all of them.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';

/** Addresses behind the FHIR base. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'a read (1 resource)': '/fhir/Patient/',
  'a page of 50 Observations': '/fhir/Observation?category=vital-signs&_count=50',
};

const CONNECTIONS = 8;
const REQUESTS = 2000;
const ROUNDS = 15;
const SERVERS = ['bare node:http', 'route of the framework', 'Lintel'] as const;

type Name = (typeof SERVERS)[number];

interface Server {
  readonly port: number;
  readonly child: ChildProcess;
  /** Seconds of CPU so far. */
  cpu(): Promise<number>;
}

export async function benchCached(): Promise<void> {
  const lintel = await start('lintel');
  const rows: string[] = [];
  try {
    for (const [what, address] of Object.entries(ADDRESSES)) {
      for (const coding of ['identity', 'gzip']) {
        const path = address.endsWith('/') ? address + (await someId(lintel, address)) : address;
        rows.push(await compare(lintel, `${what}, ${coding}`, path, coding));
      }
    }
  } finally {
    lintel.child.kill();
  }
  const head = ['answer', 'bytes', ...SERVERS.map(name => `${name}, requests per CPU second`), 'Lintel : bare'];
  console.log([head, head.map(() => '---')].map(cells => `| ${cells.join(' | ')} |`).join('\n'));
  console.log(rows.join('\n'));
}

async function someId(server: Server, address: string): Promise<string> {
  const { body } = await fetchOnce(server, `${address.slice(0, -1)}?_count=1`, 'identity');
  return JSON.parse(body.toString()).entry[0].resource.id;
}

async function compare(lintel: Server, what: string, path: string, coding: string): Promise<string> {
  // Twice and a bit later: the first answers are made, and their marks become known.
  for (let i = 0; i < 3; i++) await fetchOnce(lintel, path, coding);
  const { headers, body } = await fetchOnce(lintel, path, coding);
  const same = { headers, body: body.toString('base64') };
  const servers: Record<Name, Server> = {
    'bare node:http': await start('bare', same),
    'route of the framework': await start('hono', same),
    Lintel: lintel,
  };
  const rates: Record<Name, number[]> = { 'bare node:http': [], 'route of the framework': [], Lintel: [] };
  for (const name of SERVERS) await load(servers[name], path, coding, 10 * REQUESTS);
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of SERVERS) {
      const before = await servers[name].cpu();
      await load(servers[name], path, coding, REQUESTS);
      rates[name].push(REQUESTS / ((await servers[name].cpu()) - before));
    }
  }
  for (const name of SERVERS) if (name !== 'Lintel') servers[name].child.kill();
  const ratio = median(rates.Lintel.map((rate, i) => rate / (rates['bare node:http'][i] ?? 0)));
  const cells = SERVERS.map(name => Math.round(median(rates[name])).toLocaleString('en'));
  return `| ${[what, body.byteLength.toLocaleString('en'), ...cells, ratio.toFixed(2)].join(' | ')} |`;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

async function start(kind: string, what?: object): Promise<Server> {
  // The log goes where nobody reads it, but it is written.
  const child = fork(new URL('cached-server.ts', import.meta.url), [kind], {
    stdio: ['ignore', 'inherit', 'ignore', 'ipc'],
  });
  if (what) child.send(what);
  const [{ port }] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`The server ${kind} does not start`);
    }),
  ]);
  return {
    ...{ port, child },
    async cpu() {
      child.send('cpu');
      const [seconds] = await once(child, 'message');
      return seconds;
    },
  };
}

async function fetchOnce(
  { port }: Server,
  path: string,
  coding: string,
): Promise<{ readonly headers: readonly string[]; readonly body: Buffer }> {
  const request = get({ host: '127.0.0.1', port, path, headers: headersFor(coding) });
  const [response] = await once(request, 'response');
  const body = await bytesOf(response);
  if (response.statusCode !== 200) throw new Error(`${path} is answered with ${response.statusCode}`);
  const own = new Set(['date', 'connection', 'keep-alive']);
  const headers: string[] = [];
  for (let i = 0; i < response.rawHeaders.length; i += 2) {
    if (!own.has(response.rawHeaders[i].toLowerCase()))
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

/** Sends requests over kept connections, each when the answer before it has come as a whole. */
async function load({ port }: Server, path: string, coding: string, requests: number): Promise<void> {
  const lines = Object.entries(headersFor(coding)).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${lines.join('')}\r\n`;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      let left = requests / CONNECTIONS;
      let missing = 0;
      socket.on('data', chunk => {
        if (missing === 0) missing = lengthOf(chunk);
        missing -= chunk.byteLength;
        if (missing > 0) return;
        missing = 0;
        if (--left > 0) socket.write(request);
        else socket.end();
      });
      socket.write(request);
      await once(socket, 'close');
    }),
  );
}

/** Of head and body together; the head comes in one piece. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf('\r\n\r\n') + 4;
  const length = /\r\ncontent-length: (\d+)/i.exec(chunk.toString('latin1', 0, end))?.[1];
  return end + Number(length);
}
