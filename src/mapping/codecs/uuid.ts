/**
 * `uuid`: UNIQUEIDENTIFIER, and a binary column that holds the bytes in the order of the text. In: upper-case text or
 * sixteen bytes. Out: lower-case text. Searches compare the typed value with the bare column. Any other number of bytes
 * is absent.
 * https://www.rfc-editor.org/rfc/rfc9562#section-4
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { call, compare, FALSE, isNull, not, value } from '../../sql/construct.ts';
import type { SqlValue } from '../../sql/expression.ts';
import { CODE_ORDER } from './code.ts';
import { type Codec, only } from './codec.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads UUIDs as lower-case text. */
export function uuidCodec(columnType: ColumnType): Codec {
  return {
    label: 'uuid',
    yields: ['string', 'code', 'id', 'uri'],
    columns: 1,
    plain: true,
    inverse: columnType.kind === 'uuid' && columnType.letters === 'any' ? 'computed' : 'indexed',
    decode: printUuid,
    present: columns =>
      not(isNull(columnType.kind === 'binary' ? call('uuid', [only(columns)], UNICODE) : only(columns))),
    match: (columns, criterion) => {
      // A UUID has no slash, so nothing is below it but itself.
      if (criterion.kind !== 'exact' && criterion.kind !== 'uri-below') return undefined;
      const isAnyCase = criterion.kind === 'exact' && criterion.anyCase !== undefined;
      const raw = parseUuid(isAnyCase ? criterion.text.toLowerCase() : criterion.text, columnType);
      return raw === undefined ? FALSE : compare(only(columns), '=', value(raw, columnType));
    },
    // SQL Server does not order UUIDs as their texts.
    order: { ...CODE_ORDER, by: columns => [call('uuid', [only(columns)], UNICODE)] },
  };
}

/** True for a binary column that can hold the sixteen bytes of a UUID. */
export function isUuidBytes(type: ColumnType | undefined): type is ColumnType & { readonly kind: 'binary' } {
  return type?.kind === 'binary' && (type.length === 'max' || type.length >= 16);
}

/** Returns the lower-case text of a stored UUID; undefined if it is none. */
export function printUuid(raw: SqlValue): string | undefined {
  if (raw instanceof Uint8Array) {
    if (raw.length !== 16) return undefined;
    const hex = Buffer.from(raw.buffer, raw.byteOffset, 16).toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }
  const text = typeof raw === 'string' ? raw.toLowerCase() : '';
  return UUID.test(text) ? text : undefined;
}

/** Returns the stored form of lower-case text; undefined for any other spelling, because it is never emitted. */
export function parseUuid(text: string, type: ColumnType): string | Uint8Array | undefined {
  if (!UUID.test(text)) return undefined;
  return type.kind === 'binary' ? new Uint8Array(Buffer.from(text.replaceAll('-', ''), 'hex')) : text.toUpperCase();
}
