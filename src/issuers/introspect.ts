/**
 * Asks an issuer about an opaque token. In: the token. Out: its claims while it is active. Answers are cached for
 * seconds, concurrent requests for the same token are sent once, and their number is bounded. RFC 7662, RFC 7523
 * section 2.2
 */
import { hash, randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import { type BoundedCache, boundedCache } from '../common/caches.ts';
import type { Claims } from './claims.ts';
import { type Asking, IssuerError, outage, TIME_LIMIT } from './metadata.ts';
import { type IntrospectionSettings, type Issuer, isSafe } from './settings.ts';

/** Maximum number of tokens with a cached answer, and of tokens known to have been valid. */
const KEPT = 10_000;
/** Maximum characters of an answer: as many as the longest token holds, and some more. */
const ANSWER_LENGTH = 32_000;
/**
 * Maximum number of requests in flight: for tokens that were valid before, and for others. A flood of the latter must
 * not block the former.
 */
const UNDER_WAY = { known: 50, others: 50 } as const;
/** Seconds for Retry-After if there are too many. */
const SOON = 1;
/** Milliseconds without requests after the issuer did not answer. */
const PAUSE = 1000;
const BAD_REQUEST = 400;

interface Answer {
  /** Undefined: the token is not valid. */
  readonly claims: Claims | undefined;
  /** Expiry in milliseconds since the epoch. */
  readonly until: number;
  /** The same on the monotonic clock. */
  readonly ends: number;
}

/** Returns a function that rejects with 503 if the issuer does not answer. `now`: milliseconds since the epoch. */
export function introspectorOf(
  issuer: Issuer,
  settings: IntrospectionSettings,
  parts: Asking,
): (token: string, now: number) => Promise<Answer> {
  const answers: BoundedCache<Answer> = boundedCache(KEPT);
  const good: BoundedCache<{ readonly good: true }> = boundedCache(KEPT);
  const flying = new Map<string, Promise<Answer>>();
  const counts = { known: 0, others: 0 };
  let pausedUntil = Number.NEGATIVE_INFINITY;

  const ask = async (token: string, key: string, kind: keyof typeof counts, now: number): Promise<Answer> => {
    counts[kind]++;
    const begun = parts.clock();
    try {
      const claims = activeClaims(await introspect(token, issuer, settings, parts), issuer, now);
      const until = Math.min(now + settings.keep, endOf(claims, issuer.skew));
      const answer = { claims, until, ends: begun + until - now };
      answers.keep(key, answer);
      if (claims !== undefined) good.keep(key, { good: true });
      return answer;
    } catch (error) {
      // An unusable answer about one token must not block others.
      if (!(error instanceof IssuerError)) pausedUntil = parts.clock() + PAUSE;
      parts.failed(error);
      throw outage();
    } finally {
      counts[kind]--;
      flying.delete(key);
    }
  };
  return async (token, now) => {
    const key = hash('sha256', token, 'base64url');
    const before = answers.find(key);
    if (before !== undefined && before.until > now && before.ends > parts.clock()) return before;
    const during = flying.get(key);
    if (during !== undefined) return during;
    const kind = good.find(key) === undefined ? 'others' : 'known';
    if (counts[kind] >= UNDER_WAY[kind] || parts.clock() < pausedUntil) throw outage(SOON);
    const asked = ask(token, key, kind, now);
    flying.set(key, asked);
    return asked;
  };
}

async function introspect(
  token: string,
  issuer: Issuer,
  settings: IntrospectionSettings,
  { ask, metadata }: Pick<Asking, 'ask' | 'metadata'>,
): Promise<unknown> {
  const address = settings.url ?? (await metadata()).introspection_endpoint;
  if (address === undefined || !isSafe(new URL(address), issuer.privateHosts))
    throw new IssuerError('the metadata name no address for introspection that may be asked');
  const headers = new Headers({
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  });
  const body = new URLSearchParams({ token, token_type_hint: 'access_token', ...(await proofOf(issuer, settings)) });
  if (settings.proof.kind === 'basic') headers.set('authorization', basic(settings.client, settings.proof.secret));
  const signal = AbortSignal.timeout(TIME_LIMIT);
  const response = await ask(address, { method: 'POST', headers, body: body.toString(), signal });
  // Some issuers answer so for a token whose form they do not know.
  if (response.status === BAD_REQUEST) return { active: false };
  if (response.status !== 200) throw new IssuerError(`introspection: status ${response.status}`);
  const text = await response.text();
  // Thousands of them are cached.
  if (text.length > ANSWER_LENGTH) throw new IssuerError('introspection: too long an answer');
  try {
    return JSON.parse(text);
  } catch {
    throw new IssuerError('introspection: no JSON');
  }
}

/** Encodes both as in a form. RFC 6749 section 2.3.1 */
function basic(client: string, secret: string): string {
  const encoded = (text: string): string => new URLSearchParams({ v: text }).toString().slice(2);
  return `Basic ${Buffer.from(`${encoded(client)}:${encoded(secret)}`).toString('base64')}`;
}

/** Lifetime of a client assertion in seconds. */
const PROOF = 60;

async function proofOf(
  { issuer }: Issuer,
  { client, proof }: IntrospectionSettings,
): Promise<Readonly<Record<string, string>>> {
  if (proof.kind !== 'key') return proof.kind === 'post' ? { client_id: client, client_secret: proof.secret } : {};
  const { key } = proof;
  const alg = key.alg ?? '';
  const assertion = await new SignJWT({})
    .setProtectedHeader({ alg, ...(key.kid === undefined ? {} : { kid: key.kid }) })
    .setIssuer(client)
    .setSubject(client)
    .setAudience(issuer)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(`${PROOF}s`)
    .sign(await importJWK(key, alg));
  return {
    client_id: client,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  };
}

/**
 * Returns the claims of a token that is active now, and whose audience is this server; without an audience it does not
 * count.
 */
function activeClaims(said: unknown, issuer: Issuer, now: number): Claims | undefined {
  if (typeof said !== 'object' || said === null || !('active' in said))
    throw new IssuerError('introspection: no answer');
  const claims = said as Claims;
  if (claims['active'] !== true) return undefined;
  const { iss, aud, exp, nbf, token_type: type } = claims;
  if (iss !== undefined && iss !== issuer.issuer) return undefined;
  if (!(Array.isArray(aud) ? aud : [aud]).some(one => issuer.audience.includes(String(one)))) return undefined;
  if (type !== undefined && String(type).toLowerCase() !== 'bearer') return undefined;
  const seconds = now / 1000;
  if (exp !== undefined && !(typeof exp === 'number' && exp + issuer.skew > seconds)) return undefined;
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf - issuer.skew <= seconds)) return undefined;
  return claims;
}

/** Returns the end in milliseconds since the epoch. */
function endOf(claims: Claims | undefined, skew: number): number {
  const exp = claims?.['exp'];
  return typeof exp === 'number' ? (exp + skew) * 1000 : Number.POSITIVE_INFINITY;
}
