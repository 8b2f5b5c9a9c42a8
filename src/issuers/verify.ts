/**
 * Verifies a JWT of one issuer with `jose`. In: the token. Out: its claims if signature, issuer, audience, times and
 * type are valid, else undefined. Keys come from the address in the configuration or the issuer's metadata, never from
 * the token.
 * RFC 7519, RFC 8725, RFC 9068 section 4
 */
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import { FhirError } from '../outcome.ts';
import { type Asking, askedOnce, IssuerError, outage, TIME_LIMIT } from './metadata.ts';
import { type Issuer, isSafe, typeName } from './settings.ts';

/** Milliseconds within which an unknown key is requested at most once. */
export const COOL_DOWN = 30_000;
/** Keys are read again in the background when they are no longer fresh, so that revoked ones are soon gone. */
const AGES = { fresh: 600_000, stale: 3_600_000, pause: 5000 } as const;

/** Returns a function that rejects with 503 while keys are unavailable. `now`: milliseconds since the epoch. */
export function verifierOf(
  issuer: Issuer,
  parts: Asking,
): (token: string, now: number) => Promise<JWTPayload | undefined> {
  const keys = keysOf(issuer, parts);
  return async (token, now) => {
    try {
      const { payload, protectedHeader } = await verified(token, keys, {
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
      if (error instanceof errors.JOSEError) return undefined;
      if (error instanceof FhirError) throw error;
      // For example a key that is too short, which says nothing about the token.
      parts.failed(new IssuerError('keys: one that cannot be used to verify tokens'));
      throw outage();
    }
  };
}

/** Maximum number of keys to try if a token does not identify one: it names none, or two have the same name. */
const TRIED = 8;

async function verified(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      if (++tried > TRIED) break;
      try {
        return await jwtVerify(token, key, options);
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw error;
  }
}

type Keys = ReturnType<typeof createLocalJWKSet>;
type Head = Parameters<Keys>[0];
type Signed = Parameters<Keys>[1];

function keysOf(
  issuer: Issuer,
  { ask, metadata, failed, clock }: Asking,
): (head: Head, token: Signed) => ReturnType<Keys> {
  const read = async (): Promise<Keys> => {
    const address = issuer.jwks ?? (await metadata()).jwks_uri;
    if (address === undefined || !isSafe(new URL(address), issuer.privateHosts))
      throw new IssuerError('the metadata name no address of keys that may be asked');
    const headers = new Headers({ accept: 'application/json, application/jwk-set+json' });
    const response = await ask(address, { method: 'GET', headers, signal: AbortSignal.timeout(TIME_LIMIT) });
    if (response.status !== 200) throw new IssuerError(`keys: status ${response.status}`);
    return keysIn(await response.text());
  };
  const keys = askedOnce(read, { ages: AGES, failed, clock });
  /** Returns the key with the token's key id; undefined: there is none. */
  const keyIn = async (known: Keys, head: Head, token: Signed) => {
    try {
      return await known(head, token);
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey) return undefined;
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) failed(new IssuerError('keys: one that cannot be read'));
      throw error;
    }
  };

  return async (head, token) => {
    try {
      // An unknown key may have come with a rotation.
      const key = (await keyIn(await keys(), head, token)) ?? (await keyIn(await keys(COOL_DOWN), head, token));
      if (key === undefined) throw new errors.JWKSNoMatchingKey();
      return key;
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      throw outage();
    }
  };
}

function keysIn(text: string): Keys {
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
  } catch {
    throw new IssuerError('keys: not a JSON Web Key Set');
  }
}
