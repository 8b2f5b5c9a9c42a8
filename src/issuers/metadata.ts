/**
 * Reads an issuer's metadata. In: its settings. Out: its metadata, fetched when needed and again when old.
 * https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata, RFC 8414
 */
import { z } from 'zod';
import type { Ask } from './fetch.ts';
import { askedOnce } from './once.ts';
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
  ask: Ask,
  failed: (error: unknown) => void,
): () => Promise<Metadata> {
  const read = async (): Promise<Metadata> => {
    const response = await ask(metadata, {
      method: 'GET',
      headers: new Headers({ accept: 'application/json' }),
      signal: AbortSignal.timeout(TIME_LIMIT),
    });
    if (response.status !== 200) throw new IssuerError(`status ${response.status}`);
    const found = metadataSchema.parse(await response.json());
    if (found.issuer !== issuer) throw new IssuerError('the metadata are of another issuer');
    return found;
  };
  return askedOnce(async () => {
    try {
      return await read();
    } catch (error) {
      failed(error);
      throw error;
    }
  }, AGES);
}
