/**
 * `base64`: emits the bytes of a binary column, or of a text as UTF-8, as base64Binary. In: bytes or text, or a note
 * that is sanitized first. Out: base64. A blank text and a binary value without bytes are absent. Output only.
 * https://hl7.org/fhir/R4/datatypes.html#base64Binary
 */
import { filled } from '../../sql/construct.ts';
import type { SqlValue } from '../../sql/expression.ts';
import { type Codec, only } from './codec.ts';
import { trimEnd } from './text.ts';

/** Emits bytes in base64. */
export function base64Codec(): Codec {
  return {
    label: 'base64',
    yields: ['base64Binary'],
    columns: 1,
    inverse: 'none',
    decode: raw => {
      if (!hasBytes(raw)) return undefined;
      const bytes =
        typeof raw === 'string' ? Buffer.from(raw, 'utf8') : Buffer.from(raw.buffer, raw.byteOffset, raw.length);
      return bytes.toString('base64');
    },
    present: columns => filled(only(columns)),
    match: () => undefined,
  };
}

/** True for at least one byte, and for a text that is not blank. A column of bytes in SQLite may hold either. */
export function hasBytes(raw: SqlValue): raw is string | Uint8Array {
  return raw instanceof Uint8Array ? raw.length > 0 : typeof raw === 'string' && trimEnd(raw) !== '';
}

/** Emits a note as a file: plain text, or an HTML page around its narrative. */
export function base64OfNote(note: Codec, form: 'plain' | 'xhtml'): Codec {
  return {
    ...note,
    label: `${note.label}, base64`,
    yields: ['base64Binary'],
    decode: (...raws) => {
      const text = note.decode(...raws);
      if (typeof text !== 'string') return undefined;
      const file =
        form === 'plain'
          ? text
          : `<!DOCTYPE html><html><head><meta charset="utf-8"/></head><body>${text}</body></html>`;
      return Buffer.from(file, 'utf8').toString('base64');
    },
  };
}
