/**
 * Verifies a JWT of one issuer with `jose`. In: the token. Out: its claims if signature, issuer, audience, times and
 * type are valid, else undefined. Keys come from the address in the configuration or the issuer's metadata, never from
 * the token.
 * RFC 7519, RFC 8725, RFC 9068 section 4
 */
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type RemoteJWKSet } from 'jose';
import { type Asking, IssuerError, outage, TIME_LIMIT } from './metadata.ts';
import { type Issuer, isSafe, typeName } from './settings.ts';

/** Milliseconds: a key that is not known is asked for at most once in it; */
export const COOL_DOWN = 30_000;
/** after this time keys are asked for anew, while those that are known still count; */
const FRESH = 600_000;
/** after this they no longer count. */
const STALE = 3_600_000;
/** After a failure nobody asks for so long. */
const PAUSE = 5000;

/** The function rejects with 503 while keys cannot be had. `now`: milliseconds since the epoch. */
export function verifierOf(
  issuer: Issuer,
  parts: Asking,
): (token: string, now: number) => Promise<JWTPayload | undefined> {
  const keys = keysOf(issuer, parts);
  return async (token, now) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer: issuer.issuer,
        audience: [...issuer.audience],
        algorithms: [...issuer.algorithms],
        clockTolerance: issuer.skew,
        currentDate: new Date(now),
        requiredClaims: ['exp'],
      });
      const type = typeName(protectedHeader.typ ?? '');
      return issuer.types === undefined || issuer.types.includes(type) ? payload : undefined;
    } catch (error) {
      if (!(error instanceof errors.JOSEError)) throw error;
      return undefined;
    }
  };
}

type Key = Awaited<ReturnType<RemoteJWKSet>>;
type Head = Parameters<RemoteJWKSet>[0];
type Signed = Parameters<RemoteJWKSet>[1];

function keysOf(issuer: Issuer, { ask, metadata, failed }: Asking): (head: Head, token: Signed) => Promise<Key> {
  let current: { readonly address: string; readonly set: RemoteJWKSet } | undefined;
  let loaded = 0;
  let pausedUntil = 0;

  const setAt = (address: string): RemoteJWKSet => {
    if (current?.address === address) return current.set;
    const set = createRemoteJWKSet(new URL(address), {
      timeoutDuration: TIME_LIMIT,
      cooldownDuration: COOL_DOWN,
      cacheMaxAge: STALE,
      [customFetch]: async (url, { headers, signal }) => {
        if (Date.now() < pausedUntil) throw outage();
        try {
          const response = await ask(url, { method: 'GET', headers, signal });
          if (response.status !== 200) throw new IssuerError(`status ${response.status}`);
          loaded = Date.now();
          return response;
        } catch (error) {
          pausedUntil = Date.now() + PAUSE;
          failed(error);
          throw error;
        }
      },
    });
    current = { address, set };
    return set;
  };

  return async (head, token) => {
    let set: RemoteJWKSet;
    try {
      const address = issuer.jwks ?? (await metadata()).jwks_uri;
      if (address === undefined || !isSafe(new URL(address), issuer.privateHosts))
        throw new IssuerError('the metadata name no address of keys that may be asked');
      set = setAt(address);
      // Keys that were taken back are gone soon after, and nobody waits for that.
      if (set.jwks() !== undefined && Date.now() - loaded > FRESH) set.reload().catch(() => {});
      return await set(head, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw outage();
    }
  };
}
