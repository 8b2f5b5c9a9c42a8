/**
 * Runs one server of `npm run bench -- http` in a process of its own. In: its kind; as a message, a database file and
 * the requests. Out: as messages, the port, and seconds of CPU on request.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { auditedServer } from './audited.ts';
import type { Page, Read } from './laboratory-pages.ts';
import { bestProgram, obviousProgram, type Program } from './laboratory-programs.ts';
import { offsetsAsked } from './offsets.ts';
import { answerQuestions, portOf, startLintel } from './servers.ts';

export interface Task {
  readonly file: string;
  readonly baseUrl: string;
  readonly pages: Readonly<Record<string, Page>>;
  readonly reads: Readonly<Record<string, Read>>;
  /** Alternating names and values, as Lintel sends them, without Content-Length. */
  readonly headers: readonly string[];
  /** Folder for exports. */
  readonly dataDir?: string;
}

/** Bytes of an answer of the bare server: about a page of the mix. */
const BARE = 8000;

const say = (message: unknown) => process.send?.(message as object);

const [task]: Task[] = await once(process, 'message');
if (task === undefined) throw new Error('Nothing is asked');

/** The requests are known beforehand: no program parses parameters. */
function answerOf(program: Program, { pages, reads }: Task): (address: string) => string {
  const answers = new Map<string, () => string>([
    ...Object.entries(pages).map(([address, page]) => [address, () => program.page(page)] as const),
    ...Object.entries(reads).map(([address, read]) => [address, () => program.read(read)] as const),
  ]);
  return address => answers.get(address)?.() ?? '';
}

switch (process.argv[2]) {
  case 'by hand': {
    const answer = answerOf(bestProgram(task.file), task);
    const headers = [...task.headers, 'content-length', ''];
    const server = createServer((request, response) => {
      const body = Buffer.from(answer(request.url ?? ''), 'utf8');
      headers[headers.length - 1] = String(body.byteLength);
      response.writeHead(200, headers);
      response.end(body);
    });
    say({ port: await portOf(server) });
    break;
  }
  // Does no work: its times are those of the clients and the machine.
  case 'bare': {
    const body = 'x'.repeat(BARE);
    const headers = { 'content-length': String(BARE), 'server-timing': 'total;dur=0' };
    const server = createServer((_request, response) => response.writeHead(200, headers).end(body));
    say({ port: await portOf(server) });
    break;
  }
  case 'audited':
    say({ port: await portOf(auditedServer(answerOf(bestProgram(task.file), task), task.headers)) });
    break;
  case 'obvious': {
    const [{ serve }, { Hono }] = await Promise.all([import('@hono/node-server'), import('hono')]);
    const answer = answerOf(obviousProgram(task.file, offsetsAsked), task);
    const { headers } = task;
    const pairs = Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : [])));
    const app = new Hono().get('*', c => {
      const { pathname, search } = new URL(c.req.url);
      return c.body(answer(pathname + search), 200, pairs);
    });
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => say({ port }));
    break;
  }
  default: {
    // Nothing is cached.
    const port = await startLintel({
      DATABASE_URL: `sqlite:${task.file}`,
      BASE_URL: task.baseUrl,
      CACHE_MAX_AGE: '0',
      ...(task.dataDir !== undefined && { DATA_DIR: task.dataDir }),
    });
    say({ port });
  }
}

answerQuestions();
