/**
 * Describes how a column stores the time of day. In: the form in which it is written, and the type of the column:
 * digits in a text or a whole number (`930`), a number that counts from midnight, or a TIME. Out: how a raw value is
 * read, the stored value of a time, and a test for a time; and the codec of FHIR's type `time`. Keys count ticks of 100
 * nanoseconds, as TIME(7).
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { and, call, compare, constant, glob, isNull, not, or } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, digits, pad, parseClock, printTime, twoDigits } from '../../time/calendar.ts';
import { type Codec, only } from './codec.ts';
import { unitRange } from './number.ts';
import { isWholeNumber } from './packed-column.ts';
import { trimEnd } from './text.ts';

export type TimeForm = WrittenForm | CountedForm | 'time';
type WrittenForm = 'hhmm' | 'hhmmss' | 'hh:mm' | 'hh:mm:ss';
export type CountedForm = 'seconds' | 'milliseconds' | 'clarion';

export interface TimeColumn {
  /** Precision of a time in milliseconds: a minute or a second. */
  readonly unit: 60_000 | 1000;
  /** Smallest difference between two times of the column, in ticks. */
  readonly ticks: number;
  isTime(column: Expression): Predicate;
  /** Returns milliseconds since midnight; undefined if the value is no time of the form. */
  read(raw: SqlValue): number | undefined;
  /** Returns the seven digits of a fraction of a second for a key. */
  fraction(raw: SqlValue): string;
  /** Returns the stored value of a local time in whole seconds. */
  stored(local: number): SqlValue;
  /** Returns the stored value of a time in ticks since midnight. */
  storedTicks(ticks: number): SqlValue;
}

/** Ticks per millisecond. */
export const TICKS = 10_000;
const MOST_DIGITS = 7;
const NO_FRACTION = '0'.repeat(MOST_DIGITS);

/** Numbers that count from midnight: milliseconds per unit, and the number of midnight. */
const COUNTS: Readonly<Record<CountedForm, { readonly unit: number; readonly midnight: number }>> = {
  seconds: { unit: 1000, midnight: 0 },
  milliseconds: { unit: 1, midnight: 0 },
  clarion: { unit: 10, midnight: 1 },
};

/** Positions of minutes and seconds, and the length of a time. */
interface Layout {
  readonly minute: 2 | 3;
  readonly second?: 4 | 6;
  readonly length: number;
}

const LAYOUTS: Readonly<Record<WrittenForm, Layout>> = {
  hhmm: { minute: 2, length: 4 },
  hhmmss: { minute: 2, second: 4, length: 6 },
  'hh:mm': { minute: 3, length: 5 },
  'hh:mm:ss': { minute: 3, second: 6, length: 8 },
};

const HOURS = ['[01][0-9]', '2[0-3]'];
const SIXTY = '[0-5][0-9]';
const GLOBS: Readonly<Record<WrittenForm, string>> = {
  hhmm: SIXTY,
  hhmmss: `${SIXTY}${SIXTY}`,
  'hh:mm': `:${SIXTY}`,
  'hh:mm:ss': `:${SIXTY}:${SIXTY}`,
};
/** Patterns of a whole number, which has no leading zeros: 0 to 2359, and the same with seconds. */
const NUMBERS: Readonly<Record<'hhmm' | 'hhmmss', readonly string[]>> = {
  hhmm: ['[0-9]', SIXTY, `[0-9]${SIXTY}`, ...['1[0-9]', '2[0-3]'].map(hour => hour + SIXTY)],
  hhmmss: [
    ...['[0-9]', SIXTY, `[0-9]${SIXTY}`, SIXTY + SIXTY],
    ...['[0-9]', '1[0-9]', '2[0-3]'].map(hour => hour + SIXTY + SIXTY),
  ],
};

/** True if the column can hold all times of a day in this form. */
export function holdsTimes(form: TimeForm, type: ColumnType): boolean {
  if (isCounted(form))
    return isWholeNumber(type) && unitRange(type).most >= DAY / COUNTS[form].unit + COUNTS[form].midnight;
  return (isWholeNumber(type) && isOfDigits(form)) || type.kind === (form === 'time' ? 'time' : 'text');
}

export function timeColumn(form: TimeForm, type: ColumnType): TimeColumn {
  if (isCounted(form)) return counted(COUNTS[form]);
  return form === 'time' ? native(type.kind === 'time' ? type.fraction : 0) : written(form, isWholeNumber(type));
}

/** Emits a time of day as FHIR's `time`, to the digits of a second that are not zero. Output only. */
export function timeCodec(form: TimeForm, type: ColumnType): Codec {
  const times = timeColumn(form, type);
  return {
    ...TIME_OF_DAY,
    decode: raw => {
      const local = times.read(raw);
      if (local === undefined) return undefined;
      const fraction = times.fraction(raw).replace(/0+$/, '');
      return `${printTime(local)}${fraction === '' ? '' : `.${fraction}`}`;
    },
    present: columns => times.isTime(only(columns)),
  };
}

/** Emits the time of day of moments that another codec reads as local times. */
export function timeOfMoments({ decode, present, reads }: Codec): Codec {
  return {
    ...TIME_OF_DAY,
    ...(reads ? { reads } : {}),
    decode: raw => {
      const moment = decode(raw);
      return typeof moment === 'string' ? /(?<=T)[\d:]+/.exec(moment)?.[0] : undefined;
    },
    present,
  };
}

const TIME_OF_DAY = {
  ...{ label: 'time', yields: ['time'], columns: 1, inverse: 'none', plain: true },
  match: () => undefined,
} as const satisfies Partial<Codec>;

function isCounted(form: TimeForm): form is CountedForm {
  return form in COUNTS;
}

function isOfDigits(form: TimeForm): form is 'hhmm' | 'hhmmss' {
  return form === 'hhmm' || form === 'hhmmss';
}

function counted({ unit, midnight }: { readonly unit: number; readonly midnight: number }): TimeColumn {
  const read = (raw: SqlValue): number | undefined => {
    const number = typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : raw;
    const local = typeof number === 'number' && Number.isInteger(number) ? (number - midnight) * unit : -1;
    return local >= 0 && local < DAY ? local : undefined;
  };
  const stored = (local: number): number => Math.ceil((local - Math.floor(local / DAY) * DAY) / unit) + midnight;
  return {
    unit: 1000,
    ticks: unit * TICKS,
    isTime: column => {
      const literal = (number: number): Expression => constant(number, column.type);
      return and(compare(column, '>=', literal(midnight)), compare(column, '<', literal(midnight + DAY / unit)));
    },
    read,
    fraction: raw => `${pad((read(raw) ?? 0) % 1000, 3)}0000`,
    stored,
    storedTicks: ticks => stored(Math.ceil(ticks / TICKS)),
  };
}

/** Describes a TIME column. `precision`: digits after the seconds. */
function native(precision: number): TimeColumn {
  const layout = LAYOUTS['hh:mm:ss'];
  const withDigits = (clock: string, behind: string): string => (precision > 0 ? `${clock}.${behind}` : clock);
  return {
    unit: 1000,
    ticks: 10 ** (MOST_DIGITS - precision),
    isTime: column => not(isNull(column)),
    read: raw => {
      const text = typeof raw === 'string' ? trimEnd(raw) : '';
      return text.length === layout.length || isFraction(text, layout.length) ? readClock(text, layout) : undefined;
    },
    fraction: raw => {
      const behind = typeof raw === 'string' ? trimEnd(raw).slice(layout.length + 1) : '';
      return behind.slice(0, MOST_DIGITS).padEnd(MOST_DIGITS, '0');
    },
    stored: local => withDigits(printTime(local), '0'.repeat(precision)),
    storedTicks: ticks =>
      withDigits(printTime(Math.floor(ticks / TICKS)), pad(ticks % (1000 * TICKS), MOST_DIGITS).slice(0, precision)),
  };
}

/**
 * Describes digits in a text, or in a whole number. A number has no leading zeros, and some columns return it as text.
 */
function written(form: WrittenForm, isNumber: boolean): TimeColumn {
  const layout = LAYOUTS[form];
  const { length, second } = layout;
  const unit = second === undefined ? 60_000 : 1000;
  const stored = (local: number): SqlValue => {
    const clock = printTime(local);
    const text = (isOfDigits(form) ? clock.replaceAll(':', '') : clock).slice(0, length);
    return isNumber ? Number(text) : text;
  };
  return {
    unit,
    ticks: unit * TICKS,
    isTime: column =>
      isNumber && isOfDigits(form)
        ? or(...NUMBERS[form].map(pattern => glob(call('text', [column], UNICODE), pattern)))
        : or(...HOURS.map(hour => glob(column, `${hour}${GLOBS[form]}`))),
    read: raw => {
      const number = raw === null ? '' : String(raw).padStart(length, '0');
      const text = isNumber ? number : typeof raw === 'string' ? trimEnd(raw) : '';
      return text.length === length ? readClock(text, layout) : undefined;
    },
    fraction: () => NO_FRACTION,
    stored,
    storedTicks: ticks => stored(Math.floor(ticks / TICKS)),
  };
}

const COLON = 58;

function readClock(text: string, { minute, second }: Layout): number | undefined {
  if (minute === 3 && (text.charCodeAt(2) !== COLON || (second !== undefined && text.charCodeAt(5) !== COLON)))
    return undefined;
  return parseClock(twoDigits(text, 0), twoDigits(text, minute), second === undefined ? 0 : twoDigits(text, second));
}

/** True if only a point and digits follow from there. */
function isFraction(text: string, at: number): boolean {
  return text.charAt(at) === '.' && text.length > at + 1 && !Number.isNaN(digits(text, at + 1, text.length));
}
