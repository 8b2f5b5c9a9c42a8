/**
 * Defines ACCESS_FILE as a zod schema: which issuers' tokens are accepted, and how their claims are read.
 * docs/access.md explains each key.
 */
import { z } from 'zod';
import { parseScope } from '../auth/scopes.ts';

/** Only asymmetric algorithms: with a shared key, whoever can verify a token could make one. RFC 8725 section 3.1 */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

/** https://hl7.org/fhir/smart-app-launch/STU2.2/conformance.html#capability-sets */
export const CAPABILITIES = [
  ...['launch-ehr', 'launch-standalone', 'authorize-post'],
  ...['client-public', 'client-confidential-symmetric', 'client-confidential-asymmetric'],
  ...['sso-openid-connect', 'context-banner', 'context-style'],
  ...['context-ehr-patient', 'context-ehr-encounter', 'context-standalone-patient', 'context-standalone-encounter'],
  ...[
    'permission-offline',
    'permission-online',
    'permission-patient',
    'permission-user',
    'permission-v1',
    'permission-v2',
  ],
] as const;

const filled = z.string().min(1, 'expected a text');
const address = z
  .string()
  .refine(isAddress, 'not an address of https; http is taken for loopback addresses in private-hosts alone');
const seconds = (most: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, `expected seconds, a whole number up to ${most}`)
    .refine(text => Number(text) <= most, `expected seconds, a whole number up to ${most}`);
const texts = z.union([filled, z.array(filled).min(1, 'expected one or more')]);
const scope = z.string().refine(text => parseScope(text) !== undefined, 'not a scope of SMART on resources');

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.hash}` === '';
}

const claims = z
  .strictObject({
    scopes: texts.optional().describe('claims with the scopes, as a list or a text with blanks; all count'),
    'scope-prefix': filled.optional().describe('is taken off each scope; scopes without it do not count'),
    patient: texts.optional().describe('claim with the id of the patient in context'),
    encounter: texts.optional().describe('claim with the id of the encounter in context'),
    login: z
      .strictObject({ rule: filled.describe('of `logins` in the access.yaml of the pack'), claim: texts })
      .optional()
      .describe('claim with a login of the legacy database, if no claim identifies the person'),
    purpose: texts.optional().describe('claim with the purpose of use, as a code: TREAT'),
    'fhir-user': texts.optional().describe('claim that identifies the person: Practitioner/7'),
    client: texts.optional().describe('claims with the application; the first that is there counts'),
  })
  .describe('names of the claims; a dotted name that is no claim is a path');

const introspection = z
  .strictObject({
    url: address.optional().describe('where tokens are asked about; as the metadata say'),
    client: filled.describe('as whom this server asks'),
    'secret-file': filled.optional().describe('a file with the secret of that client'),
    'key-file': filled.optional().describe('a file with its private key as a JWK'),
    send: z.enum(['basic', 'post']).optional().describe('how the secret is sent'),
    jwt: z.enum(['true', 'false']).optional().describe('true: JWTs are asked about, too, once they are verified'),
    keep: seconds(60).optional().describe('seconds for which an answer holds (10)'),
  })
  .describe('for tokens that are no JWT, or for all (RFC 7662)');

const issuer = z.strictObject({
  issuer: address.describe('exactly as `iss` of its tokens has it'),
  audience: texts.describe('one of these has to be in `aud`'),
  algorithms: z.array(z.enum(ALGORITHMS)).min(1, 'expected one or more').optional(),
  type: texts.optional().describe('`typ` in the head of its tokens'),
  require: z.record(z.string(), filled).optional().describe('claims that must have a value'),
  'client-credentials': z
    .record(z.string(), filled)
    .refine(claims => Object.keys(claims).length > 0, 'expected one or more claims')
    .optional()
    .describe(
      'claims that distinguish a token of client credentials from a user token, with their values; ' +
        '`{client}` is the application. Without it `system/` scopes do not count',
    ),
  metadata: address.optional().describe('of its metadata; <issuer>/.well-known/openid-configuration'),
  jwks: address.optional().describe('of its keys; as the metadata say'),
  'clock-skew': seconds(300).optional().describe('seconds by which its clock may differ (60)'),
  'private-hosts': z.array(filled).optional().describe('hosts of its addresses that may be private'),
  claims: claims.optional(),
  scopes: z
    .record(z.string(), z.union([scope, z.array(scope).min(1, 'expected one or more')]))
    .optional()
    .describe('words or roles of the issuer, and the scopes that they mean'),
  introspection: introspection.optional(),
  smart: z
    .strictObject({ capabilities: z.array(z.enum(CAPABILITIES)).min(1, 'expected one or more') })
    .optional()
    .describe('apps are launched by this issuer: what it can do'),
});

export const accessSchema = z.strictObject({ issuers: z.array(issuer).min(1, 'expected one or more') });

export type WrittenIssuer = z.output<typeof issuer>;
