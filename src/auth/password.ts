/**
 * Hashes passwords. In: a password. Out: a PHC string to keep, and whether a password matches one. The function is
 * Argon2id of node:crypto with OWASP's minimum parameters.
 * RFC 9106; https://cheatsheetseries.owasp.org (password storage)
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

interface Cost {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const TAG_BYTES = 32;

/** Maximum characters of a password: nobody types more, and hashing more wastes work. */
export const LONGEST_PASSWORD = 256;

/** Hashes a password with a fresh salt, as `$argon2id$v=19$m=…,t=…,p=…$salt$tag`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const tag = await derive(password, salt, COST, TAG_BYTES);
  const { memory, passes, parallelism } = COST;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(tag)}`;
}

/** True if a password matches a hash; false if the text is not a hash of this form. */
export async function fitsPassword(password: string, hash: string): Promise<boolean> {
  const kept = parse(hash);
  if (kept === undefined) return false;
  const tag = await derive(password, kept.salt, kept.cost, kept.tag.byteLength);
  return timingSafeEqual(tag, kept.tag);
}

/** A hash that no password matches, so that missing accounts take as long as existing ones. */
export const NO_PASSWORD = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${encode(randomBytes(SALT_BYTES))}$${encode(randomBytes(TAG_BYTES))}`;

const FORM = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,172})$/;

function parse(hash: string): { readonly cost: Cost; readonly salt: Buffer; readonly tag: Buffer } | undefined {
  const match = FORM.exec(hash);
  if (!match) return undefined;
  const [, memory, passes, parallelism, salt = '', tag = ''] = match;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function derive(password: string, salt: Buffer, cost: Cost, bytes: number): Promise<Buffer> {
  const message = Buffer.from(password.normalize('NFKC'), 'utf8');
  return promisify(argon2)('argon2id', { message, nonce: salt, tagLength: bytes, ...cost });
}

/** Encodes Base64 without padding, as in the PHC format. */
function encode(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
