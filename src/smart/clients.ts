/**
 * Reads the apps that may ask for tokens from the file that `lintel client` manages. In: the file. Out: the client of
 * an id, as the file stands now, and what the provider needs to know of it. The file holds hashes of secrets; these
 * are random and long, so one round of SHA-256 is enough.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import { isEra } from '../auth/era.ts';
import { fresh, readPrivate, writePrivate } from '../auth/private-file.ts';
import { CONTEXT_SCOPES, POST_LAUNCH } from './scopes.ts';

export interface Client {
  readonly id: string;
  /** As people read it on the page of consent. */
  readonly name: string;
  /** How it proves who it is: not at all, by a secret, or by a key. */
  readonly kind: 'public' | 'secret' | 'key';
  /** SHA-256 of the secret. */
  readonly secret?: string;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  readonly jwksUrl?: string;
  /** Compared exactly. Without any it acts in its own name alone. */
  readonly redirects: readonly string[];
  /** Where an EHR launches it. */
  readonly launchUrl?: string;
  /** What it may ask for at most. */
  readonly scopes: readonly string[];
  /** It may ask of any token what it is good for, as a resource server does. */
  readonly introspects: boolean;
  readonly disabled: boolean;
  /** Tokens and grants of another era have ended (`newEra`). */
  readonly era?: string;
}

export interface Clients {
  find(id: string): Client | undefined;
  all(): readonly Client[];
}

/** The file is not what `lintel client` writes. */
export class ClientsError extends Error {
  override readonly name = 'ClientsError';
}

/** Needs no encoding in a URL nor in Basic credentials. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/;

export function isClientId(text: string): boolean {
  return ID.test(text);
}

/** All clients of a file; none if there is no file. Throws ClientsError, or the file system's error. */
export function readClients(file: string): readonly Client[] {
  const data = readPrivate(file, () => new ClientsError('The file of clients is not JSON'));
  if (data === undefined) return [];
  const clients = (data as { readonly clients?: unknown } | null)?.clients;
  if (!Array.isArray(clients) || !clients.every(isClient)) {
    throw new ClientsError('The file of clients is not in the form that `lintel client` writes');
  }
  return clients;
}

function isClient(one: unknown): one is Client {
  const client = (one ?? {}) as Readonly<Record<keyof Client, unknown>>;
  const texts = [client.id, client.name, client.kind];
  const lists = [client.redirects, client.scopes];
  return (
    texts.every(text => typeof text === 'string') &&
    isClientId(String(client.id)) &&
    lists.every(list => Array.isArray(list) && list.every(item => typeof item === 'string')) &&
    [client.introspects, client.disabled].every(flag => typeof flag === 'boolean') &&
    isEra(client.era) &&
    hasCredentials(client)
  );
}

/** A client of a kind has what that kind is proved by. */
function hasCredentials({ kind, secret, jwks, jwksUrl }: Readonly<Record<keyof Client, unknown>>): boolean {
  if (kind === 'public') return true;
  if (kind === 'secret') return typeof secret === 'string';
  return kind === 'key' && (typeof jwks === 'object' || typeof jwksUrl === 'string');
}

/** Replaces the file at once. */
export function writeClients(file: string, clients: readonly Client[]): void {
  writePrivate(file, { clients });
}

/**
 * Clients of a file, read again when it was changed. While it cannot be read it has none, so that no client of it gets
 * a token; `unreadable` is told once for each version of the file. It stays where it is, because people manage it.
 */
export function clientsOfFile(file: string, unreadable: (error: unknown) => void): Clients {
  const known = fresh(file, () => {
    try {
      return new Map(readClients(file).map(client => [client.id, client]));
    } catch (error) {
      unreadable(error);
      return new Map<string, Client>();
    }
  });
  return { find: id => known().get(id), all: () => [...known().values()] };
}

/** The clients of both; where both have an id, the first one's. */
export function joinClients(first: readonly Client[], second: Clients): Clients {
  const known = new Map(first.map(client => [client.id, client]));
  return {
    find: id => known.get(id) ?? second.find(id),
    all: () => [...known.values(), ...second.all().filter(({ id }) => !known.has(id))],
  };
}

/** A fresh secret and its hash. */
export function newSecret(): { readonly secret: string; readonly hash: string } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: hashSecret(secret) };
}

export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url');
}

/** Whether a secret fits a hash; takes the same time however much of it is right. */
export function fitsSecret(secret: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(hashSecret(secret)), Buffer.from(hash)];
  return given.byteLength === kept.byteLength && timingSafeEqual(given, kept);
}

const AUTH_METHOD = { public: 'none', secret: 'client_secret_basic', key: 'private_key_jwt' } as const;

/** Whether a client acts for people who launch it, and whether in its own name. */
export function grantsOf(client: Client): { readonly person: boolean; readonly own: boolean } {
  const isSystem = (scope: string): boolean => scope.startsWith('system/');
  return { person: client.redirects.length > 0, own: client.kind !== 'public' && client.scopes.some(isSystem) };
}

/** A client as the provider reads it; undefined where it may not be served. RFC 7591 */
export function metadataOf(client: Client): ClientMetadata | undefined {
  if (client.disabled) return undefined;
  const { person, own } = grantsOf(client);
  const isWeb = client.redirects.every(address => /^https?:/.test(address));
  return {
    client_id: client.id,
    client_name: client.name,
    application_type: isWeb ? 'web' : 'native',
    redirect_uris: [...client.redirects],
    response_types: person ? ['code'] : [],
    grant_types: [...(person ? ['authorization_code', 'refresh_token'] : []), ...(own ? ['client_credentials'] : [])],
    token_endpoint_auth_method: AUTH_METHOD[client.kind],
    // Not the secret itself: whoever compares it hashes first.
    ...(client.kind === 'secret' && { client_secret: client.secret }),
    ...(client.jwks && { jwks: client.jwks as ClientMetadata['jwks'] }),
    ...(client.jwksUrl && { jwks_uri: client.jwksUrl }),
  } as ClientMetadata;
}

/** Whether a scope can be registered at all. */
export const REGISTRABLE: ReadonlySet<string> = new Set([...CONTEXT_SCOPES, POST_LAUNCH]);
