/**
 * Compares raw column values as SQL does: equality is exact, case-sensitive and ignores trailing blanks; numbers and
 * times compare by value. In: values of rows (src/sql/plan.ts), or literals of a mapping. Out: a canonical text that is
 * equal for equal values, null for NULL; and an order.
 */
import { compareDecimals } from '../mapping/codecs/decimal.ts';
import { inLayout, isComputed, layoutOf, type TimedType } from '../mapping/codecs/stored-time.ts';
import { type ColumnType, holdsAnyNumber, isSmallUuid, withoutBlanks } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';
import { printNumber, uuidOf, withoutExponent } from '../sql/shared-functions.ts';

const NUMERIC = /^([+-]?)(\d*)(?:\.(\d*))?$/;
const MOMENT = /^\s*(\d{4})-?(\d{2})-?(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+(?:~\d+)?))?)?)?\s*$/;

export type Canonical = (raw: SqlValue) => string | null;

/** Returns the function that makes canonical values of a column type. */
export function canonicalOf(type: ColumnType): Canonical {
  switch (type.kind) {
    case 'text':
      return canonicalText;
    case 'integer':
    case 'bit':
    case 'decimal':
    case 'float':
      return canonicalNumber;
    case 'date':
    case 'datetime':
    case 'instant':
      return canonicalMoment;
    case 'time':
      return canonicalTime;
    case 'uuid':
      return canonicalUuid;
    case 'binary':
      return canonicalBinary;
  }
}

/** Returns the functions for two compared columns: a text beside a number or a UUID is cast, as in a join. */
export function canonicalPair(left: ColumnType, right: ColumnType): readonly [Canonical, Canonical] {
  const [a, b] = [canonicalOf(left), canonicalOf(right)];
  if (CASTS_TEXT.has(a) && b === canonicalText) return [a, raw => a(castTo(left, right)(raw))];
  return CASTS_TEXT.has(b) && a === canonicalText ? [raw => b(castTo(right, left)(raw)), b] : [a, b];
}

const CASTS_TEXT: ReadonlySet<Canonical> = new Set([canonicalNumber, canonicalUuid]);

/**
 * Returns a function that converts our value to the column type of another table, by the rules of the dialects' `cast`;
 * null if it cannot. `from`: the type of ours.
 */
export function castTo(type: ColumnType, from?: ColumnType): (raw: SqlValue) => SqlValue {
  const cast = castOf(type, from);
  if (from?.kind !== 'text' || canonicalOf(type) !== canonicalNumber) return cast;
  const numberIn = type.kind === 'integer' ? wholeNumberIn : decimalIn;
  return raw => cast(typeof raw === 'string' ? numberIn(raw) : raw);
}

/** Returns the digits of a text that a join reads as a whole number: only trailing blanks are ignored. */
function wholeNumberIn(text: string): string | null {
  const digits = withoutBlanks(text);
  return /^-?\d+$/.test(digits) ? digits : null;
}

/** Likewise for a decimal; white space at both ends is ignored. */
function decimalIn(text: string): string | null {
  return /^[ \t\r\n]*(-?\d+(?:\.\d+)?)[ \t\r\n]*$/.exec(text)?.[1] ?? null;
}

function castOf(type: ColumnType, from: ColumnType | undefined): (raw: SqlValue) => SqlValue {
  switch (type.kind) {
    case 'text': {
      // As text, a UUID has the letter case of our rows.
      const isSmall = from !== undefined && isSmallUuid(from);
      return raw =>
        typeof raw === 'number' ? String(raw) : isSmall && typeof raw === 'string' ? raw.toLowerCase() : raw;
    }
    case 'integer':
      return raw => {
        const digits = canonicalNumber(raw);
        if (digits === null || (digits.includes('.') && !holdsAnyNumber(type))) return null;
        return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits;
      };
    case 'date':
    case 'datetime':
      return raw => inLayoutOf(type, canonicalMoment(raw));
    default:
      return canonicalOf(type);
  }
}

/** Converts a canonical moment to the layout of the column; null if the layout cannot hold it. */
function inLayoutOf(type: TimedType, canonical: string | null): string | null {
  if (canonical === null || isComputed(type)) return canonical;
  const { length } = layoutOf(type);
  return /[1-9]/.test(canonical.slice(length)) ? null : inLayout(canonical.slice(0, length), type.form);
}

/** Returns a text without trailing blanks. */
export function canonicalText(raw: SqlValue): string | null {
  if (typeof raw !== 'string') return raw === null ? null : plain(raw);
  let end = raw.length;
  while (end > 0 && raw.charCodeAt(end - 1) === 32) end--;
  return end === raw.length ? raw : raw.slice(0, end);
}

/** Returns digits without leading and trailing zeros; null for a value that is no number. */
export function canonicalNumber(raw: SqlValue): string | null {
  if (raw === null) return null;
  const text = withoutExponent(typeof raw === 'number' ? (printNumber(raw) ?? '?') : plain(raw));
  const match = NUMERIC.exec(text.trim());
  if (!match) return null;
  const [, sign, digits = '', decimals = ''] = match;
  const whole = digits.replace(/^0+/, '');
  const fraction = withoutZeros(decimals);
  if (whole === '' && fraction === '') return digits + decimals === '' ? null : '0';
  return `${sign === '-' ? '-' : ''}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Removes zeros at the end; a regular expression would take quadratic time in the number of zeros before them. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charAt(end - 1) === '0') end--;
  return digits.slice(0, end);
}

/** Returns `2024-03-10 02:30:00.1230000`, or the key of an instant that has no local time. */
export function canonicalMoment(raw: SqlValue): string | null {
  if (raw === null) return null;
  const match = MOMENT.exec(plain(raw));
  if (!match) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = ''] = match;
  return `${year}-${month}-${day} ${hour}:${minute}:${second}.${fraction.padEnd(7, '0')}`;
}

function canonicalTime(raw: SqlValue): string | null {
  if (raw === null) return null;
  const [clock = '', fraction = ''] = plain(raw).trim().split('.');
  return `${clock.padEnd(8, ':00')}.${fraction.padEnd(7, '0')}`;
}

function canonicalUuid(raw: SqlValue): string | null {
  const text = raw === null ? undefined : plain(raw).trim();
  return text === undefined ? null : (uuidOf(text) ?? text.toUpperCase());
}

function canonicalBinary(raw: SqlValue): string | null {
  if (raw === null) return null;
  return raw instanceof Uint8Array ? plain(raw) : plain(raw).trim().replace(/^0x/i, '').toUpperCase();
}

function plain(raw: Exclude<SqlValue, null>): string {
  if (typeof raw === 'string') return raw;
  return typeof raw === 'number' ? String(raw) : Buffer.from(raw).toString('hex').toUpperCase();
}

/** Compares two canonical values of a type: negative, zero or positive. */
export function compareCanonical(left: string, right: string, type: ColumnType): number {
  switch (type.kind) {
    case 'integer':
    case 'bit':
    case 'decimal':
    case 'float':
      return compareDecimals(left, right);
    default:
      return left === right ? 0 : left < right ? -1 : 1;
  }
}
