/**
 * Cache of issued page cursors; a hit saves one decryption. In: a codec. Out: a codec with the same answers.
 */
import { boundedCache } from '../common/caches.ts';
import type { Cursor, CursorCodec } from '../search/cursor.ts';

const KNOWN = 1000;

export function cursorCache(codec: CursorCodec): CursorCodec {
  const known = boundedCache<{ readonly cursor: Cursor; readonly binding: string }>(KNOWN);
  return {
    seal(cursor, binding) {
      const text = codec.seal(cursor, binding);
      known.keep(text, { cursor, binding });
      return text;
    },
    open(text, binding) {
      const own = known.find(text);
      if (own === undefined) return codec.open(text, binding);
      return own.binding === binding ? own.cursor : undefined;
    },
  };
}
