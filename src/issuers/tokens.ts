/**
 * Verifies access tokens of the hospital's issuers. In: their settings. Out: a verifier that uses the issuer named in a
 * JWT; other tokens are introspected by the issuers that allow it.
 */
import { decodeJwt } from 'jose';
import type { Grant, Tokens } from '../auth/token.ts';
import type { Log } from '../log.ts';
import { grantOfClaims } from './claims.ts';
import { type Ask, asker, RefusedAddress } from './fetch.ts';
import { introspectorOf } from './introspect.ts';
import { IssuerError, type Metadata, metadataOf } from './metadata.ts';
import type { Issuer } from './settings.ts';
import { verifierOf } from './verify.ts';

export interface IssuerParts {
  /** Returns the address of the FHIR interface, without a trailing slash; called each time. */
  readonly fhirBase: () => string;
  readonly log: Log;
  /** Makes the function that sends requests; replaced only in tests. */
  readonly asker?: (privateHosts: ReadonlySet<string>) => Ask;
  /** Milliseconds of a monotonic clock. */
  readonly clock?: () => number;
}

export interface Issuers {
  readonly tokens: Tokens;
  /** Metadata of the issuer that launches apps; undefined if there is none. Rejects while it does not answer. */
  readonly launching: { readonly issuer: Issuer; readonly metadata: () => Promise<Metadata> } | undefined;
}

/** Milliseconds after which a token is verified again, because its key may have been revoked. */
const AGAIN = 300_000;
/** Milliseconds between two log lines about the same issuer. */
const PAUSE = 60_000;

export function openIssuers(
  issuers: readonly Issuer[],
  { fhirBase, log, asker: askerOf = asker, clock = () => performance.now() }: IssuerParts,
): Issuers {
  const known = issuers.map(issuer => {
    const ask = askerOf(issuer.privateHosts);
    const failed = complaint(issuer, log, clock);
    const metadata = metadataOf(issuer, { ask, failed, clock });
    const parts = { ask, metadata, failed, clock };
    return {
      issuer,
      metadata,
      verify: verifierOf(issuer, parts),
      introspect: issuer.introspection && introspectorOf(issuer, issuer.introspection, parts),
    };
  });
  const byName = new Map(known.map(one => [one.issuer.issuer, one]));
  const launching = known.find(({ issuer }) => issuer.capabilities !== undefined);

  const ofJwt = async (token: string, name: string, now: number): Promise<Grant | undefined> => {
    const one = byName.get(name);
    if (one === undefined) return undefined;
    const claims = await one.verify(token, now);
    if (claims?.exp === undefined) return undefined;
    const end = Math.min((claims.exp + one.issuer.skew) * 1000, now + AGAIN);
    if (one.issuer.introspection?.jwt !== true || one.introspect === undefined)
      return grantOfClaims(claims, one.issuer, { expires: end, fhirBase: fhirBase() });
    const said = await one.introspect(token, now);
    const expires = Math.min(end, said.until);
    return said.claims && grantOfClaims({ ...claims, ...said.claims }, one.issuer, { expires, fhirBase: fhirBase() });
  };
  const ofOpaque = async (token: string, now: number): Promise<Grant | undefined> => {
    let away: unknown;
    for (const { issuer, introspect } of known) {
      if (introspect === undefined) continue;
      try {
        const { claims, until } = await introspect(token, now);
        if (claims !== undefined) return grantOfClaims(claims, issuer, { expires: until, fhirBase: fhirBase() });
      } catch (error) {
        away = error;
      }
    }
    if (away !== undefined) throw away;
    return undefined;
  };
  return {
    launching,
    tokens: {
      async grantOf(token, now) {
        const name = issuerNamed(token);
        return name === undefined ? ofOpaque(token, now) : ofJwt(token, name, now);
      },
    },
  };
}

/** Returns the issuer that a JWT names, unverified; undefined if the token is not a JWT. */
function issuerNamed(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    // A token that cannot be decoded is not a JWT.
    return undefined;
  }
}

/** Logs that an issuer does not answer, at most once a minute. */
function complaint({ issuer }: Issuer, log: Log, clock: () => number): (error: unknown) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return error => {
    if (clock() - loggedAt < PAUSE) return;
    loggedAt = clock();
    log.error('an issuer of access tokens does not answer as it should', { issuer, reason: reasonOf(error) });
  };
}

/** Returns the message only of this project's errors, because others may contain parts of an answer. */
function reasonOf(error: unknown): string {
  if (error instanceof IssuerError || error instanceof RefusedAddress) return error.message;
  return error instanceof Error ? String((error as { code?: unknown }).code ?? error.name) : typeof error;
}
