/**
 * Converts stored values. In: a stored value, and the declared type of its column. Out: its form for messages, without
 * the value; and the value in the form of rows (src/sql/plan.ts), made without the dialects, so that a plan that rounds
 * or truncates is noticed.
 */
import { getOrInsert } from '../common/caches.ts';
import { type ColumnType, holdsAnyNumber, isMixed } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';
import { uuidOf } from '../sql/shared-functions.ts';
import { readDay, readMoment, readTime } from '../time/written.ts';
import { UTC, zoneOf } from '../time/zone.ts';
import { Unjudged } from './thing.ts';

/** Most characters of a form in a message. */
const SHOWN = 24;

/** Returns `9999-99-99 99:99`, `AAA^AAA`, `REAL, 1 decimal`, `NULL`: letters and digits are masked, the rest stays. */
export function formOf(stored: SqlValue): string {
  if (stored === null) return 'NULL';
  if (stored instanceof Uint8Array) return `${stored.length} bytes`;
  if (typeof stored === 'number') {
    if (Number.isInteger(stored)) return `a whole number, ${String(Math.abs(stored)).length} digits`;
    const decimals = plainDigits(stored).split('.')[1]?.length ?? 0;
    return `REAL, ${decimals} ${decimals === 1 ? 'decimal' : 'decimals'}`;
  }
  if (stored.trim() === '') return stored === '' ? 'an empty text' : 'a text of blanks';
  const masked = stored.replace(/\p{L}|\p{M}/gu, 'A').replace(/\p{N}/gu, '9');
  return masked.length > SHOWN ? `${masked.slice(0, SHOWN)}… (${stored.length} characters)` : masked;
}

/** Returns the digits of a binary float without an exponent: the shortest that identify this float. */
export function plainDigits(number: number): string {
  const [mantissa = '', exponent] = String(number).split('e');
  if (exponent === undefined) return mantissa;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, '0').slice(0, point)}${digits.length > point ? `.${digits.slice(point)}` : ''}`;
}

/** Converts a stored value to that of a row. Throws Unjudged if the column holds what its type does not allow. */
export function asRowValue(stored: SqlValue, type: ColumnType): SqlValue {
  if (stored === null) return null;
  switch (type.kind) {
    case 'text':
      if (stored instanceof Uint8Array) throw new Unjudged();
      return typeof stored === 'number' ? String(stored) : stored;
    case 'integer':
    case 'bit':
    case 'float':
      return asNumber(stored, type);
    case 'decimal': {
      const number = asNumber(stored, type);
      const digits = typeof number === 'number' ? plainDigits(number) : number;
      return typeof digits === 'string' ? filledUp(digits, type.scale) : digits;
    }
    case 'date':
    case 'datetime':
    case 'time': {
      if (isMixed(type) && isApartFromTimes(stored, type.kind)) return null;
      // A layout found in all rows is returned as stored; several forms are returned as one canonical text.
      if (type.form?.kind === 'layout') return stored;
      if (type.form?.kind === 'any') return canonicalTime(stored, type, type.form.zone);
      if (typeof stored !== 'string') throw new Unjudged();
      return type.kind === 'time' ? stored : asMoment(stored, type);
    }
    case 'instant':
      if (typeof stored !== 'string') throw new Unjudged();
      return asInstant(stored, type);
    case 'uuid':
      // A text that is no UUID means no value.
      return typeof stored === 'string' ? (uuidOf(stored) ?? null) : null;
    case 'binary':
      return stored;
  }
}

/** Adds digits after the point up to the declared scale: as text `60` of a DECIMAL(6,2) is `60.00`. */
function filledUp(digits: string, scale: number): string {
  const [whole = '', fraction = ''] = digits.split('.');
  return scale === 0 && fraction === '' ? whole : `${whole}.${fraction.padEnd(scale, '0')}`;
}

function asNumber(stored: Exclude<SqlValue, null>, type: ColumnType): SqlValue {
  if (holdsAnyNumber(type) && typeof stored === 'number') {
    if (!Number.isFinite(stored)) throw new Unjudged();
    return plainDigits(stored);
  }
  if (typeof stored === 'number') {
    if (type.kind === 'integer' && type.bits === 64) return String(stored);
    return stored;
  }
  // A whole number beyond 2^53 arrives as its digits, even if its column is declared narrower.
  if (typeof stored === 'string' && /^-?\d+$/.test(stored) && !Number.isSafeInteger(Number(stored))) return stored;
  // Other values in a column of numbers mean no value.
  if (isMixed(type)) return null;
  // Other values in a column of numbers are not judged here.
  if (typeof stored !== 'string' || !/^-?\d+(\.\d+)?$/.test(stored)) throw new Unjudged();
  if (type.kind === 'decimal' || (type.kind === 'integer' && type.bits === 64)) return stored;
  return Number(stored);
}

/** True for values that sort before or after all dates and times: they mean no value. */
function isApartFromTimes(stored: SqlValue, kind: 'date' | 'datetime' | 'time'): boolean {
  return typeof stored !== 'string' || stored < (kind === 'time' ? '00:' : '0001-01-01') || stored >= ':';
}

/** Returns the canonical text. A number or bytes are no time; readings.ts compares the reading of the text. */
function canonicalTime(stored: SqlValue, type: ColumnType, zone: string): string | null {
  if (typeof stored !== 'string') return null;
  const read = type.kind === 'date' ? readDay : type.kind === 'time' ? readTime : readMoment;
  return read(stored, zoneOf(zone)) ?? null;
}

const MOMENT = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * Returns `2024-03-10 02:30:00.000`, or the day alone. Only for the column's plain form, because other forms are not
 * read here.
 */
function asMoment(stored: string, type: ColumnType & { readonly kind: 'date' | 'datetime' }): string | null {
  if (type.form?.kind === 'layout') return stored;
  const match = MOMENT.exec(stored.trim());
  const isAny = type.form?.kind === 'any';
  if (!match && isAny) throw new Unjudged();
  if (!match) return stored;
  if (isAny && !isDay(match[1], match[2], match[3])) return null;
  const [, year, month, day, hour, minute, second, fraction = '', offset] = match;
  if (offset !== undefined || (type.kind === 'date') !== (hour === undefined)) throw new Unjudged();
  if (type.kind === 'date') return `${year}-${month}-${day}`;
  const clock = `${year}-${month}-${day} ${hour}:${minute}:${second ?? '00'}`;
  const digits = Math.max(type.fraction, fraction.length);
  return digits === 0 ? clock : `${clock}.${fraction.padEnd(digits, '0')}`;
}

/** Converts `2024-03-10 08:30:00.0000000 -05:00` to UTC. */
function asInstant(stored: string, { fraction }: ColumnType & { readonly kind: 'instant' }): string {
  const key = readMoment(stored, UTC);
  if (key === undefined) throw new Unjudged();
  return fraction === 0 ? key.slice(0, 19) : key.slice(0, 20 + fraction);
}

/** True if the calendar has the day. */
function isDay(year = '', month = '', day = ''): boolean {
  const at = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return Number(year) > 0 && !Number.isNaN(at.getTime()) && at.getUTCDate() === Number(day);
}

/**
 * True if an emitted date, time or instant agrees with a stored text, to the precision of the coarser. A local time
 * that clocks skip may have the offset from before or after the change.
 */
export function agreesInTime(emitted: string, stored: string, zone: string): boolean {
  // A column of days means the day as written, whatever time and offset follow it.
  if (/^\d{4}-\d\d-\d\d$/.test(emitted) && stored.trim().startsWith(emitted)) return true;
  const [ours, theirs] = [wallClock(emitted, zone), wallClock(stored, zone)];
  if (!ours || !theirs) return false;
  const same = (a: string, b: string): boolean => {
    const common = Math.min(a.length, b.length);
    return a.slice(0, common) === b.slice(0, common);
  };
  if (same(ours, theirs)) return true;
  // Before 1900 the offset of 1900 is used, which differs from the clocks of the zone.
  if (theirs < '1900' && same(emitted.replace(/(?:Z|[+-]\d\d:\d\d)$/, '').replace(/\D/g, ''), theirs)) return true;
  const [, local = '', offset = ''] = /^(.*)([+-]\d\d:\d\d)$/.exec(emitted) ?? [];
  if (local === '') return false;
  const said = Date.parse(`${local}${offset}`);
  const isNear = [-1, 1].some(days => {
    const near = new Date(said + days * 86_400_000).toISOString();
    const shown = wallClock(near, zone);
    const [, y, mo, d, h, mi] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)/.exec(shown ?? '') ?? [];
    const ahead = Date.parse(`${y}-${mo}-${d}T${h}:${mi}Z`) - Date.parse(near.replace(/:\d\d\.\d+Z/, 'Z'));
    return ahead === Date.parse(`${local}Z`) - said;
  });
  return isNear && same(wallClock(local, zone) ?? '', theirs);
}

/** Returns `20240310023000123` on clocks of the zone, to the precision of the text; undefined if it is no moment. */
function wallClock(text: string, zone: string): string | undefined {
  const match = MOMENT.exec(text.trim());
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  if (offset === undefined || hour === undefined)
    return [year, month, day, hour, minute, second, fraction?.padEnd(3, '0').slice(0, 3)].join('');
  const zulu = offset.toUpperCase() === 'Z' ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
  const instant = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second ?? '00'}${zulu}`);
  if (Number.isNaN(instant)) return undefined;
  const shown = clockOf(zone).formatToParts(instant);
  const part = (name: Intl.DateTimeFormatPartTypes): string => shown.find(({ type }) => type === name)?.value ?? '';
  const parts = [part('year').padStart(4, '0'), part('month'), part('day'), part('hour'), part('minute')];
  return [...parts, second && part('second'), fraction?.padEnd(3, '0').slice(0, 3)].join('');
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(zone: string): Intl.DateTimeFormat {
  const digits = '2-digit';
  const make = (): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat('en-US', {
      ...{ timeZone: zone, calendar: 'iso8601', hourCycle: 'h23', year: 'numeric' },
      ...{ month: digits, day: digits, hour: digits, minute: digits, second: digits },
    });
  return getOrInsert(clocks, zone, make);
}
