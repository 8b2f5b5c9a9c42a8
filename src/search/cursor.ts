/**
 * Where a page ends: enough to continue by keyset, nothing more. It travels in the next link as one sealed text, bound to
 * the query and the caller, so that it can neither be read (sort values are patients' values) nor used elsewhere nor made up.
 */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomFillSync } from 'node:crypto';
import type { SqlValue } from '../sql/expression.ts';

export interface Cursor {
  /** The branch that the last match came from, by its group and ordinal. */
  readonly group: string;
  readonly branch: number;
  /** Key of its row. */
  readonly key: readonly SqlValue[];
  /** Ordinal of its mapping: a row may give several resources. */
  readonly ordinal: number;
  /** For each sort key: the normalised value, or null where it is missing. */
  readonly sort: readonly (number | string | null)[];
  /** The instant that the first page was evaluated at. */
  readonly now: number;
  /** Of the mappings that the page was made with (src/pipeline/page-mappings.ts): others may order rows by other keys. */
  readonly made?: string;
}

export interface CursorCodec {
  /** `binding`: everything the cursor must not be moved to: caller, type, filters, sort. */
  seal(cursor: Cursor, binding: string): string;
  /** Undefined for a text that was not sealed for this binding. */
  open(text: string, binding: string): Cursor | undefined;
}

/** Random for each process, and a count: a random nonce for each cursor takes longer than the sealing. */
const FIXED_BYTES = 8;
const NONCE_BYTES = FIXED_BYTES + 4;
const COUNTS = 2 ** 32;
const TAG_BYTES = 16;

/**
 * Cursors sealed with a secret (any length; 32 random bytes are good): AES-256-GCM, the binding authenticated with it.
 */
export function cursorCodec(secret: Uint8Array): CursorCodec {
  const digest = createHash('sha256').update('lintel page link|').update(secret).digest();
  // As plain bytes it would be imported for each cursor, which takes three times as long as the sealing.
  const key = createSecretKey(digest);
  const nextNonce = createNonces();
  return {
    seal(cursor, binding) {
      const nonce = nextNonce();
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(binding));
      // A stream cipher: the end adds nothing but the tag.
      const hidden = cipher.update(written(cursor), 'utf8');
      cipher.final();
      return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64url');
    },
    open(text, binding) {
      if (!/^[A-Za-z0-9_-]{40,4000}$/.test(text)) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(binding))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const shown = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)).toString('utf8');
      try {
        decipher.final();
      } catch {
        // Not sealed by us for this binding: the one thing that `final` refuses.
        return undefined;
      }
      return shown.includes('"$":') ? JSON.parse(shown, decodeBytes) : JSON.parse(shown);
    },
  };
}

/** Nonces of which none comes twice under a key, in this process or another. NIST SP 800-38D section 8.2.1 */
function createNonces(): () => Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES);
  let count = COUNTS;
  return () => {
    if (count === COUNTS) {
      randomFillSync(nonce, 0, FIXED_BYTES);
      count = 0;
    }
    nonce.writeUInt32BE(count++, FIXED_BYTES);
    return nonce;
  };
}

/** A replacer is asked of every member: only keys of bytes need it. */
function written(cursor: Cursor): string {
  return cursor.key.some(raw => raw instanceof Uint8Array)
    ? JSON.stringify(cursor, encodeBytes)
    : JSON.stringify(cursor);
}

/** JSON.stringify's replacer for cursors whose keys may be bytes. */
export function encodeBytes(this: unknown, name: string, content: unknown): unknown {
  const raw = (this as Record<string, unknown>)[name];
  return raw instanceof Uint8Array ? { $: Buffer.from(raw).toString('base64') } : content;
}

/** JSON.parse's reviver for what `encodeBytes` wrote. */
export function decodeBytes(_name: string, content: unknown): unknown {
  if (content !== null && typeof content === 'object' && '$' in content && typeof content.$ === 'string') {
    return new Uint8Array(Buffer.from(content.$, 'base64'));
  }
  return content;
}
