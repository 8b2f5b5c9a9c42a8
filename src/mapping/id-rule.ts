/**
 * Makes logical ids of a mapping's rows, and finds rows by ids. In: the rule of a mapping, and a key or an id. Out:
 * the other of the two.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
import { INTEGER, UNICODE } from '../sql/column-type.ts';
import { call, compare, constant, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../sql/expression.ts';
import { AS_IT_IS, ESCAPED, HYPHENS_ESCAPED, OTHER } from '../sql/shared-functions.ts';

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

/** Characters of an id. */
export const LONGEST = 64;

/** How the characters of a key are counted: src/sql/shared-functions.ts. */
export function countedAs({ name, print }: IdCodec): number {
  if (name !== 'escaped') return AS_IT_IS;
  return print('-') === '-' ? ESCAPED : HYPHENS_ESCAPED;
}

/** The most characters that an alternative of a rule prints, as far as the types of its columns tell. */
export function longestId(parts: readonly IdPart[]): number {
  return parts.reduce((sum, part) => sum + (part.kind === 'literal' ? part.text.length : longestKey(part)), 0);
}

/** What an alternative prints has no more characters than an id. Asked of rows that have all of its keys. */
export function idFits(parts: readonly IdPart[]): Predicate {
  const columns = parts.flatMap(part => (part.kind === 'column' ? [part] : []));
  if (longestId(parts) <= LONGEST) return TRUE;
  const literals = parts.reduce((sum, part) => sum + (part.kind === 'literal' ? part.text.length : 0), 0);
  const printed = columns.flatMap(part => [
    part.column.type.kind === 'text' ? part.column : call('text', [part.column], UNICODE),
    countedAs(part.codec),
  ]);
  return compare(call('id-length', printed, INTEGER), '<=', constant(LONGEST - literals, INTEGER));
}

function longestKey({ column: { type }, codec }: IdColumn): number {
  switch (type.kind) {
    case 'text': {
      if (codec.isUuid) return UUID_LENGTH;
      const each = countedAs(codec) === AS_IT_IS ? 1 : OTHER;
      return type.length === 'max' ? Number.POSITIVE_INFINITY : type.length * each;
    }
    case 'integer':
      return 1 + DIGITS[type.bits];
    case 'decimal':
      return 1 + type.precision;
    case 'date':
      return 'yyyy-mm-dd'.length;
    default:
      return UUID_LENGTH;
  }
}

const UUID_LENGTH = 36;
const DIGITS = { 8: 3, 16: 5, 32: 10, 64: 19 } as const;

/**
 * Whether a text can be the id of a resource. Asked several times per row and per read: a regular expression takes
 * longer, a table too.
 */
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
