/**
 * Reads an issuer's metadata, which changes rarely. In: its settings. Out: its metadata, fetched when needed and again
 * when old; an error where the issuer does not answer.
 * https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata, RFC 8414
 */
import { z } from 'zod';
import { FhirError } from '../outcome.ts';
import type { Ask } from './fetch.ts';
import type { Issuer } from './settings.ts';

const address = z.string().refine(text => URL.canParse(text));
const texts = z.array(z.string());

/** What else is there is not looked at. */
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

/** What an issuer is asked by. */
export interface Asking {
  readonly ask: Ask;
  readonly metadata: () => Promise<Metadata>;
  /** Told that the issuer does not answer as it should. */
  readonly failed: (error: unknown) => void;
  /** Milliseconds that never go back. */
  readonly clock: () => number;
}

const AGES = { fresh: 3_600_000, stale: 24 * 3_600_000, pause: 5000 } as const;
/** Milliseconds that an issuer may take to answer. */
export const TIME_LIMIT = 5000;

/** The answer of the issuer is not what it should be. */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
}

/**
 * The function rejects where nothing is known and the issuer does not answer, or answers for another; `failed` is told.
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
  /** Milliseconds after which it is asked for again. */
  readonly fresh: number;
  /** Milliseconds after which what was known no longer counts where nobody answers. */
  readonly stale: number;
  /** Milliseconds after a failure in which nobody is asked. */
  readonly pause: number;
}

/** How often something is asked for, and who is told that it failed. */
export interface Again extends Pick<Asking, 'failed' | 'clock'> {
  readonly ages: Ages;
}

/**
 * Fetches something that changes rarely: one fetch at a time, again only when it is old, and after a failure not before
 * a pause. The function rejects as `ask` did where nothing that counts is known. `youngerThan`: waits for something
 * that was known for fewer milliseconds.
 */
export function askedOnce<T>(
  ask: () => Promise<T>,
  { ages, failed: tell, clock }: Again,
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
      tell(error);
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
    // Whoever asks does not wait for what is good enough.
    flying.catch(() => {});
    return usable.value;
  };
}

/** Seconds for Retry-After. */
const RETRY = 5;

/**
 * The error for an issuer that does not answer: its tokens can be neither accepted nor refused. 503: an address of an
 * issuer cannot be asked now. Holds nothing of a token.
 */
export function outage(retryAfter = RETRY): FhirError {
  return new FhirError('issuer-away', 'Access tokens cannot be verified now: their issuer does not answer', {
    retryAfter,
  });
}
