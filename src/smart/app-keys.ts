/**
 * Fetches the keys that apps publish at their JWKS URLs. In: the URL of a registered app, when it sends an assertion.
 * Out: its public keys as last fetched. An app's server is asked at most twice a minute, and while it fails every five
 * seconds, whoever sends assertions in the app's name. A removed key counts for half a minute more; while the URL
 * fails, the last keys count for an hour.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/client-confidential-asymmetric.html
 */
import { decodeJwt, decodeProtectedHeader, type JWK } from 'jose';
import { boundedCache } from '../common/caches.ts';
import { isDeeper } from '../common/depth.ts';
import { type Ask, asker as askerOf } from '../issuers/fetch.ts';
import { askedOnce } from '../issuers/metadata.ts';
import { bareHost } from '../issuers/settings.ts';
import type { Clients } from './clients.ts';

export interface AppKeys {
  /** Returns the keys as last fetched; none if they never were. */
  known(url: string): readonly JWK[];
  /** Fetches the keys, unless they are young enough. Never rejects. */
  refresh(url: string): Promise<void>;
}

export interface AppKeysOptions {
  /** True if JWKS URLs may have private addresses. */
  readonly privateHosts: boolean;
  /** Called if a URL does not answer with keys; the reason has nothing of the answer. */
  readonly failed: (reason: string) => void;
  /** Milliseconds of a monotonic clock; replaced only in tests. */
  readonly clock?: () => number;
  /** Makes the function that sends requests; replaced only in tests. */
  readonly asker?: (privateHosts: ReadonlySet<string>) => Ask;
}

const AGES = { fresh: 30_000, stale: 3_600_000, pause: 5000 } as const;
/** Milliseconds in which an app's server has to answer. */
const TIME_LIMIT = 2500;
/** URLs whose keys are kept. */
const MOST_URLS = 1000;
/** Keys of one URL that are kept, and the longest text of a key: a modulus of 8,192 bits has 1,366 characters. */
const MOST_KEYS = 50;
const LONGEST_TEXT = 2000;

interface Published {
  keys: readonly JWK[];
  readonly fetched: (youngerThan?: number) => Promise<readonly JWK[]>;
}

/** The answer of an app's server has no keys. */
class NoKeys extends Error {
  override readonly name = 'NoKeys';
}

export function openAppKeys(options: AppKeysOptions): AppKeys {
  const { privateHosts, failed, clock = () => performance.now(), asker = askerOf } = options;
  const published = boundedCache<Published>(MOST_URLS);
  const publishedAt = (url: string): Published =>
    published.get(url, () => {
      const ask = asker(new Set(privateHosts ? [bareHost(new URL(url))] : []));
      return {
        keys: [],
        fetched: askedOnce(() => fetchKeys(url, ask), { ages: AGES, failed: error => failed(reasonOf(error)), clock }),
      };
    });
  return {
    known: url => published.find(url)?.keys ?? [],
    async refresh(url) {
      const one = publishedAt(url);
      one.keys = await one.fetched(AGES.fresh).catch(() => one.fetched().catch(() => []));
    },
  };
}

async function fetchKeys(url: string, ask: Ask): Promise<readonly JWK[]> {
  const headers = new Headers({ accept: 'application/json, application/jwk-set+json' });
  const response = await ask(url, { method: 'GET', headers, signal: AbortSignal.timeout(TIME_LIMIT) });
  if (response.status !== 200) throw new NoKeys(`status ${response.status}`);
  let set: { readonly keys?: unknown } | null;
  try {
    set = JSON.parse(await response.text()) as typeof set;
  } catch {
    throw new NoKeys('no JSON');
  }
  if (!Array.isArray(set?.keys)) throw new NoKeys('no JSON Web Key Set');
  return set.keys.flatMap(one => publicKey(one) ?? []).slice(0, MOST_KEYS);
}

/** Members of a key that verification reads, and those without which it is no key of its kind. RFC 7517, RFC 7518 */
const MEMBERS = ['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e'] as const;
const REQUIRED: ReadonlyMap<unknown, readonly (typeof MEMBERS)[number][]> = new Map([
  ['RSA', ['n', 'e']],
  ['EC', ['crv', 'x', 'y']],
]);

/** Returns a key without members that nobody reads; undefined if it is of another kind, or private. */
function publicKey(one: unknown): JWK | undefined {
  const given = (one ?? {}) as Readonly<Record<string, unknown>>;
  const key: JWK = {};
  for (const name of MEMBERS) {
    const value = given[name];
    if (value === undefined) continue;
    if (typeof value !== 'string' || value === '' || value.length > LONGEST_TEXT) return undefined;
    key[name] = value;
  }
  const required = REQUIRED.get(key.kty);
  const isWhole = required?.every(name => key[name] !== undefined) ?? false;
  return isWhole && given['d'] === undefined ? key : undefined;
}

function reasonOf(error: unknown): string {
  if (error instanceof NoKeys) return error.message;
  return error instanceof Error ? String((error as { code?: unknown }).code ?? error.name) : typeof error;
}

/**
 * Prepares the verification of an app's assertion: fetches the keys of the app that it names. Returns 'deep' if the
 * assertion nests too deeply to be passed on.
 */
export async function readAssertion(
  assertion: string,
  { clients, appKeys }: { readonly clients: Clients; readonly appKeys: AppKeys },
): Promise<'deep' | undefined> {
  let claims: ReturnType<typeof decodeJwt>;
  try {
    claims = decodeJwt(assertion);
    if (isDeeper(claims) || isDeeper(decodeProtectedHeader(assertion))) return 'deep';
  } catch {
    // The provider refuses it, and says why.
    return undefined;
  }
  const client = typeof claims.sub === 'string' ? clients.find(claims.sub) : undefined;
  if (client?.jwksUrl !== undefined && !client.disabled) await appKeys.refresh(client.jwksUrl);
  return undefined;
}
