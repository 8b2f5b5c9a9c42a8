/**
 * Adds to the hand-written program what a server of patients' data needs besides the data: authentication, validators,
 * an id and the time of each request, and its line in the log. In: a function from an address to a body, and the
 * headers that all answers share. Out: a server.
 */
import { hash, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createLog } from '../../src/log.ts';

/** Everybody on this machine has access, and nobody else. */
const OWN_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const LAST_UPDATED = /^\{"resourceType":"\w+","id":"[^"]+","meta":\{"lastUpdated":"([^"]+)"/;

/** Headers whose values differ in each answer. */
const OWN = new Set(['etag', 'last-modified', 'server-timing', 'x-request-id']);

export function auditedServer(bodyOf: (address: string) => string, headers: readonly string[]): Server {
  const log = createLog({ level: 'info', format: 'json' });
  const shared = headers.flatMap((name, i) =>
    i % 2 === 0 && !OWN.has(name.toLowerCase()) ? [name, headers[i + 1] ?? ''] : [],
  );
  return createServer((request, response) => {
    const begun = performance.now();
    const id = randomUUID();
    const { url = '', method = '' } = request;
    if (method !== 'GET' || !OWN_HOST.test(request.headers.host ?? '')) {
      response.writeHead(421, ['x-request-id', id]);
      response.end();
      return;
    }
    const text = bodyOf(url);
    const bytes = Buffer.byteLength(text);
    const isRead = !url.includes('?');
    const own = isRead ? validators(text) : [];
    const ms = Math.round((performance.now() - begun) * 100) / 100;
    const route = isRead ? '/fhir/Observation/:id' : '/fhir/Observation';
    log.info('request', { method, route, status: 200, bytes, ms, request: id });
    response.writeHead(200, [
      ...shared,
      ...['x-request-id', id, 'server-timing', `total;dur=${ms}`, 'content-length', String(bytes)],
      ...own,
    ]);
    response.end(text);
  });
}

function validators(text: string): readonly string[] {
  const etag = `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
  const changed = Date.parse(LAST_UPDATED.exec(text)?.[1] ?? '');
  return ['etag', etag, 'last-modified', new Date(Math.floor(changed / 1000) * 1000).toUTCString()];
}
