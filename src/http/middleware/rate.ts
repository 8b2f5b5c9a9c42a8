/**
 * Limits the requests of each client (REQUESTS_PER_MINUTE). In: the caller. Out: 429 with Retry-After beyond the limit.
 * A client is an application used by a person, or an application by itself; without a token or a session it is an
 * address.
 */
import { createMiddleware } from 'hono/factory';
import type { AuditRecord } from '../../audit/record.ts';
import type { Meter, Meters } from '../../auth/meter.ts';
import { networkOf } from '../../auth/throttle.ts';
import type { Grant } from '../../auth/token.ts';
import { FhirError } from '../../outcome.ts';
import { type HttpContext, type HttpEnv, peerOf } from '../context.ts';
import { RestError } from '../rest/errors.ts';

const TOO_MANY = 'Too many requests of this client; wait as Retry-After says';

/** Throws 429 if the client has no request left. Has to run after the middleware that finds the caller. */
export function limitRate(meters: Meters) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const meter = meterOf(c, meters);
    const seconds = Math.ceil(meter.take() / 1000);
    if (seconds > 0 && c.get('rest') === true)
      throw new RestError('too-many-requests', TOO_MANY, { 'Retry-After': String(seconds) });
    if (seconds > 0) throw new FhirError('too-many-requests', TOO_MANY, { retryAfter: seconds });
    c.set('meter', meter);
    return next();
  });
}

function meterOf(c: HttpContext, meters: Meters): Meter {
  const account = c.get('account');
  if (account !== undefined) return meters(`account ${account.name}`);
  return clientMeter(meters, c.get('grant'), peerOf(c.get('batch') ?? c));
}

/** Returns the meter of a token's client, or of an address. */
export function clientMeter(meters: Meters, grant: Grant | undefined, address: string): Meter {
  if (grant === undefined) return meters(`address ${networkOf(address)}`);
  const { issuer, client, subject } = grant;
  return meters(JSON.stringify([issuer, client, subject]));
}

/** Bytes of the audit per counted request, and per patient in a record. */
const UNIT = 1000;
const PATIENT = 70;

/** Returns the requests to count in addition to one, because the audit keeps much of this one. */
export function furtherUnits({ query, patients }: Pick<AuditRecord, 'query' | 'patients'>): number {
  return Math.floor((query.length + PATIENT * patients.length) / UNIT);
}
