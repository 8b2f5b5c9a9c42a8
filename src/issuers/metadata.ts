/**
 * Reads an issuer's metadata, which changes rarely. In: its settings. Out: its metadata, fetched when needed and again
 * when old; an error if the issuer does not answer.
 * https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata, RFC 8414
 */
import { z } from 'zod';
import { FhirError } from '../outcome.ts';
import type { Ask } from './fetch.ts';
import type { Issuer } from './settings.ts';

const address = z.string().refine(text => URL.canParse(text));
const texts = z.array(z.string());

/** Ignores other members. */
const metadataSchema = z.object({
  issuer: z.string(),
  jwks_uri: address.optional(),
  authorization_endpoint: address.optional(),
  token_endpoint: address.optional(),
  introspection_endpoint: address.optional(),
  revocation_endpoint: address.optional(),
  registration_endpoint: address.optional(),
  grant_types_supported: texts.optional(),
  response_types_supported: texts.optional(),
  scopes_supported: texts.optional(),
  code_challenge_methods_supported: texts.optional(),
  token_endpoint_auth_methods_supported: texts.optional(),
  token_endpoint_auth_signing_alg_values_supported: texts.optional(),
});

export type Metadata = z.output<typeof metadataSchema>;

/** The means to send requests to an issuer. */
export interface Asking {
  readonly ask: Ask;
  readonly metadata: () => Promise<Metadata>;
  /** Called if the issuer does not answer correctly. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
}

const AGES = { fresh: 3_600_000, stale: 24 * 3_600_000, pause: 5000 } as const;
/** Milliseconds in which an issuer has to answer. */
export const TIME_LIMIT = 5000;

/** The answer of the issuer is not valid. */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
}

/**
 * Returns a function that rejects if no metadata are cached, and the issuer does not answer or names another issuer.
 * Then it calls `failed`.
 */
export function metadataOf(
  { issuer, metadata }: Pick<Issuer, 'issuer' | 'metadata'>,
  { ask, failed, clock }: Omit<Asking, 'metadata'>,
): () => Promise<Metadata> {
  return askedOnce(
    async () => {
      const response = await ask(metadata, {
        method: 'GET',
        headers: new Headers({ accept: 'application/json' }),
        signal: AbortSignal.timeout(TIME_LIMIT),
      });
      if (response.status !== 200) throw new IssuerError(`metadata: status ${response.status}`);
      const found = metadataIn(await response.text());
      if (found.issuer !== issuer) throw new IssuerError('metadata: of another issuer');
      return found;
    },
    { ages: AGES, failed, clock },
  );
}

function metadataIn(text: string): Metadata {
  try {
    return metadataSchema.parse(JSON.parse(text));
  } catch {
    throw new IssuerError('metadata: not what OpenID Connect Discovery has');
  }
}

export interface Ages {
  /** Milliseconds after which it is fetched again. */
  readonly fresh: number;
  /** Milliseconds after which a cached value is no longer used, even if the issuer does not answer. */
  readonly stale: number;
  /** Milliseconds without fetches after a failure. */
  readonly pause: number;
}

/** How often a value is fetched, and what to call if that fails. */
export interface Again extends Pick<Asking, 'failed' | 'clock'> {
  readonly ages: Ages;
}

/**
 * Fetches a value that changes rarely: one fetch at a time, only when the value is old, and after a failure only after
 * a pause. The function rejects with the error of `ask` if there is no usable value. `youngerThan`: waits for a value
 * younger than so many milliseconds.
 */
export function askedOnce<T>(
  ask: () => Promise<T>,
  { ages, failed: onFailure, clock }: Again,
): (youngerThan?: number) => Promise<T> {
  let known: { readonly value: T; readonly at: number } | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;
  let flying: Promise<T> | undefined;
  const fetch = async (): Promise<T> => {
    try {
      const value = await ask();
      known = { value, at: clock() };
      failed = undefined;
      return value;
    } catch (error) {
      failed = { error, at: clock() };
      onFailure(error);
      throw error;
    } finally {
      flying = undefined;
    }
  };
  return async youngerThan => {
    const age = known === undefined ? Number.POSITIVE_INFINITY : clock() - known.at;
    if (known !== undefined && age < (youngerThan ?? ages.fresh)) return known.value;
    const usable = age < ages.stale && youngerThan === undefined ? known : undefined;
    if (failed !== undefined && clock() - failed.at < ages.pause) {
      if (usable !== undefined) return usable.value;
      throw failed.error;
    }
    flying ??= fetch();
    if (usable === undefined) return flying;
    // The caller does not wait, because the cached value is usable.
    flying.catch(() => {});
    return usable.value;
  };
}

/** Seconds for Retry-After. */
const RETRY = 5;

/**
 * Returns the error for an issuer that does not answer: its tokens can be neither accepted nor refused. 503: the issuer
 * cannot be asked now. Contains nothing of a token.
 */
export function outage(retryAfter = RETRY): FhirError {
  return new FhirError('issuer-away', 'Access tokens cannot be verified now: their issuer does not answer', {
    retryAfter,
  });
}
