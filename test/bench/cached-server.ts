/**
 * Runs one server of `npm run bench -- cached` in a process of its own. In: its kind; as a message, the answer that the
 * bare servers send. Out: as messages, the port, and seconds of CPU on request.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { answerQuestions, portOf, startLintel } from './servers.ts';

const say = (message: unknown) => process.send?.(message as object);

async function same(): Promise<{ readonly headers: string[]; readonly body: Buffer<ArrayBuffer> }> {
  const [{ headers, body }] = await once(process, 'message');
  return { headers, body: Buffer.from(body, 'base64') };
}

switch (process.argv[2]) {
  case 'bare': {
    const { headers, body } = await same();
    const server = createServer((_request, response) => {
      response.writeHead(200, headers);
      response.end(body);
    });
    say({ port: await portOf(server) });
    break;
  }
  case 'hono': {
    const [{ serve }, { Hono }] = await Promise.all([import('@hono/node-server'), import('hono')]);
    const { headers, body } = await same();
    const pairs = Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : [])));
    const app = new Hono().get('*', c => c.body(body, 200, pairs));
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => say({ port }));
    break;
  }
  default: {
    // Default settings, but the cache outlives the measurement.
    say({ port: await startLintel({ CACHE_MAX_AGE: '86400', CACHE_TTL: '86400' }) });
  }
}

answerQuestions();
