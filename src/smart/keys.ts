/**
 * Stores the keys of the authorization server, which sign id_tokens and cookies. In: a file in DATA_DIR that only its
 * owner can read. Out: the newest key first, with older ones that still verify. A rotation ends no session: what was
 * signed before stays valid until its key is dropped as the oldest.
 */
import { randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { readPrivate, writePrivate } from '../auth/private-file.ts';

export interface Keys {
  /** Private JSON Web Keys for RS256, the newest first. */
  readonly signing: readonly JWK[];
  /** Secrets of cookies, the newest first. */
  readonly cookies: readonly string[];
}

/** The file does not have the form that this server writes. */
export class KeysError extends Error {
  override readonly name = 'KeysError';
}

/** Number of stored keys: the one that signs, and those before it. */
const KEPT = 3;

/** Reads the keys; undefined if there is no file. Throws KeysError, or the file system's error. */
export function readKeys(file: string): Keys | undefined {
  const data = readPrivate(file, () => new KeysError('The file of keys is not JSON'));
  if (data === undefined) return undefined;
  const { signing, cookies } = (data ?? {}) as Readonly<Record<keyof Keys, unknown>>;
  if (!isList(signing, isPrivateKey) || !isList(cookies, one => typeof one === 'string' && one.length >= 32)) {
    throw new KeysError('The file of keys is not in the form that `lintel keys` writes');
  }
  return data as Keys;
}

function isList(value: unknown, isItem: (one: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isItem);
}

function isPrivateKey(one: unknown): boolean {
  const { kty, kid, d } = (one ?? {}) as JWK;
  return kty === 'RSA' && typeof kid === 'string' && typeof d === 'string';
}

/** Adds new keys before those of a file, or makes the file. Resolves to all keys. */
export async function rotateKeys(file: string): Promise<Keys> {
  const before = readKeys(file);
  const { privateKey } = await generateKeyPair('RS256', { modulusLength: 2048, extractable: true });
  const kid = randomBytes(12).toString('base64url');
  const key: JWK = { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
  const keys: Keys = {
    signing: [key, ...(before?.signing ?? [])].slice(0, KEPT),
    cookies: [randomBytes(32).toString('base64url'), ...(before?.cookies ?? [])].slice(0, KEPT),
  };
  writePrivate(file, keys);
  return keys;
}
