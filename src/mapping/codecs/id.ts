/**
 * Key columns in logical ids. In: a key's raw value, or a part of an id. Out: the other one. Only texts that the codec
 * prints are read, so that `007`, an upper-case UUID or a number too large for the column finds nothing.
 * https://hl7.org/fhir/R4/datatypes.html#id
 */
import { type ColumnType, holdsAnyNumber } from '../../sql/column-type.ts';
import type { SqlValue } from '../../sql/expression.ts';
import { parseDay } from '../../time/calendar.ts';
import { type IdCodec, isLegalId } from '../id-rule.ts';
import { trimEnd } from './blank.ts';
import { parseInteger } from './integer-text.ts';
import { isUuidBytes, parseUuid, printUuid } from './uuid.ts';

const ESCAPED = /^(?:[A-Za-z0-9-]|\.(?:[0-9A-F]{2})){1,64}$/;
const DASH = '.2D';

/** Texts of which nothing is escaped: most there are. */
const UNESCAPED = /^[A-Za-z0-9-]{1,64}$/;
const WITHOUT_DASH = /^[A-Za-z0-9]{1,64}$/;

/**
 * The codec of a name, or the one that a column's type calls for; undefined if the column cannot stand in an id so.
 * `escaped-dash` is for an id that has hyphens of its own and another text.
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
    default:
      return undefined;
  }
}

function defaultName(type: ColumnType): IdCodec['name'] | undefined {
  switch (type.kind) {
    case 'text':
      return 'plain';
    case 'integer':
    case 'decimal':
      return 'integer';
    case 'uuid':
    case 'binary':
      return 'uuid';
    case 'date':
      return 'date';
    default:
      return undefined;
  }
}

function integer(type: ColumnType): IdCodec | undefined {
  if (type.kind === 'integer') {
    // Of each number it takes the one spelling that is printed.
    return { name: 'integer', print: printInteger, parse: part => parseInteger(part, type.bits) };
  }
  if (type.kind !== 'decimal' || type.scale > 0) return undefined;
  if (holdsAnyNumber(type)) return { name: 'integer', print: printInteger, parse: part => parseInteger(part, 64) };
  const fits = (part: string): string | undefined =>
    /^(?:0|-?[1-9]\d*)$/.test(part) && part.replace('-', '').length <= type.precision ? part : undefined;
  return roundTrip('integer', printInteger, fits);
}

function printInteger(raw: SqlValue): string | undefined {
  return (typeof raw === 'number' && Number.isInteger(raw)) || (typeof raw === 'string' && /^-?\d+$/.test(raw))
    ? String(raw)
    : undefined;
}

/** `2024-03-10`; a text that is no day stands in no id. */
function printDate(raw: SqlValue): string | undefined {
  return typeof raw === 'string' && raw.length === 10 && parseDay(raw) !== undefined ? raw : undefined;
}

function printPlain(raw: SqlValue): string | undefined {
  const text = typeof raw === 'string' ? trimEnd(raw) : '';
  return isLegalId(text) ? text : undefined;
}

/** As it is written: an id has case. */
function printUuidText(raw: SqlValue): string | undefined {
  const text = typeof raw === 'string' ? trimEnd(raw) : '';
  return UUID_TEXT.test(text) ? text : undefined;
}

const UUID_TEXT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function parsePlain(part: string): string | undefined {
  return isLegalId(part) ? part : undefined;
}

/** `same`: parts that stand for themselves. */
function escaped(print: IdCodec['print'], same: RegExp): IdCodec {
  const codec = roundTrip('escaped', print, parseEscaped);
  return { ...codec, parse: part => (same.test(part) ? part : codec.parse(part)) };
}

/** Every byte of UTF-8 that an id cannot have, and the point, as a point and two hexadecimal digits. */
function printEscaped(raw: SqlValue): string | undefined {
  const text = typeof raw === 'string' ? trimEnd(raw) : '';
  if (UNESCAPED.test(text)) return text;
  if (!text.isWellFormed()) return undefined;
  const escaped = text.replace(/[^A-Za-z0-9-]/gu, character =>
    [...Buffer.from(character, 'utf8')].map(byte => `.${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
  return isLegalId(escaped) ? escaped : undefined;
}

/** Likewise the hyphen, which then ends the part. */
function printWithoutDash(raw: SqlValue): string | undefined {
  const text = printEscaped(raw)?.replaceAll('-', DASH);
  return text !== undefined && isLegalId(text) ? text : undefined;
}

function parseEscaped(part: string): string | undefined {
  if (!ESCAPED.test(part)) return undefined;
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
