/**
 * What the ids of a mapping's resources are made of, and back: a read finds its row by the keys that an id names.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
import type { ColumnExpression } from '../sql/expression.ts';

/** V7. The first alternative whose columns are all present makes the id. */
export interface IdRule {
  readonly alternatives: readonly (readonly IdPart[])[];
}

/** A literal, or a key. */
export type IdPart = { readonly kind: 'literal'; readonly text: string } | IdColumn;

export interface IdColumn {
  readonly kind: 'column';
  readonly column: ColumnExpression;
  readonly codec: IdCodec;
}

/** How a key column is written in an id: text as it is (blank-trimmed), integers, uuid, bytes as uuid, escaped text. */
export interface IdCodec {
  readonly name: 'plain' | 'integer' | 'uuid' | 'date' | 'escaped';
  /** Of a plain text: it is a UUID as it is written, and no other text has an id. */
  readonly isUuid?: true;
  /** The part of an id, or undefined if the key cannot be written (NULL, blank, illegal characters). */
  print(raw: string | number | Uint8Array | null): string | undefined;
  /** The column's value for a part of an id, or undefined if no row can have printed it. */
  parse(part: string): string | number | Uint8Array | undefined;
}

/** A UUID in a text, in either case, as a pattern of SQL. */
export const UUID_PATTERN: string = [8, 4, 4, 4, 12].map(digits => '[0-9A-Fa-f]'.repeat(digits)).join('-');

const LONGEST = 64;

/** Whether a text can be the id of a resource. Asked several times per row and per read: a regular expression takes longer, a table too. */
export function isLegalId(text: string): boolean {
  if (text === '' || text.length > LONGEST) return false;
  for (let at = 0; at < text.length; at++) if (!isLegal(text.charCodeAt(at))) return false;
  return true;
}

/** A letter or digit of ASCII, a point or a hyphen. */
function isLegal(code: number): boolean {
  const small = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (small >= 0x61 && small <= 0x7a) || code === 0x2d || code === 0x2e;
}
