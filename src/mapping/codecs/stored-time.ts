/**
 * How date and time columns store local times: which texts arrive from them, which literals compare with them, what they
 * can hold. DATETIME keeps 1/300 s and SMALLDATETIME minutes, and both round a parameter, so an end of a range is first
 * raised to the next time that the column can hold.
 * https://learn.microsoft.com/sql/t-sql/data-types/date-and-time-types
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { value } from '../../sql/construct.ts';
import type { Expression } from '../../sql/expression.ts';
import {
  DAY,
  digits,
  END_DAY,
  FIRST_DAY,
  pad,
  parseClock,
  parseDay,
  printDay,
  printTime,
  twoDigits,
} from './calendar.ts';

export type TimedType = Extract<ColumnType, { kind: 'date' | 'datetime' }>;

export function isTimed(type: ColumnType | undefined): type is TimedType {
  return type?.kind === 'date' || type?.kind === 'datetime';
}

/** Local time in whole milliseconds of `2024-03-10 02:30:00.123` or `2024-03-10`; undefined if it is no local time. */
export function parseLocal(text: string): number | undefined {
  const day = parseDay(text);
  if (day === undefined) return undefined;
  if (text.length === 10) return day * DAY;
  if (text.length < 19 || text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return undefined;
  const separator = text.charCodeAt(10);
  if (separator !== BLANK && separator !== T) return undefined;
  const time = parseClock(twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17));
  if (time === undefined) return undefined;
  let millisecond = 0;
  if (text.length > 19) {
    if (text[19] !== '.' || text.length < 21 || Number.isNaN(digits(text, 20, text.length))) return undefined;
    for (let i = 20, unit = 100; i < 23 && i < text.length; i++, unit /= 10)
      millisecond += digits(text, i, i + 1) * unit;
  }
  return day * DAY + time + millisecond;
}

const BLANK = 32;
const COLON = 58;
const T = 84;

/** `2024-03-10 02:30:00.123` with as many digits of a second as asked for. */
export function printLocal(local: number, fraction: number): string {
  const text = `${printDay(Math.floor(local / DAY))} ${printTime(local)}`;
  if (fraction === 0) return text;
  const millisecond = pad(((local % 1000) + 1000) % 1000, 3);
  return `${text}.${millisecond.slice(0, fraction).padEnd(fraction, '0')}`;
}

/** The lowest local time at or after `local` that a column can hold; times before its first one stay what they are. */
function raise(local: number, type: TimedType): number {
  if (type.kind === 'date') return Math.ceil(local / DAY) * DAY;
  if (type.name === 'smalldatetime') return Math.ceil(local / 60_000) * 60_000;
  if (type.name === 'datetime2') {
    const step = 10 ** Math.max(0, 3 - type.fraction);
    return Math.ceil(local / step) * step;
  }
  // Thirds of a hundredth, written with three digits: …0, …3 and …7.
  const digit = ((local % 10) + 10) % 10;
  return local + ([0, 2, 1, 0, 3, 2, 1, 0, 2, 1][digit] ?? 0);
}

/** The first local time that a column can hold, and the end of those that it can. */
export function bounds(type: TimedType): { readonly first: number; readonly end: number } {
  if (type.kind === 'datetime' && type.name === 'datetime') return { first: Date.UTC(1753, 0, 1), end: END_DAY * DAY };
  if (type.kind === 'datetime' && type.name === 'smalldatetime')
    return { first: Date.UTC(1900, 0, 1), end: Date.UTC(2079, 5, 7) };
  return { first: FIRST_DAY * DAY, end: END_DAY * DAY };
}

/** The end of a range as the column stores it. */
export function timeLiteral(local: number, type: TimedType): Expression {
  const raised = raise(local, type);
  const text = type.kind === 'date' ? printDay(raised / DAY) : printLocal(raised, type.fraction);
  return value(text, type);
}

/**
 * The sort key that all date codecs share: `2024-03-10 02:30:00.1234567`, ordered as text. A month or year is
 * `2024-03-00 …` or `2024-00-00 …`, and so comes before its first day.
 */
export function timeKey(text: string): string {
  const [seconds = '', fraction = ''] = (text.slice(11) || '00:00:00').split('.');
  return `${text.slice(0, 10)} ${seconds}.${fraction.padEnd(7, '0')}`;
}

/**
 * The parts of a sort key: the packed day as written, the first local time it means, and what is beyond its millisecond, in
 * units of 100 ns: all 10,000 of them for an instant that no local time is written for (instantKey in instant-key.ts).
 */
export function parseTimeKey(key: string): { packed: number; local: number; rest: number } {
  const year = digits(key, 0, 4);
  const month = digits(key, 5, 7);
  const day = digits(key, 8, 10);
  // A key without a time of day is that of a day on which no time is known.
  const first = `${key.slice(0, 5)}${pad(Math.max(1, month), 2)}-${pad(Math.max(1, day), 2)}${key.slice(10, 23)}`;
  return {
    packed: year * 10_000 + month * 100 + day,
    local: parseLocal(first) ?? 0,
    rest: key.length > 27 ? 10_000 : key.length > 23 ? digits(key, 23, 27) : 0,
  };
}

/** The first stored text whose key is at or after a key; undefined if the column can hold none. */
export function storedFromKey(key: string, type: TimedType): string | undefined {
  const { local, rest } = parseTimeKey(key);
  const { first, end } = bounds(type);
  if (type.kind === 'datetime' && type.fraction > 3) {
    const unit = 10 ** (7 - type.fraction);
    const raised = Math.ceil(rest / unit);
    const carried = raised * unit >= 10_000;
    const held = carried ? local + 1 : local;
    return held < end ? `${printLocal(held, 3)}${pad(carried ? 0 : raised, type.fraction - 3)}` : undefined;
  }
  const held = Math.max(first, raise(rest > 0 ? local + 1 : local, type));
  if (held >= end) return undefined;
  return type.kind === 'date' ? printDay(Math.floor(held / DAY)) : printLocal(held, type.fraction);
}
