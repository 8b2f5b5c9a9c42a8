/**
 * Checks bearer tokens. In: the Authorization header of a request. Out: what its caller may see, or 401. The result is
 * cached, so that a token is not verified for each request.
 * RFC 6750
 */
import { hash } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import { type Access, NO_ACCESS } from '../../auth/access.ts';
import type { Grant, Tokens } from '../../auth/token.ts';
import { type BoundedCache, boundedCache } from '../../common/caches.ts';
import { FhirError } from '../../outcome.ts';
import type { HttpEnv } from '../context.ts';
import { headerOf } from './request.ts';

/** The result of checking a token. */
export interface Decision {
  readonly access: Access;
  /** What the token says, for the audit. */
  readonly grant: Grant;
  /** Expiry in milliseconds since the epoch. */
  readonly expires: number;
  /** The same on the monotonic clock. */
  readonly ends: number;
}

export interface Entry {
  /** Returns the cached decision for a token, if it is still valid. */
  known(token: string): Decision | undefined;
  /** Decides; undefined if the token is not valid. Throws only for outages. */
  decide(token: string): Promise<Decision | undefined>;
  /** Returns what its `system/` scopes alone allow: the others never export. */
  toExport(grant: Grant): Access;
}

/** Maximum number of cached decisions. */
const KEPT = 10_000;

/**
 * Makes the check of tokens. `accessOf`: what a grant allows. `clock`: milliseconds since the epoch; `steady`:
 * milliseconds of a monotonic clock, so that setting `clock` back does not prolong a decision.
 */
export function createEntry(
  tokens: Tokens,
  accessOf: (grant: Grant) => Access,
  clock: () => number = Date.now,
  steady: () => number = () => performance.now(),
): Entry {
  let decisions: BoundedCache<Decision> = boundedCache(KEPT);
  let epoch = tokens.epoch?.();
  const known = (key: string): Decision | undefined => {
    const now = tokens.epoch?.();
    if (now !== epoch) {
      decisions = boundedCache(KEPT);
      epoch = now;
    }
    const decision = decisions.find(key);
    return decision && decision.expires > clock() && decision.ends > steady() ? decision : undefined;
  };
  return {
    known: token => known(keyOf(token)),
    toExport: grant => accessOf({ ...grant, scopes: grant.scopes.filter(scope => SYSTEM.test(scope)) }),
    async decide(token) {
      const key = keyOf(token);
      const before = known(key);
      if (before) return before;
      const during = epoch;
      const [now, begun] = [clock(), steady()];
      const grant = await tokens.grantOf(token, now);
      if (grant === undefined || grant.expires <= now) return undefined;
      const { expires } = grant;
      const decision: Decision = { access: accessOf(grant), grant, expires, ends: begun + expires - now };
      // Not cached if tokens were revoked meanwhile: this may be one of them.
      if (tokens.epoch?.() === during) decisions.keep(key, decision);
      return decision;
    },
  };
}

/** https://hl7.org/fhir/uv/bulkdata/STU2/authorization.html#scopes */
const SYSTEM = /^system\//;

/** Returns a hash, so that the process's memory holds no usable token. */
function keyOf(token: string): string {
  return hash('sha256', token, 'base64url');
}

/** RFC 6750 section 2.1: the only way in which a token is accepted; never in the URL or a form. */
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** Maximum characters of a token. */
const LONGEST = 12_000;

/** True if an Authorization header is of this scheme, whether what it brings has the form of a token or not. */
export function isBearer(header: string): boolean {
  return /^bearer(\s|$)/i.test(header.trim());
}

/** Returns the token of an Authorization header; undefined if it has none. */
export function tokenOf(header: string | undefined): string | undefined {
  const token = header === undefined || header.length > LONGEST ? undefined : BEARER.exec(header.trim())?.[1];
  return token;
}

export const BAD_TOKEN = 'The access token is not good: forged, expired, revoked, or for another server';

/** Requires a valid token, except for `isPublic` paths. */
export function requireToken(entry: Entry, isPublic: (path: string) => boolean) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const header = headerOf(c, 'authorization');
    if (header === undefined) {
      if (!isPublic(c.req.path)) throw new FhirError('no-token', 'Expected an access token: Authorization: Bearer …');
      c.set('access', NO_ACCESS);
      return next();
    }
    const token = tokenOf(header);
    // Public answers do not wait for an issuer.
    const needsNoToken = isPublic(c.req.path);
    const decision = token === undefined ? undefined : await (needsNoToken ? entry.known(token) : entry.decide(token));
    if (decision === undefined && !needsNoToken) {
      c.set('tokenRefused', true);
      throw new FhirError('bad-token', BAD_TOKEN);
    }
    c.set('access', decision?.access ?? NO_ACCESS);
    if (decision !== undefined) c.set('grant', decision.grant);
    return next();
  });
}
