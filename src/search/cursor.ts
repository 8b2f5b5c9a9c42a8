/**
 * Where a page ends: enough to continue by keyset, nothing more. It travels in the next link as one opaque, signed text,
 * bound to the query and the caller, so that it can neither be read into another query nor be made up.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
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
}

export interface CursorCodec {
  /** `binding`: everything the cursor must not be moved to: caller, type, filters, sort. */
  seal(cursor: Cursor, binding: string): string;
  /** Undefined for a text that was not sealed for this binding. */
  open(text: string, binding: string): Cursor | undefined;
}

const TAG_BYTES = 12;

/** Cursors signed with a secret (any length; 32 random bytes are good). */
export function cursorCodec(secret: Uint8Array): CursorCodec {
  const tag = (payload: Buffer, binding: string): Buffer =>
    createHmac('sha256', secret).update(binding).update('\0').update(payload).digest().subarray(0, TAG_BYTES);
  return {
    seal(cursor, binding) {
      const payload = Buffer.from(JSON.stringify(cursor, encodeBytes));
      return Buffer.concat([tag(payload, binding), payload]).toString('base64url');
    },
    open(text, binding) {
      if (!/^[A-Za-z0-9_-]{20,4000}$/.test(text)) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      const payload = bytes.subarray(TAG_BYTES);
      if (!timingSafeEqual(bytes.subarray(0, TAG_BYTES), tag(payload, binding))) return undefined;
      return JSON.parse(payload.toString('utf8'), decodeBytes);
    },
  };
}

function encodeBytes(this: unknown, name: string, content: unknown): unknown {
  const raw = (this as Record<string, unknown>)[name];
  return raw instanceof Uint8Array ? { $: Buffer.from(raw).toString('base64') } : content;
}

function decodeBytes(_name: string, content: unknown): unknown {
  if (content !== null && typeof content === 'object' && '$' in content && typeof content.$ === 'string') {
    return new Uint8Array(Buffer.from(content.$, 'base64'));
  }
  return content;
}
