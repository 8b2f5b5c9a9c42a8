/**
 * Makes `.well-known/smart-configuration` for an issuer of the hospital. In: its metadata, and the capabilities in the
 * configuration. Out: what the issuer states, and nothing else.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html
 */
import { type Metadata, outage } from './metadata.ts';
import type { Issuers } from './tokens.ts';

type Launching = NonNullable<Issuers['launching']>;

/** Returns the document. Rejects with 503 while the issuer does not answer. */
export async function smartConfiguration({ issuer, metadata }: Launching): Promise<object> {
  const { issuer: name, jwks_uri, ...said } = await known(metadata);
  const { capabilities = [] } = issuer;
  const isOpenId = jwks_uri !== undefined;
  return {
    ...(isOpenId ? { issuer: name, jwks_uri } : {}),
    ...said,
    // Without keys nobody could verify an ID token.
    capabilities: capabilities.filter(one => isOpenId || one !== 'sso-openid-connect'),
  };
}

/** Returns the issuer's endpoints; undefined while it does not answer. */
export async function endpointsOf({ metadata }: Launching) {
  const said = await known(metadata).catch(() => undefined);
  if (said?.authorization_endpoint === undefined || said.token_endpoint === undefined) return undefined;
  return {
    authorize: said.authorization_endpoint,
    token: said.token_endpoint,
    introspect: said.introspection_endpoint,
    revoke: said.revocation_endpoint,
    register: said.registration_endpoint,
  };
}

async function known(metadata: () => Promise<Metadata>): Promise<Metadata> {
  try {
    return await metadata();
  } catch {
    // The log has the reason.
    throw outage();
  }
}
