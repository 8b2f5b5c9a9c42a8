/**
 * One line per request: method, route pattern, status, duration. Never the path or the query, which hold ids and
 * search values. The same for the fields of every other line of src/http.
 */
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { AppParts, HttpEnv } from './context.ts';

export function logRequests({ log }: AppParts) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const start = performance.now();
    await next();
    log.info('request', {
      method: METHODS.has(c.req.method) ? c.req.method : 'other',
      route: c.get('route') ?? routePath(c, -1),
      status: c.res.status,
      ms: Math.round((performance.now() - start) * 10) / 10,
      request: c.get('requestId'),
    });
  });
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
