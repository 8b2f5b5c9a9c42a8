/**
 * `base64`: the bytes of a binary column, or of a text as UTF-8, as base64Binary. In: bytes or text. Out: base64. A text of
 * nothing but blanks and a binary value without a byte are absent. Output only.
 * https://hl7.org/fhir/R4/datatypes.html#base64Binary
 */
import { filled } from '../../sql/construct.ts';
import { trimEnd } from './blank.ts';
import type { Codec } from './codec.ts';
import { only } from './only.ts';

/** Bytes in base64. */
export function base64Codec(): Codec {
  return {
    label: 'base64',
    yields: ['base64Binary'],
    columns: 1,
    small: false,
    inverse: 'none',
    decode: raw => {
      if (raw instanceof Uint8Array)
        return raw.length === 0 ? undefined : Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('base64');
      return typeof raw === 'string' && trimEnd(raw) !== '' ? Buffer.from(raw, 'utf8').toString('base64') : undefined;
    },
    present: columns => filled(only(columns)),
    match: () => undefined,
  };
}
