/** Serves one page and the library fhirclient on an origin of its own, as applications load it. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

/** `name`: a page of this folder. */
export async function servePage(name: string): Promise<{ readonly server: Server; readonly origin: string }> {
  const fhirclient = createRequire(import.meta.url).resolve('fhirclient');
  const library = join(dirname(fhirclient), '../../build/fhir-client.pure.js');
  const page = readFileSync(new URL(name, import.meta.url));
  const server = createServer((request, response) => {
    const script = request.url === '/fhir-client.js';
    response.setHeader('Content-Type', script ? 'text/javascript' : 'text/html');
    response.end(script ? readFileSync(library) : page);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
