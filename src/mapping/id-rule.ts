/**
 * Makes logical ids of a mapping's rows, and finds rows by ids. In: the rule of a mapping, and a key or an id. Out: the
 * other of the two. Only texts that a key's codec prints are read, so `007`, an upper-case UUID or a number too large
 * for the column finds nothing.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
import { type ColumnType, holdsAnyNumber, INTEGER, UNICODE } from '../sql/column-type.ts';
import { call, compare, constant, TRUE } from '../sql/construct.ts';
import type { ColumnExpression, Predicate, SqlValue } from '../sql/expression.ts';
import { AS_IT_IS, ESCAPED, HYPHENS_ESCAPED, OTHER, printNumber } from '../sql/shared-functions.ts';
import { parseDay } from '../time/calendar.ts';
import { parseInteger } from './codecs/code.ts';
import { timeInId, timeOfId } from './codecs/stored-time.ts';
import { trimEnd } from './codecs/text.ts';
import { isUuidBytes, parseUuid, printUuid } from './codecs/uuid.ts';

/** The first alternative whose columns are all present makes the id. */
export interface IdRule {
  readonly alternatives: readonly (readonly IdPart[])[];
}

/** A literal, or a key. */
export type IdPart = { readonly kind: 'literal'; readonly text: string } | IdColumn;

/** Returns the columns that an id is made of. */
export function columnsIn(parts: readonly IdPart[]): readonly ColumnExpression[] {
  return parts.flatMap(part => (part.kind === 'column' ? [part.column] : []));
}

export interface IdColumn {
  readonly kind: 'column';
  readonly column: ColumnExpression;
  readonly codec: IdCodec;
}

/**
 * A whole number of one column, in each spelling that a row may have: `17`, and in a text `017`, `0017` …, ` 17` ….
 * Each spelling has a codec of its own, and all print the same.
 */
export type NumberRule = readonly [first: readonly [IdColumn], ...others: readonly (readonly [IdColumn])[]];

/** How a key is written in an id: blank-trimmed text, number, uuid or its bytes, day, moment, escaped text. */
export interface IdCodec {
  readonly name: 'plain' | 'integer' | 'decimal' | 'uuid' | 'date' | 'datetime' | 'escaped';
  /** For a plain text: only UUIDs make an id, as written. */
  readonly isUuid?: true;
  /** Digits before those of the column in a number of the REST interface. */
  readonly prefix?: string;
  /** Returns the part of an id; undefined if the key cannot be written (NULL, blank, illegal characters). */
  print(raw: string | number | Uint8Array | null): string | undefined;
  /** Returns the column's value for a part of an id; undefined if no row can have printed it. */
  parse(part: string): string | number | Uint8Array | undefined;
}

/** SQL pattern of a UUID in a text, in either case. */
export const UUID_PATTERN: string = [8, 4, 4, 4, 12].map(digits => '[0-9A-Fa-f]'.repeat(digits)).join('-');

/** Most characters of an id. */
export const LONGEST = 64;

/** Returns how the characters of a key are counted: src/sql/shared-functions.ts. */
export function countedAs({ name, print }: IdCodec): number {
  if (name !== 'escaped') return AS_IT_IS;
  return print('-') === '-' ? ESCAPED : HYPHENS_ESCAPED;
}

/** Returns the most characters that an alternative of a rule prints, as far as the types of its columns tell. */
export function longestId(parts: readonly IdPart[]): number {
  return parts.reduce(
    (sum, part) => sum + (part.kind === 'literal' ? part.text.length : longestKey(part.column.type, part.codec)),
    0,
  );
}

/** Tests that an alternative prints no more characters than an id has. For rows that have all of its keys. */
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

/** Returns the most characters that a column prints, as far as its type tells. */
export function longestKey(type: ColumnType, codec: IdCodec): number {
  switch (type.kind) {
    case 'text': {
      if (codec.isUuid) return UUID_LENGTH;
      const each = countedAs(codec) === AS_IT_IS ? 1 : OTHER;
      return type.length === 'max' ? Number.POSITIVE_INFINITY : type.length * each;
    }
    case 'integer':
      return 1 + DIGITS[type.bits];
    case 'decimal':
      // A sign; with a scale also the point, and a zero before it.
      return (type.scale > 0 ? 3 : 1) + type.precision;
    case 'float':
      return 1 + DIGITS[64];
    case 'date':
      return 'yyyy-mm-dd'.length;
    case 'datetime':
      return 'yyyy-mm-dd hh:mm:ss.1234567'.length;
    default:
      return UUID_LENGTH;
  }
}

const UUID_LENGTH = 36;
const DIGITS = { 8: 3, 16: 5, 32: 10, 64: 19 } as const;

/**
 * True if a text can be the id of a resource. It runs several times per row and per read, and a regular expression or a
 * table would take longer.
 */
export function isLegalId(text: string): boolean {
  if (text === '' || text.length > LONGEST) return false;
  for (let at = 0; at < text.length; at++) if (!isLegal(text.charCodeAt(at))) return false;
  return true;
}

/** True for an ASCII letter or digit, a point or a hyphen. */
function isLegal(code: number): boolean {
  const small = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || (small >= 0x61 && small <= 0x7a) || code === 0x2d || code === 0x2e;
}

const ESCAPED_ID = /^(?:[A-Za-z0-9-]|\.(?:[0-9A-F]{2})){1,64}$/;
const DASH = '.2D';

/** Texts that need no escapes, which are most. */
const UNESCAPED = /^[A-Za-z0-9-]{1,64}$/;
const WITHOUT_DASH = /^[A-Za-z0-9]{1,64}$/;

/**
 * Returns the codec of a name, or of a column's type; undefined if the column cannot be used in an id that way.
 * `escaped-dash` is for an id with literal hyphens and another text.
 */
export function idCodec(name: string | undefined, type: ColumnType): IdCodec | undefined {
  switch (name ?? defaultName(type)) {
    case 'plain':
      return type.kind === 'text' ? { name: 'plain', print: printPlain, parse: parsePlain } : undefined;
    case 'escaped':
      return type.kind === 'text' ? escaped(printEscaped, UNESCAPED) : undefined;
    case 'escaped-dash':
      return type.kind === 'text' ? escaped(printWithoutDash, WITHOUT_DASH) : undefined;
    case 'integer':
      return integer(type);
    case 'decimal':
      return decimal(type);
    case 'uuid':
      if (type.kind === 'text' && (type.length === 'max' || type.length >= 36))
        return {
          name: 'plain',
          isUuid: true,
          print: printUuidText,
          parse: part => (UUID_TEXT.test(part) ? part : undefined),
        };
      if (type.kind !== 'uuid' && !isUuidBytes(type)) return undefined;
      return roundTrip('uuid', printUuid, part => parseUuid(part, type));
    case 'date':
      return type.kind === 'date' ? roundTrip('date', printDate, part => part) : undefined;
    case 'datetime':
      return type.kind === 'datetime'
        ? roundTrip(
            'datetime',
            raw => timeInId(raw, type),
            part => timeOfId(part, type),
          )
        : undefined;
    default:
      return undefined;
  }
}

function defaultName(type: ColumnType): IdCodec['name'] | undefined {
  switch (type.kind) {
    case 'text':
      return 'plain';
    case 'integer':
    case 'float':
      return 'integer';
    case 'decimal':
      return type.scale > 0 ? 'decimal' : 'integer';
    case 'uuid':
    case 'binary':
      return 'uuid';
    case 'date':
    case 'datetime':
      return type.kind;
    default:
      return undefined;
  }
}

function integer(type: ColumnType): IdCodec | undefined {
  if (type.kind === 'integer') {
    // It accepts only the spelling that is printed.
    return { name: 'integer', print: printInteger, parse: part => parseInteger(part, type.bits) };
  }
  // A float of 32 bits is written by more than one whole number.
  if (type.kind === 'float') return type.single ? undefined : roundTrip('integer', printWhole, parseWhole);
  if (type.kind !== 'decimal' || type.scale > 0) return undefined;
  if (holdsAnyNumber(type)) return { name: 'integer', print: printInteger, parse: part => parseInteger(part, 64) };
  const fits = (part: string): string | undefined =>
    /^(?:0|-?[1-9]\d*)$/.test(part) && part.replace('-', '').length <= type.precision ? part : undefined;
  return roundTrip('integer', printInteger, fits);
}

/**
 * Writes a decimal with all digits of its scale, as engines convert it to a text. Rows that hold other numbers than the
 * type says would have no such text.
 */
function decimal(type: ColumnType): IdCodec | undefined {
  if (type.kind !== 'decimal' || type.scale === 0 || holdsAnyNumber(type)) return undefined;
  const { precision, scale } = type;
  const form = new RegExp(`^-?(?:0|[1-9]\\d{0,${Math.max(precision - scale, 1) - 1}})\\.\\d{${scale}}$`);
  const print = (raw: SqlValue): string | undefined => {
    const text = typeof raw === 'number' ? printNumber(raw, scale) : typeof raw === 'string' ? raw : undefined;
    return text !== undefined && form.test(text) ? text : undefined;
  };
  return roundTrip('decimal', print, part => (/^-[0.]*$/.test(part) ? undefined : part));
}

/** Most digits of a text that is a whole number. More would lose some in JSON, and in `call('number', …)`. */
export const NUMBER_DIGITS = 15;

/** Most characters of a text whose number stands at the right, behind blanks. */
export const NUMBER_WIDTH = 20;

/** Reads a number in a text of so many digits, with leading zeros. */
export function digitsCodec(length: number): IdCodec {
  return textNumber(part => (part.length <= length ? part.padStart(length, '0') : undefined));
}

/** Reads a number at the right of a text of so many characters, `        1000`, with blanks before it. */
export function alignedCodec(width: number): IdCodec {
  return textNumber(part => (part.length < width ? part.padStart(width, ' ') : undefined));
}

function textNumber(spell: (number: string) => string | undefined): IdCodec {
  return {
    name: 'integer',
    print: raw => {
      const text = typeof raw === 'string' ? trimEnd(raw) : '';
      const [, digits = ''] = text.length > NUMBER_WIDTH ? [] : (NUMBER_TEXT.exec(text) ?? []);
      return digits !== '' && digits.length <= NUMBER_DIGITS ? String(Number(digits)) : undefined;
    },
    parse: part => (/^(?:0|[1-9]\d*)$/.test(part) ? spell(part) : undefined),
  };
}

/** Leading zeros or leading blanks, and not both: each width has one spelling of each. */
const NUMBER_TEXT = /^(?: +(?=[1-9]|0$))?(\d+)$/;

/** Puts digits before numbers, so that those of two tables differ. */
export function prefixedCodec(prefix: string, codec: IdCodec): IdCodec {
  return {
    ...codec,
    prefix,
    print: raw => {
      const number = codec.print(raw);
      return number === undefined ? undefined : prefix + number;
    },
    parse: part => (part.startsWith(prefix) ? codec.parse(part.slice(prefix.length)) : undefined),
  };
}

function printInteger(raw: SqlValue): string | undefined {
  return (typeof raw === 'number' && Number.isInteger(raw)) || (typeof raw === 'string' && /^-?\d+$/.test(raw))
    ? String(raw)
    : undefined;
}

/** Prints a float that is a whole number of 64 bits, which is what engines can test. */
function printWhole(raw: SqlValue): string | undefined {
  const number = raw === null ? Number.NaN : Number(raw);
  return Number.isInteger(number) && number >= -(2 ** 63) && number < 2 ** 63 ? String(number) : undefined;
}

function parseWhole(part: string): number | undefined {
  return /^(?:0|-?[1-9]\d{0,18})$/.test(part) ? Number(part) : undefined;
}

/** Prints `2024-03-10`; a text that is no day makes no id. */
function printDate(raw: SqlValue): string | undefined {
  return typeof raw === 'string' && raw.length === 10 && parseDay(raw) !== undefined ? raw : undefined;
}

function printPlain(raw: SqlValue): string | undefined {
  const text = typeof raw === 'string' ? trimEnd(raw) : '';
  return isLegalId(text) ? text : undefined;
}

/** Prints the UUID as written, because ids are case-sensitive. */
function printUuidText(raw: SqlValue): string | undefined {
  const text = typeof raw === 'string' ? trimEnd(raw) : '';
  return UUID_TEXT.test(text) ? text : undefined;
}

const UUID_TEXT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function parsePlain(part: string): string | undefined {
  return isLegalId(part) ? part : undefined;
}

/** `same`: parts without escapes. */
function escaped(print: IdCodec['print'], same: RegExp): IdCodec {
  const codec = roundTrip('escaped', print, parseEscaped);
  return { ...codec, parse: part => (same.test(part) ? part : codec.parse(part)) };
}

/** Escapes every byte of UTF-8 that an id cannot have, and the point, as a point and two hexadecimal digits. */
function printEscaped(raw: SqlValue): string | undefined {
  const text = typeof raw === 'string' ? trimEnd(raw) : '';
  if (UNESCAPED.test(text)) return text;
  if (!text.isWellFormed()) return undefined;
  const escaped = text.replace(/[^A-Za-z0-9-]/gu, character =>
    [...Buffer.from(character, 'utf8')].map(byte => `.${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  return isLegalId(escaped) ? escaped : undefined;
}

/** Also escapes the hyphen, which then ends the part. */
function printWithoutDash(raw: SqlValue): string | undefined {
  const text = printEscaped(raw)?.replaceAll('-', DASH);
  return text !== undefined && isLegalId(text) ? text : undefined;
}

function parseEscaped(part: string): string | undefined {
  if (!ESCAPED_ID.test(part)) return undefined;
  const bytes = part.replace(/\.(..)|(.)/g, (_, hex, character) => hex ?? Buffer.from(character).toString('hex'));
  return Buffer.from(bytes, 'hex').toString('utf8');
}

function roundTrip(
  name: IdCodec['name'],
  print: (raw: SqlValue) => string | undefined,
  parse: (part: string) => string | number | Uint8Array | undefined,
): IdCodec {
  return {
    name,
    print,
    parse: part => {
      const raw = parse(part);
      return raw !== undefined && print(raw) === part ? raw : undefined;
    },
  };
}
