/**
 * Parses type names of SQLite files. SQLite accepts any name and enforces almost nothing, so a file has the names of
 * the product that its schema came from: SQL Server, MySQL, PostgreSQL, Oracle. In: a declared type, or '' for none.
 * Out: a ColumnType. An unknown name gets the type of its affinity; undefined if that is NUMERIC, which says nothing
 * about the content.
 * https://sqlite.org/datatype3.html#determination_of_column_affinity
 */
import type { ColumnType } from '../column-type.ts';

/**
 * Name, arguments in parentheses, words after them: `DECIMAL(9,2)`, `INT(11) UNSIGNED`, `TIMESTAMP(6) WITH TIME ZONE`.
 */
const DECLARED = /^\s*([^()]*?)\s*(?:\((.*)\))?\s*([^()]*)$/s;
/** Words that do not change the stored value, except `unsigned`. */
const UNSIGNED = /\bunsigned\b/i;
const LAST_WORDS =
  /\s+(?:signed|unsigned|zerofill|binary|with(?:out)? (?:local )?time zone|character set \S+|collate \S+)/gi;

type Make = (first: number | undefined, second: number | undefined, unsigned: boolean) => ColumnType | undefined;

const text =
  (unicode: boolean, fixed: boolean, otherwise: number | 'max'): Make =>
  length => ({ kind: 'text', unicode, fixed, length: length ?? otherwise });
const integer =
  (bits: 16 | 32 | 64): Make =>
  (_, __, unsigned) => ({ kind: 'integer', bits: unsigned ? 64 : bits });
const decimal =
  (precision: number, scale: number): Make =>
  (first, second) => ({ kind: 'decimal', precision: first ?? precision, scale: second ?? scale });
/** SQLite does not round numbers without a scale: they keep all their digits. */
const numeric: Make = (precision, scale) =>
  precision === undefined
    ? { kind: 'decimal', precision: 38, scale: 0, any: 'numbers' }
    : { kind: 'decimal', precision, scale: scale ?? 0 };
const float: Make = () => ({ kind: 'float' });
const bit: Make = () => ({ kind: 'bit' });
const datetime: Make = () => ({ kind: 'datetime', name: 'datetime', fraction: 3 });
const binary =
  (otherwise: number | 'max'): Make =>
  length => ({ kind: 'binary', length: length ?? otherwise });

const LONG_TEXT = text(true, false, 'max');

/** By name, in lower case. */
const TYPES: ReadonlyMap<string, Make> = new Map<string, Make>([
  ['char', text(false, true, 1)],
  ['character', text(false, true, 1)],
  ['nchar', text(true, true, 1)],
  ['native character', text(true, true, 1)],
  ['bpchar', text(true, true, 'max')],
  ['varchar', text(false, false, 'max')],
  ['character varying', text(true, false, 'max')],
  ['varying character', text(true, false, 'max')],
  ['nvarchar', text(true, false, 'max')],
  ['varchar2', text(true, false, 'max')],
  ['nvarchar2', text(true, false, 'max')],
  ['sysname', text(true, false, 128)],
  ['', LONG_TEXT],
  ['string', LONG_TEXT],
  ['enum', LONG_TEXT],
  ['set', LONG_TEXT],
  ['json', LONG_TEXT],
  ['xml', LONG_TEXT],
  ['inet', LONG_TEXT],
  ['tinyint', integer(16)],
  ['smallint', integer(16)],
  ['int2', integer(16)],
  ['year', integer(16)],
  ['mediumint', integer(32)],
  ['int', integer(32)],
  ['int4', integer(32)],
  ['integer', integer(32)],
  ['serial', integer(32)],
  ['bigint', integer(64)],
  ['int8', integer(64)],
  ['bigserial', integer(64)],
  ['unsigned big int', integer(64)],
  ['bit', bit],
  ['bool', bit],
  ['boolean', bit],
  ['decimal', numeric],
  ['dec', numeric],
  ['numeric', numeric],
  ['number', numeric],
  ['money', decimal(19, 4)],
  ['smallmoney', decimal(10, 4)],
  ['float', float],
  ['float4', float],
  ['float8', float],
  ['real', float],
  ['double', float],
  ['double precision', float],
  ['date', () => ({ kind: 'date' })],
  ['datetime', datetime],
  ['datetimeoffset', datetime],
  ['timestamp', datetime],
  ['timestamptz', datetime],
  ['smalldatetime', () => ({ kind: 'datetime', name: 'smalldatetime', fraction: 0 })],
  ['datetime2', fraction => ({ kind: 'datetime', name: 'datetime2', fraction: fraction ?? 7 })],
  ['time', fraction => ({ kind: 'time', fraction: fraction ?? 7 })],
  ['uniqueidentifier', () => ({ kind: 'uuid' })],
  ['uuid', () => ({ kind: 'uuid' })],
  ['guid', () => ({ kind: 'uuid' })],
  ['binary', binary('max')],
  ['varbinary', binary('max')],
  ['raw', binary('max')],
  ['bytea', binary('max')],
  ['image', binary('max')],
  ['rowversion', () => ({ kind: 'binary', length: 8 })],
]);

/** Parses a declared type; undefined for one that says nothing about its values (`GEOGRAPHY`). */
export function parseSqliteType(declared: string): ColumnType | undefined {
  const [, before = '', within, behind = ''] = DECLARED.exec(declared) ?? [];
  const words = `${before} ${behind}`;
  const name = words.replace(LAST_WORDS, '').trim().replace(/\s+/g, ' ').toLowerCase();
  const [first, second] = (within ?? '').split(',').map(wholeNumber);
  const make = TYPES.get(name) ?? byAffinity(name);
  return make?.(first, second, UNSIGNED.test(words));
}

function wholeNumber(argument: string): number | undefined {
  const digits = argument.trim();
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

/** Applies SQLite's rules of affinity, in their order. */
function byAffinity(name: string): Make | undefined {
  if (name.includes('int')) return integer(64);
  if (/char|clob|text/.test(name)) return LONG_TEXT;
  if (name.includes('blob')) return binary('max');
  return /real|floa|doub/.test(name) ? float : undefined;
}

/** True if SQLite stores all values except bytes as text in such a column; other columns store `12` as a number. */
export function keepsTexts(declared: string): boolean {
  return !/int/i.test(declared) && /char|clob|text/i.test(declared);
}

/**
 * Returns the type that a parameter is bound as (`bindable`): SQLite's values have types of their own, whatever columns
 * declare.
 */
export function printSqliteType({ kind }: ColumnType): string {
  switch (kind) {
    case 'integer':
    case 'bit':
      return 'INTEGER';
    case 'decimal':
      return 'NUMERIC';
    case 'float':
      return 'REAL';
    case 'binary':
      return 'BLOB';
    default:
      return 'TEXT';
  }
}
