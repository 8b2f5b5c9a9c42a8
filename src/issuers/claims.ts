/**
 * Turns verified claims into a Grant. In: claims of a JWT, or of an introspection, whose signature, issuer, audience
 * and times are valid. Out: a Grant; undefined if a required claim is missing.
 */
import type { Grant } from '../auth/token.ts';
import { isLegalId } from '../mapping/id-rule.ts';
import type { Issuer } from './settings.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** Maximum number of scopes; a token of 12,000 characters has fewer. */
const MOST_SCOPES = 2000;

/**
 * Returns the Grant. `expires`: milliseconds since the epoch until which it is valid without asking again. `fhirBase`:
 * address of the FHIR interface; references to it may be absolute.
 */
export function grantOfClaims(
  claims: Claims,
  issuer: Pick<Issuer, 'issuer' | 'claims' | 'words' | 'require' | 'clientCredentials'>,
  { expires, fhirBase }: { readonly expires: number; readonly fhirBase: string },
): Grant | undefined {
  // A token bound to a key proves nothing without that key. RFC 7800 section 3.1
  if (claims['cnf'] !== undefined) return undefined;
  const { require, claims: names } = issuer;
  for (const [name, value] of Object.entries(require)) if (!valuesOf(claims, name).includes(value)) return undefined;
  const client = first(claims, names.client);
  const subject = first(claims, ['sub']) ?? client;
  if (client === undefined || subject === undefined) return undefined;
  const relative = (text: string): string => (text.startsWith(`${fhirBase}/`) ? text.slice(fhirBase.length + 1) : text);
  const idOf = (type: string, claim: readonly string[]): string | undefined => {
    const text = first(claims, claim);
    const id = text && relative(text).replace(new RegExp(`^${type}/`), '');
    return id !== undefined && isLegalId(id) ? id : undefined;
  };
  const patient = idOf('Patient', names.patient);
  const encounter = idOf('Encounter', names.encounter);
  // Kept even if invalid: the user limits every scope, and an unknown user may see nothing.
  const fhirUser = named(claims, names.fhirUser) ? (first(claims, names.fhirUser) ?? '') : undefined;
  // Likewise a login: an invalid one belongs to nobody.
  const { login } = names;
  const known = fhirUser === undefined && login !== undefined && named(claims, login.claim);
  const purpose = first(claims, names.purpose);
  const isLimited = fhirUser !== undefined || known;
  const scopes = scopesOf(claims, issuer);
  return {
    subject,
    client,
    issuer: issuer.issuer,
    scopes: isLimited || isProgram(claims, client, issuer) ? scopes : scopes.filter(scope => !SYSTEM.test(scope)),
    expires,
    ...(patient === undefined ? {} : { patient }),
    ...(encounter === undefined ? {} : { encounter }),
    ...(fhirUser === undefined ? {} : { fhirUser: relative(fhirUser) }),
    ...(known && { login: { rule: login.rule, name: first(claims, login.claim) ?? '' } }),
    ...(purpose === undefined ? {} : { purpose }),
  };
}

/** Scopes with this prefix reach every patient. */
const SYSTEM = /^system\//;

/**
 * True for a token of client credentials. A person's token without `fhirUser` looks much the same, and nothing would
 * limit its `system/` scopes: only the issuer's settings can distinguish the two.
 */
function isProgram(claims: Claims, client: string, { clientCredentials }: Pick<Issuer, 'clientCredentials'>): boolean {
  if (clientCredentials === undefined) return false;
  return Object.entries(clientCredentials).every(([name, value]) =>
    valuesOf(claims, name).includes(value.replaceAll('{client}', () => client)),
  );
}

/**
 * Returns the scopes: replaces the issuer's words, and removes the prefix. Scopes without the required prefix do not
 * count.
 */
function scopesOf(claims: Claims, { claims: { scopes, scopePrefix }, words }: Pick<Issuer, 'claims' | 'words'>) {
  const said = scopes.flatMap(name => valuesOf(claims, name)).flatMap(text => text.split(' '));
  const own = said.filter(text => text !== '').slice(0, MOST_SCOPES);
  return [
    ...new Set(
      own.flatMap(text => {
        const word = text.startsWith(scopePrefix) ? text.slice(scopePrefix.length) : undefined;
        return words.get(text) ?? (word === undefined ? [] : (words.get(word) ?? [word]));
      }),
    ),
  ];
}

function named(claims: Claims, names: readonly string[]): boolean {
  return names.some(name => found(claims, name) !== undefined);
}

/** Returns the single value of the first claim that exists; undefined if it has several. */
function first(claims: Claims, names: readonly string[]): string | undefined {
  const name = names.find(one => found(claims, one) !== undefined);
  const values = name === undefined ? [] : valuesOf(claims, name);
  return values.length === 1 && values[0] !== '' ? values[0] : undefined;
}

/** Returns the strings, numbers and booleans of a claim, or of its list, as strings. */
function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = found(claims, name);
  const isPlain = (one: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof one);
  return (Array.isArray(value) ? value : [value]).filter(isPlain).map(String);
}

/** Finds a claim: `a.b` is the claim of that name, or else `b` within `a`. */
function found(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name] ?? undefined;
  for (let at = name.indexOf('.'); at > 0; at = name.indexOf('.', at + 1)) {
    const outer = name.slice(0, at);
    const inner = Object.hasOwn(claims, outer) ? claims[outer] : undefined;
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) {
      const value = found(inner as Claims, name.slice(at + 1));
      if (value !== undefined) return value;
    }
  }
  return undefined;
}
