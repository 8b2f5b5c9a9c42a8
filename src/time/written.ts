/**
 * Reads dates and times of SQLite files in any ISO spelling: `2024-03-10`, `2024-03-10 02:30`, `2024-03-10T02:30:00.5`,
 * `2024-03-10T07:30:00Z`, `2024-03-10 02:30:00-05`. In: the text. Out: its canonical text; undefined if it is none.
 * Outer blanks do not count. Numbers are not dates here, because only a mapping knows their unit (codecs `epoch` and
 * `julian`).
 * https://hl7.org/fhir/R4/datatypes.html#dateTime
 */
import { DAY, END_DAY, FIRST_DAY, parseClock, parseDay } from './calendar.ts';
import { instantKey, isRepeatedHourKey } from './instant-key.ts';
import type { Zone } from './zone.ts';

const ISO = /^(\d{4}-\d\d-\d\d)(?:([ T])(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?: ?(Z|z|UTC|[+-]\d\d(?::?\d\d)?))?)?$/;
const CLOCK = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?$/;
const MINUTE = 60_000;

/**
 * Removes blanks, tabs and line ends on both sides. A regular expression would take quadratic time in the number of
 * blanks elsewhere.
 */
export function withoutOuterBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && BLANKS.includes(text.charAt(from))) from++;
  while (to > from && BLANKS.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

const BLANKS = ' \t\r\n';

interface Written {
  readonly day: number;
  /** Milliseconds of the day, without those in `fraction`. */
  readonly time: number;
  /** Digits of a second. */
  readonly fraction: string;
  /** Offset from UTC in milliseconds; undefined for a local time. */
  readonly offset: number | undefined;
  readonly separator: string | undefined;
  /** Precision of the time; undefined for a day. */
  readonly precision: 'minute' | 'second' | undefined;
}

function read(text: string): Written | undefined {
  const match = ISO.exec(text);
  const day = match?.[1] === undefined ? undefined : parseDay(match[1]);
  if (!match || day === undefined) return undefined;
  const [, , separator, hour, minute, second, fraction = '', zone] = match;
  if (hour === undefined) {
    return { day, time: 0, fraction, offset: undefined, separator, precision: undefined };
  }
  const time = parseClock(Number(hour), Number(minute), Number(second ?? 0));
  const offset = zone === undefined ? 0 : offsetOf(zone);
  if (time === undefined || offset === undefined) return undefined;
  const precision = second === undefined ? 'minute' : 'second';
  return { day, time, fraction, offset: zone === undefined ? undefined : offset, separator, precision };
}

/** Returns milliseconds of `Z`, `+05`, `-0330`, `+05:30`; undefined if the text is no offset. */
function offsetOf(zone: string): number | undefined {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (hours === undefined) return 0;
  if (Number(hours) > 15 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * MINUTE;
}

/**
 * Returns the sort key (zone.ts) of a moment: its local time in the zone with seven digits of a second, or the key of
 * an instant in the second pass of a repeated hour. A day is its midnight. A key stays unchanged.
 */
export function readMoment(text: string, zone: Zone): string | undefined {
  const trimmed = withoutOuterBlanks(text);
  const written = read(trimmed);
  if (!written) return isRepeatedHourKey(trimmed) ? trimmed : undefined;
  const { day, time, fraction, offset } = written;
  const digits = fraction.slice(0, 7).padEnd(7, '0');
  if (offset === undefined) {
    const clock = trimmed.slice(11, 16) || '00:00';
    const seconds = written.precision === 'second' ? trimmed.slice(17, 19) : '00';
    return `${trimmed.slice(0, 10)} ${clock}:${seconds}.${digits}`;
  }
  const instant = day * DAY + time - offset + Number(digits.slice(0, 3));
  const local = instant + zone.offsetAt(instant);
  if (local < FIRST_DAY * DAY || local >= END_DAY * DAY) return undefined;
  return instantKey(instant, zone, Number(digits.slice(3)));
}

/** Returns the day as written, whatever time and zone follow it. */
export function readDay(text: string): string | undefined {
  const trimmed = withoutOuterBlanks(text);
  return read(trimmed) ? trimmed.slice(0, 10) : undefined;
}

/** Returns `02:30:00.0000000`. */
export function readTime(text: string): string | undefined {
  const match = CLOCK.exec(withoutOuterBlanks(text));
  if (!match) return undefined;
  const [, hour = '', minute = '', second = '00', fraction = ''] = match;
  if (parseClock(Number(hour), Number(minute), Number(second)) === undefined) return undefined;
  return `${hour}:${minute}:${second}.${fraction.slice(0, 7).padEnd(7, '0')}`;
}

/** Names of the parts of a form. */
const LETTERS = ['YYYY-MM-DD', 'HH:MM', ':SS'] as const;

/**
 * Describes the form of a stored value of a date, datetime or time column without disclosing the value: `YYYY-MM-DD
 * HH:MM:SS.FFF`, `YYYY-MM-DDTHH:MM:SSZ`, `HH:MM`, `a whole number`.
 */
export function formOfTime(value: unknown, kind: string): string {
  if (typeof value === 'bigint') return 'a whole number';
  if (typeof value === 'number')
    return Number.isInteger(value) ? 'a whole number' : 'a number with digits after the point';
  if (typeof value !== 'string') return 'bytes';
  const trimmed = withoutOuterBlanks(value);
  if (trimmed === '') return 'a blank text';
  const form = kind === 'time' ? clockForm(trimmed) : isoForm(trimmed);
  if (form !== undefined) return trimmed === value ? form : `${form} ${AMONG_BLANKS}`;
  if (trimmed.startsWith('0000-00-00')) return 'a zero date';
  return kind === 'time' ? 'a text that is no time' : 'a text that is no date';
}

const AMONG_BLANKS = 'with blanks around it';

/** True if every text of a form is a local day or time, sorts as text, and has at most seven digits of a second. */
export function isLocalLayout(form: string): boolean {
  return /^(?:YYYY-MM-DD(?:[ T]HH:MM(?::SS(?:\.F{1,7})?)?)?|HH:MM(?::SS(?:\.F{1,7})?)?)$/.test(form);
}

/** True if every text of a form is an instant in UTC, sorts as text, and has at most three digits of a second. */
export function isUtcLayout(form: string): boolean {
  return /^YYYY-MM-DD[ T]HH:MM(?::SS(?:\.F{1,3})?)?Z$/.test(form);
}

/** True if values of a form are read without a codec that says what a number counts. */
export function isReadForm(form: string): boolean {
  return /^(?:YYYY|HH)/.test(form);
}

function isoForm(text: string): string | undefined {
  const written = read(text);
  if (!written) return undefined;
  const [day, clock, seconds] = LETTERS;
  if (written.precision === undefined) return day;
  const second = written.precision === 'second' ? seconds : '';
  return `${day}${written.separator}${clock}${second}${fractionForm(written.fraction)}${zoneForm(text, written.offset)}`;
}

function clockForm(text: string): string | undefined {
  const match = readTime(text) === undefined ? undefined : CLOCK.exec(text);
  if (!match) return undefined;
  return `${LETTERS[1]}${match[3] === undefined ? '' : LETTERS[2]}${fractionForm(match[4] ?? '')}`;
}

function fractionForm(fraction: string): string {
  return fraction === '' ? '' : `.${'F'.repeat(fraction.length)}`;
}

/** Returns the name of the zone's form. Only `Z` sorts as its instants do, so other spellings are other forms. */
function zoneForm(text: string, offset: number | undefined): string {
  if (offset === undefined) return '';
  const [zone = ''] = / ?[A-Za-z]+$/.exec(text) ?? [];
  return zone === '' ? '±HH:MM' : zone;
}
