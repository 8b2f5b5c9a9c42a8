/**
 * Encrypts texts that travel through a client. In: a secret (any length; 32 random bytes are good) and the purpose of
 * the texts. Out: AES-256-GCM with a key per purpose; the binding is authenticated with the text.
 */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, randomFillSync } from 'node:crypto';

export interface Sealing {
  /** `binding`: everything that the text must not be moved to, such as another caller. Returns base64url. */
  seal(content: string | Uint8Array, binding: string): string;
  /** Undefined if the text was not sealed for this binding. */
  open(sealed: string, binding: string): Buffer | undefined;
}

/** Random per process, with a counter after it: a random nonce per text takes longer than the sealing. */
const FIXED_BYTES = 8;
const NONCE_BYTES = FIXED_BYTES + 4;
const COUNTS = 2 ** 32;
const TAG_BYTES = 16;
/** Most characters of a sealed text. */
const LONGEST = 4000;
const SEALED = new RegExp(`^[A-Za-z0-9_-]{38,${LONGEST}}$`);

/** `purpose`: a text that was sealed for one cannot be opened for another. */
export function sealing(secret: Uint8Array, purpose: string): Sealing {
  const digest = createHash('sha256').update(`lintel ${purpose}|`).update(secret).digest();
  // Plain bytes would be imported for each text, which takes three times as long as the sealing.
  const key = createSecretKey(digest);
  const nextNonce = createNonces();
  return {
    seal(content, binding) {
      const nonce = nextNonce();
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(binding));
      // A stream cipher: `final` adds nothing but the tag.
      const hidden = typeof content === 'string' ? cipher.update(content, 'utf8') : cipher.update(content);
      cipher.final();
      return Buffer.concat([nonce, cipher.getAuthTag(), hidden]).toString('base64url');
    },
    open(sealed, binding) {
      if (!SEALED.test(sealed)) return undefined;
      const bytes = Buffer.from(sealed, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(binding))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const shown = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      try {
        decipher.final();
      } catch {
        // `final` throws only if the text was not sealed by us for this binding.
        return undefined;
      }
      return shown;
    },
  };
}

/** Makes nonces that never repeat under a key, in this process or another. NIST SP 800-38D section 8.2.1 */
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
