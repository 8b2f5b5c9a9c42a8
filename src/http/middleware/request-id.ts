/**
 * Chooses the id of a request. In: X-Request-Id, if it is a UUID, ULID, hex or the like and so contains no words. Out:
 * this id or a new one, for the log and the answer. An id that is not taken is returned as X-Correlation-Id.
 * https://hl7.org/fhir/R4/http.html#custom
 */
import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { HttpEnv } from '../context.ts';
import { headerOf } from './request-header.ts';

/** A patient's name or number is not to come into the log in this way either. */
const WELL_FORMED = /^(?:[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|[0-9a-f]{16,64}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/i;
const ECHOED = /^[\x21-\x7e]{1,200}$/;

export const requestId = createMiddleware<HttpEnv>(async (c, next) => {
  const sent = headerOf(c, 'x-request-id');
  const taken = sent !== undefined && WELL_FORMED.test(sent);
  const id = taken ? sent : randomUUID();
  c.set('requestId', id);
  await next();
  // Not by `c.header`, which makes the finished response anew.
  const { headers } = c.res;
  headers.set('X-Request-Id', id);
  if (sent !== undefined && !taken && ECHOED.test(sent)) headers.set('X-Correlation-Id', sent);
});
