/**
 * Makes `.well-known/smart-configuration`, which apps read first. In: addresses. Out: JSON, for any origin and without
 * credentials.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html
 */
import type { Identifier } from './brands.ts';
import { ASSERTION_ALGORITHMS, ROUTES } from './provider.ts';
import { CONTEXT_SCOPES } from './scopes.ts';

const CAPABILITIES = [
  ...['launch-standalone', 'launch-ehr', 'authorize-post'],
  ...['client-public', 'client-confidential-symmetric', 'client-confidential-asymmetric'],
  'sso-openid-connect',
  ...['context-banner', 'context-style', 'context-ehr-patient', 'context-ehr-encounter'],
  ...['context-standalone-patient', 'context-standalone-encounter'],
  ...['permission-offline', 'permission-patient', 'permission-user', 'permission-v1', 'permission-v2'],
] as const;

/** Capabilities that need a mapped resource type. */
const NEEDS: Readonly<Record<string, string>> = {
  'context-ehr-patient': 'Patient',
  'context-standalone-patient': 'Patient',
  'context-ehr-encounter': 'Encounter',
  'context-standalone-encounter': 'Encounter',
};

export interface PublishedBrand {
  /** Address of the Bundle. */
  readonly bundle: string;
  readonly identifier: Identifier;
}

export type Endpoints = Readonly<Record<'authorize' | 'token' | 'introspect' | 'revoke' | 'manage', string>>;

/** Returns the same endpoints for a CapabilityStatement. */
export function endpointsOf(issuer: string): Endpoints {
  return {
    authorize: issuer + ROUTES.authorization,
    token: issuer + ROUTES.token,
    introspect: issuer + ROUTES.introspection,
    revoke: issuer + ROUTES.revocation,
    manage: `${issuer}/apps`,
  };
}

/** Returns the document. `types`: those that are served; `brand`: of the pack, if it has one. */
export function smartConfiguration(
  issuer: string,
  types: readonly string[],
  brand: PublishedBrand | undefined,
): object {
  return {
    issuer,
    jwks_uri: issuer + ROUTES.jwks,
    authorization_endpoint: issuer + ROUTES.authorization,
    token_endpoint: issuer + ROUTES.token,
    introspection_endpoint: issuer + ROUTES.introspection,
    revocation_endpoint: issuer + ROUTES.revocation,
    management_endpoint: `${issuer}/apps`,
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    scopes_supported: [
      ...CONTEXT_SCOPES,
      ...['patient', 'user', 'system'].flatMap(level => ['*', ...types].map(type => `${level}/${type}.rs`)),
    ],
    capabilities: CAPABILITIES.filter(one => NEEDS[one] === undefined || types.includes(NEEDS[one])),
    ...(brand && { user_access_brand_bundle: brand.bundle, user_access_brand_identifier: brand.identifier }),
  };
}
