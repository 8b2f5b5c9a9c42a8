/**
 * Reads the apps that may request tokens from the file that `lintel client` manages. In: the file. Out: the client with
 * an id, as the file is now, and its metadata for the provider. The file holds hashes of secrets; these are random and
 * long, so one round of SHA-256 is enough.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import { isEra } from '../auth/era.ts';
import { fresh, readPrivate, writePrivate } from '../auth/private-file.ts';
import { CONTEXT_SCOPES, POST_LAUNCH } from './scopes.ts';

export interface Client {
  readonly id: string;
  /** Its name on the page of consent. */
  readonly name: string;
  /** How it authenticates: not at all, with a secret, or with a key. */
  readonly kind: 'public' | 'secret' | 'key';
  /** SHA-256 of the secret. */
  readonly secret?: string;
  readonly jwks?: { readonly keys: readonly Readonly<Record<string, unknown>>[] };
  /** Where the app publishes its keys (`openAppKeys`). */
  readonly jwksUrl?: string;
  /** Compared exactly. Without any it acts only in its own name. */
  readonly redirects: readonly string[];
  /** Where an EHR launches it. */
  readonly launchUrl?: string;
  /** The most that it may request. */
  readonly scopes: readonly string[];
  /** True if it may introspect any token, as a resource server does. */
  readonly introspects: boolean;
  readonly disabled: boolean;
  /** Tokens and grants of another era have ended (`newEra`). */
  readonly era?: string;
}

export interface Clients {
  find(id: string): Client | undefined;
  all(): readonly Client[];
}

/** The file does not have the form that `lintel client` writes. */
export class ClientsError extends Error {
  override readonly name = 'ClientsError';
}

/** Needs no encoding in a URL or in Basic credentials. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$/;

export function isClientId(text: string): boolean {
  return ID.test(text);
}

/** Reads all clients of a file; none if there is no file. Throws ClientsError, or the file system's error. */
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

/** True if a client has the credentials of its kind. */
function hasCredentials({ kind, secret, jwks, jwksUrl }: Readonly<Record<keyof Client, unknown>>): boolean {
  if (kind === 'public') return true;
  if (kind === 'secret') return typeof secret === 'string';
  return kind === 'key' && (typeof jwks === 'object' || typeof jwksUrl === 'string');
}

/** Replaces the file atomically. */
export function writeClients(file: string, clients: readonly Client[]): void {
  writePrivate(file, { clients });
}

/**
 * Returns the clients of a file, which is read again after a change. While it cannot be read it has none, so that none
 * of its clients gets a token; `unreadable` is called once for each version of the file. The file is not moved aside,
 * because people manage it.
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

/** Returns the clients of both; if both have an id, that of the first. */
export function joinClients(first: readonly Client[], second: Clients): Clients {
  const known = new Map(first.map(client => [client.id, client]));
  return {
    find: id => known.get(id) ?? second.find(id),
    all: () => [...known.values(), ...second.all().filter(({ id }) => !known.has(id))],
  };
}

/** Returns a new secret and its hash. */
export function newSecret(): { readonly secret: string; readonly hash: string } {
  const secret = randomBytes(32).toString('base64url');
  return { secret, hash: hashSecret(secret) };
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** True if a secret matches a hash; takes constant time. */
export function fitsSecret(secret: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(hashSecret(secret)), Buffer.from(hash)];
  return given.byteLength === kept.byteLength && timingSafeEqual(given, kept);
}

const AUTH_METHOD = { public: 'none', secret: 'client_secret_basic', key: 'private_key_jwt' } as const;

/** Says whether a client acts for people who launch it, and whether in its own name. */
export function grantsOf(client: Client): { readonly person: boolean; readonly own: boolean } {
  const isSystem = (scope: string): boolean => scope.startsWith('system/');
  return { person: client.redirects.length > 0, own: client.kind !== 'public' && client.scopes.some(isSystem) };
}

/**
 * Tests whether a page of this origin belongs to the app. A redirect URL of a custom scheme has no origin: URL says
 * `null`, and browsers send the same for every sandboxed frame and local file.
 */
export function isOriginOf(client: Client | undefined, origin: string): boolean {
  if (client === undefined || client.disabled || origin === 'null') return false;
  return client.redirects.some(address => URL.parse(address)?.origin === origin);
}

/** Returns a client's metadata for the provider; undefined if it is disabled. RFC 7591 */
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
    // The hash, because the comparison hashes the given secret first.
    ...(client.kind === 'secret' && { client_secret: client.secret }),
    ...(client.jwks && { jwks: client.jwks as ClientMetadata['jwks'] }),
  } as ClientMetadata;
}

/** Scopes that can be registered besides those on resources. */
export const REGISTRABLE: ReadonlySet<string> = new Set([...CONTEXT_SCOPES, POST_LAUNCH]);
