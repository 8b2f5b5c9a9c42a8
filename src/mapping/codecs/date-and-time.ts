/**
 * `date-and-time`: a day in one column and the time of day in another. In: a packed date, DATE or DATETIME (its day),
 * and digits or a TIME. Out: a dateTime with seconds and offset, or the date alone where the time is blank or
 * impossible, or where the date is but a month or a year. The inverse compares both columns, after a range of the date
 * column that an index serves.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, compare, FALSE, flag, given, glob, isNull, not, or, TRUE, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import {
  DAY,
  digits,
  END_DAY,
  FIRST_DAY,
  parseClock,
  parseDay,
  printDay,
  printTime,
  twoDigits,
} from '../../time/calendar.ts';
import { clip, type Range } from '../../time/range-set.ts';
import { parseTimeKey, type Zone } from '../../time/zone.ts';
import { type Codec, column, type OrderFace } from './codec.ts';
import { MINUTE, SECOND, satisfying } from './date-interval.ts';
import { dateCodec } from './datetime.ts';
import { firstDay, LAST_PACKED, nextPacked, packDay, printPacked } from './packed-date.ts';
import { bounds, isTimed, timeLiteral } from './stored-time.ts';
import { trimEnd } from './text.ts';
import { isPacked, packedKey, readPacked, ymd8Codec } from './ymd8.ts';

export type TimeForm = 'hhmm' | 'hhmmss' | 'hh:mm' | 'hh:mm:ss' | 'time';

export interface DateAndTimeOptions {
  readonly zone: Zone;
  readonly dateType: ColumnType;
  readonly timeType: ColumnType;
  /** How the time is written; `time` is a TIME column. */
  readonly time: TimeForm;
}

const HOURS = ['[01][0-9]', '2[0-3]'];
const SIXTY = '[0-5][0-9]';
const GLOBS: Readonly<Record<Exclude<TimeForm, 'time'>, string>> = {
  hhmm: SIXTY,
  hhmmss: `${SIXTY}${SIXTY}`,
  'hh:mm': `:${SIXTY}`,
  'hh:mm:ss': `:${SIXTY}:${SIXTY}`,
};
/** Where minutes and seconds begin, and how long a time is. */
const FORMS: Readonly<Record<TimeForm, { readonly minute: 2 | 3; readonly second?: 4 | 6; readonly length: number }>> =
  {
    hhmm: { minute: 2, length: 4 },
    hhmmss: { minute: 2, second: 4, length: 6 },
    'hh:mm': { minute: 3, length: 5 },
    'hh:mm:ss': { minute: 3, second: 6, length: 8 },
    time: { minute: 3, second: 6, length: 8 },
  };
const COLON = 58;

/** A date column and a time column together. */
export function dateAndTimeCodec({ zone, dateType, timeType, time: form }: DateAndTimeOptions): Codec {
  const timed = isTimed(dateType) ? dateType : undefined;
  const dates = timed ? dateCodec({ zone, columnType: timed }) : ymd8Codec({ zone, columnType: dateType });
  const unit = form === 'hhmm' || form === 'hh:mm' ? 60_000 : 1000;

  const dayLiteral = (day: number): Expression => {
    if (timed) return timeLiteral(day * DAY, timed);
    return value(dateType.kind === 'text' ? String(packDay(day)).padStart(8, '0') : packDay(day), dateType);
  };
  const timeValue = (local: number): Expression => value(printForm(local, form, timeType), timeType);

  const hasDate = (date: Expression): Predicate => (timed ? not(isNull(date)) : isPacked(date));

  /** The date is a day and the time is one: the value has a time. */
  const hasTime = (columns: readonly Expression[]): Predicate => {
    const time = column(columns, 1);
    const wellFormed =
      form === 'time' ? not(isNull(time)) : or(...HOURS.map(hour => glob(time, `${hour}${GLOBS[form]}`)));
    return and(hasDate(column(columns, 0)), timed ? TRUE : not(glob(column(columns, 0), '*00')), wellFormed);
  };

  const { first, end } = timed ? bounds(timed) : { first: FIRST_DAY * DAY, end: END_DAY * DAY };

  const within = (columns: readonly Expression[], { from, to }: Range): Predicate => {
    const date = column(columns, 0);
    const time = column(columns, 1);
    // No day from `end` on can be stored, nor its literal be written.
    const since = (day: number): Predicate => (day * DAY < end ? compare(date, '>=', dayLiteral(day)) : FALSE);
    const before = (day: number): Predicate => (day * DAY < end ? compare(date, '<', dayLiteral(day)) : TRUE);
    const bound = (at: number, sinceDay: typeof since, op: '>=' | '<', nextDay: number): Predicate => {
      const local = at * unit;
      const day = Math.floor(local / DAY);
      if (local === day * DAY) return sinceDay(day);
      return and(sinceDay(day + 1 - nextDay), or(sinceDay(day + nextDay), compare(time, op, timeValue(local))));
    };
    return and(
      Number.isFinite(from) ? bound(from, since, '>=', 1) : TRUE,
      Number.isFinite(to) ? bound(to, before, '<', 0) : TRUE,
    );
  };

  // Rows that were made together stand together.
  let last: { readonly rawDate: SqlValue; readonly rawTime: SqlValue; readonly value: string | undefined } | undefined;
  const read = (rawDate: SqlValue, rawTime: SqlValue): string | undefined => {
    const date = dates.decode(rawDate);
    if (typeof date !== 'string') return undefined;
    const time = date.length === 10 ? readTime(rawTime, form) : undefined;
    const day = time === undefined ? undefined : parseDay(date);
    if (day === undefined || time === undefined) return date;
    return `${date}T${printTime(time)}${zone.offsetTextOf(day * DAY + time)}`;
  };

  return {
    label: 'date-and-time',
    options: { time: form },
    yields: ['dateTime'],
    columns: 2,
    small: false,
    plain: true,
    inverse: 'indexed',
    decode: (rawDate, rawTime = null) => {
      if (last === undefined || last.rawDate !== rawDate || last.rawTime !== rawTime)
        last = { rawDate, rawTime, value: read(rawDate, rawTime) };
      return last.value;
    },
    present: columns => hasDate(column(columns, 0)),
    match: (columns, criterion, clock) => {
      if (criterion.kind !== 'date') return undefined;
      const set = clip(satisfying(criterion.any, zone, unit === 1000 ? SECOND : MINUTE), first / unit, end / unit);
      const moments = or(...set.map(range => within(columns, range)));
      const days = dates.match([column(columns, 0)], criterion, clock) ?? FALSE;
      return or(and(hasTime(columns), moments), and(not(hasTime(columns)), days));
    },
    order: orderOf(dateType, form, timeType, hasTime),
  };
}

/** Values without a time come first on their day; their key is the day alone. */
function orderOf(
  dateType: ColumnType,
  form: TimeForm,
  timeType: ColumnType,
  hasTime: (columns: readonly Expression[]) => Predicate,
): OrderFace {
  const writeDate = (packed: number): SqlValue => {
    if (dateType.kind === 'text') return String(packed).padStart(8, '0');
    if (dateType.kind === 'date') return printDay(firstDay(packed));
    if (dateType.kind !== 'datetime') return packed;
    return `${printDay(firstDay(packed))} 00:00:00${dateType.fraction > 0 ? `.${'0'.repeat(dateType.fraction)}` : ''}`;
  };
  return {
    by: columns => [column(columns, 0), flag(hasTime(columns)), given(hasTime(columns), column(columns, 1))],
    toKey: ([date, known, time]) => {
      const packed = isTimed(dateType) ? packText(date) : readPacked(date ?? null);
      if (packed === undefined || printPacked(packed) === undefined) return undefined;
      const day = packedKey(packed).slice(0, 10);
      const local = known === 1 && time !== undefined ? readTime(time, form) : undefined;
      return local === undefined ? day : `${day} ${printTime(local)}.0000000`;
    },
    fromKey: key => {
      const text = String(key);
      const { packed, local, rest } = parseTimeKey(text);
      const dayFrom = (at: number): readonly SqlValue[] | undefined =>
        nextPacked(at) > LAST_PACKED ? undefined : [writeDate(nextPacked(at)), 0];
      if (text.length === 10) return dayFrom(packed);
      const unit = form === 'hhmm' || form === 'hh:mm' ? 60_000 : 1000;
      const time = Math.ceil(((local % DAY) + DAY + (rest > 0 ? 1 : 0)) / unit) * unit - DAY;
      const isDay = nextPacked(packed) === packed && packed % 100 !== 0;
      // A month or year has no times: what follows it is its first day.
      if (!isDay || time >= DAY) return dayFrom(packed + 1);
      return [writeDate(packed), 1, printForm(time, form, timeType)];
    },
  };
}

function packText(date: SqlValue | undefined): number | undefined {
  const day = typeof date === 'string' ? parseDay(date) : undefined;
  return day === undefined ? undefined : packDay(day);
}

/** Milliseconds since midnight, or undefined if the text is no time of that form. */
function readTime(raw: SqlValue, form: TimeForm): number | undefined {
  if (typeof raw !== 'string') return undefined;
  const text = trimEnd(raw);
  const { minute: at, second: end, length } = FORMS[form];
  if (text.length !== length && !(form === 'time' && isFraction(text, length))) return undefined;
  if (at === 3 && (text.charCodeAt(2) !== COLON || (end !== undefined && text.charCodeAt(5) !== COLON)))
    return undefined;
  return parseClock(twoDigits(text, 0), twoDigits(text, at), end === undefined ? 0 : twoDigits(text, end));
}

/** A point and digits from there on. */
function isFraction(text: string, at: number): boolean {
  return text.charAt(at) === '.' && text.length > at + 1 && !Number.isNaN(digits(text, at + 1, text.length));
}

function printForm(local: number, form: TimeForm, type: ColumnType): string {
  const text = printTime(local);
  switch (form) {
    case 'hhmm':
      return text.slice(0, 5).replace(':', '');
    case 'hhmmss':
      return text.replaceAll(':', '');
    case 'hh:mm':
      return text.slice(0, 5);
    case 'hh:mm:ss':
      return text;
    case 'time':
      return type.kind === 'time' && type.fraction > 0 ? `${text}.${'0'.repeat(type.fraction)}` : text;
  }
}
