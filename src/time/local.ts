/**
 * Local times as texts, and the sort keys of times. In: milliseconds of the wall clock, or a text. Out: the other.
 */
import { DAY, digits, pad, parseClock, parseDay, printDay, printTime, twoDigits } from './calendar.ts';

const BLANK = 32;
const COLON = 58;
const T = 84;

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

/** `2024-03-10 02:30:00.123` with as many digits of a second as asked for. */
export function printLocal(local: number, fraction: number): string {
  const text = `${printDay(Math.floor(local / DAY))} ${printTime(local)}`;
  if (fraction === 0) return text;
  const millisecond = pad(((local % 1000) + 1000) % 1000, 3);
  return `${text}.${millisecond.slice(0, fraction).padEnd(fraction, '0')}`;
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
 * The parts of a sort key: the packed day as written, the first local time it means, and what is beyond its
 * millisecond, in units of 100 ns: all 10,000 of them for an instant that no local time is written for (instantKey in
 * instant-key.ts).
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
