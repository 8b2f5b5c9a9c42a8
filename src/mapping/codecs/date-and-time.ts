/**
 * `date-and-time`: a day in one column and the time of day in another. In: a packed date, days counted by
 * a whole number, DATE or DATETIME (its day), and digits, a whole number of them (`930`), a number that counts from
 * midnight, or a TIME. Out: a dateTime with seconds and offset, or the date alone
 * where the time is blank or impossible, or where the date is but a month or a year. With `at` every day has a time,
 * and the value is an instant or a dateTime. The inverse compares both columns, after a range of the date column that
 * an index serves.
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import {
  and,
  call,
  compare,
  constant,
  FALSE,
  flag,
  given,
  glob,
  isNull,
  not,
  or,
  TRUE,
  value,
} from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
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
} from '../../time/calendar.ts';
import { clip, type Range } from '../../time/range-set.ts';
import { parseTimeKey, type Zone } from '../../time/zone.ts';
import type { Criterion } from '../criterion.ts';
import { type Codec, column, type OrderFace } from './codec.ts';
import { MINUTE, type Precision, SECOND, satisfying } from './date-interval.ts';
import { dateCodec } from './datetime.ts';
import { countedDays, type DaysOptions, daysCodec } from './days.ts';
import { holds } from './number.ts';
import { dateIn, isWholeNumber, type PackedColumn, packedColumn } from './packed-column.ts';
import { firstDay, LAST_PACKED, nextPacked, packDay, printPacked } from './packed-date.ts';
import { bounds, isTimed, type TimedType, timeLiteral } from './stored-time.ts';
import { trimEnd } from './text.ts';
import { packedKey, ymd8Codec } from './ymd8.ts';

export type TimeForm = WrittenForm | CountedForm | 'time';
type WrittenForm = 'hhmm' | 'hhmmss' | 'hh:mm' | 'hh:mm:ss';
export type CountedForm = 'seconds' | 'milliseconds' | 'clarion';

export interface DateAndTimeOptions {
  readonly zone: Zone;
  readonly dateType: ColumnType;
  /** Of packed dates: the year that their years count from. */
  readonly since?: number | undefined;
  /** The column counts days. */
  readonly counted?: Pick<DaysOptions, 'count' | 'first' | 'options'> | undefined;
  readonly timeType: ColumnType;
  /** How the time is written; `time` is a TIME column. */
  readonly time: TimeForm;
  /** Of a moment: the time of day where the second column has none. Without it such a value is the day alone. */
  readonly at?: MomentOptions | undefined;
}

export interface MomentOptions {
  readonly fhirType: 'dateTime' | 'instant';
  /** In milliseconds, of whole minutes. */
  readonly local: number;
}

const HOURS = ['[01][0-9]', '2[0-3]'];
const SIXTY = '[0-5][0-9]';
const GLOBS: Readonly<Record<WrittenForm, string>> = {
  hhmm: SIXTY,
  hhmmss: `${SIXTY}${SIXTY}`,
  'hh:mm': `:${SIXTY}`,
  'hh:mm:ss': `:${SIXTY}:${SIXTY}`,
};
/** Where minutes and seconds begin, and how long a time is. */
const FORMS: Readonly<
  Record<WrittenForm | 'time', { readonly minute: 2 | 3; readonly second?: 4 | 6; readonly length: number }>
> = {
  hhmm: { minute: 2, length: 4 },
  hhmmss: { minute: 2, second: 4, length: 6 },
  'hh:mm': { minute: 3, length: 5 },
  'hh:mm:ss': { minute: 3, second: 6, length: 8 },
  time: { minute: 3, second: 6, length: 8 },
};
const COLON = 58;
/** Numbers that count from midnight: the milliseconds of one, and the number of midnight. */
const COUNTS: Readonly<Record<CountedForm, { readonly unit: number; readonly midnight: number }>> = {
  seconds: { unit: 1000, midnight: 0 },
  milliseconds: { unit: 1, midnight: 0 },
  clarion: { unit: 10, midnight: 1 },
};

export function isCountedTime(form: TimeForm): form is CountedForm {
  return form in COUNTS;
}

/** The column holds all times of a day. */
export function holdsTimes(form: CountedForm, type: ColumnType): boolean {
  return isWholeNumber(type) && holds(type).most >= DAY / COUNTS[form].unit + COUNTS[form].midnight;
}

/** Of a whole number, whose text begins with no zero: 0 to 2359, and likewise with seconds. */
const NUMBERS: Readonly<Record<'hhmm' | 'hhmmss', readonly string[]>> = {
  hhmm: ['[0-9]', SIXTY, `[0-9]${SIXTY}`, ...['1[0-9]', '2[0-3]'].map(hour => hour + SIXTY)],
  hhmmss: [
    ...['[0-9]', SIXTY, `[0-9]${SIXTY}`, SIXTY + SIXTY],
    ...['[0-9]', '1[0-9]', '2[0-3]'].map(hour => hour + SIXTY + SIXTY),
  ],
};

/** A date column and a time column together. */
export function dateAndTimeCodec(options: DateAndTimeOptions): Codec {
  const { zone, dateType, since, counted, timeType, time: form, at } = options;
  const timed = isTimed(dateType) ? dateType : undefined;
  const { dates, packing } = datesOf(options);
  const unit = form === 'hhmm' || form === 'hh:mm' ? 60_000 : 1000;

  const dayLiteral = (day: number): Expression =>
    timed ? timeLiteral(day * DAY, timed) : packing.literal(packDay(day));
  const timeValue = (local: number): Expression => value(storedTime(local, form, timeType), timeType);

  const hasDate = (date: Expression): Predicate => (timed ? not(isNull(date)) : packing.isDate(date));

  const isWholeDay = (date: Expression): Predicate => (timed ? hasDate(date) : packing.isDay(date));

  /** What is compared and sorted by. */
  const dated = (date: Expression): Expression => (timed ? date : packing.compared(date));

  /** The date is a day and the time is one: the value has a time. */
  const hasTime = (columns: readonly Expression[]): Predicate =>
    and(isWholeDay(column(columns, 0)), isWellFormed(column(columns, 1), form));

  const ends = packing.ends ?? { first: FIRST_DAY, end: END_DAY };
  const { first, end } = timed ? bounds(timed) : { first: ends.first * DAY, end: ends.end * DAY };

  // No day from `end` on can be stored, nor its literal be written.
  const onOrAfter = (date: Expression, day: number): Predicate =>
    day * DAY < end ? compare(dated(date), '>=', dayLiteral(day)) : FALSE;
  const before = (date: Expression, day: number): Predicate =>
    day * DAY < end ? compare(dated(date), '<', dayLiteral(day)) : TRUE;

  const within = (columns: readonly Expression[], { from, to }: Range): Predicate => {
    const date = column(columns, 0);
    const time = column(columns, 1);
    const bound = (number: number, side: typeof onOrAfter, op: '>=' | '<', nextDay: number): Predicate => {
      const local = number * unit;
      const day = Math.floor(local / DAY);
      if (local === day * DAY) return side(date, day);
      return and(side(date, day + 1 - nextDay), or(side(date, day + nextDay), compare(time, op, timeValue(local))));
    };
    return and(
      Number.isFinite(from) ? bound(from, onOrAfter, '>=', 1) : TRUE,
      Number.isFinite(to) ? bound(to, before, '<', 0) : TRUE,
    );
  };

  // A moment as an instant is written with milliseconds, and is as short as one.
  const precise = at?.fhirType === 'instant';
  const precisionOf = (of: Precision): Precision => (precise ? { ...of, length: 1 } : of);

  /** Values without a time that satisfy a criterion. */
  const days = (columns: readonly Expression[], criterion: Criterion & { readonly kind: 'date' }): Predicate => {
    const date = column(columns, 0);
    if (!at) return dates.match([date], criterion, { now: 0 }) ?? FALSE;
    const ceiling = (local: number): number => Math.ceil((local - at.local) / DAY);
    const set = clip(satisfying(criterion.any, zone, precisionOf({ ceiling, length: 1000 })), first / DAY, end / DAY);
    const ranges = set.map(({ from, to }) =>
      and(Number.isFinite(from) ? onOrAfter(date, from) : TRUE, Number.isFinite(to) ? before(date, to) : TRUE),
    );
    return and(isWholeDay(date), or(...ranges));
  };

  const stored: StoredMoments = {
    form,
    timeType,
    hasTime,
    dated,
    readDate: raw => (timed ? packText(raw) : dateIn(raw, packing)),
    storedDate: packed => (timed ? storedDay(packed, timed) : packing.stored(packed)),
    first: timed ? FIRST_DAY : ends.first,
    last: timed ? LAST_PACKED : packDay(ends.end - 1),
  };
  // Rows that were made together stand together.
  let last: { readonly rawDate: SqlValue; readonly rawTime: SqlValue; readonly value: string | undefined } | undefined;
  const read = (rawDate: SqlValue, rawTime: SqlValue): string | undefined => {
    const date = dates.decode(rawDate);
    if (typeof date !== 'string') return undefined;
    const time = date.length === 10 ? (readTime(rawTime, form, timeType) ?? at?.local) : undefined;
    const day = time === undefined ? undefined : parseDay(date);
    if (day === undefined || time === undefined) return at ? undefined : date;
    return `${date}T${printTime(time)}${precise ? '.000' : ''}${zone.offsetTextOf(day * DAY + time)}`;
  };

  return {
    label: 'date-and-time',
    options: {
      time: form,
      ...(since !== undefined && { since }),
      ...counted?.options,
      ...(at && { at: printTime(at.local) }),
    },
    yields: [at?.fhirType ?? 'dateTime'],
    columns: 2,
    plain: true,
    inverse: timed ? 'indexed' : packing.inverse,
    rawsOf: day => dates.rawsOf?.(day) ?? [],
    decode: (rawDate, rawTime = null) => {
      if (last === undefined || last.rawDate !== rawDate || last.rawTime !== rawTime)
        last = { rawDate, rawTime, value: read(rawDate, rawTime) };
      return last.value;
    },
    present: columns => (at ? isWholeDay : hasDate)(column(columns, 0)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const precision = precisionOf(unit === 1000 ? SECOND : MINUTE);
      const set = clip(satisfying(criterion.any, zone, precision), first / unit, end / unit);
      const moments = or(...set.map(range => within(columns, range)));
      return or(and(hasTime(columns), moments), and(not(hasTime(columns)), days(columns, criterion)));
    },
    order: at ? orderOfMoments(stored, at.local) : orderOf(stored),
  };
}

/** How the first column is read. */
function datesOf({ zone, dateType, since, counted }: DateAndTimeOptions): { dates: Codec; packing: PackedColumn } {
  const columnType = dateType;
  if (isTimed(columnType)) return { dates: dateCodec({ zone, columnType }), packing: packedColumn(dateType) };
  if (!counted) return { dates: ymd8Codec({ zone, columnType, since }), packing: packedColumn(dateType, since) };
  const dates = daysCodec({ ...counted, zone, unit: DAY, name: '', gives: 'day' });
  return { dates, packing: countedDays(counted) };
}

function isWellFormed(time: Expression, form: TimeForm): Predicate {
  if (form === 'time') return not(isNull(time));
  if (isCountedTime(form)) {
    const { unit, midnight } = COUNTS[form];
    const literal = (number: number): Expression => constant(number, time.type);
    return and(compare(time, '>=', literal(midnight)), compare(time, '<', literal(midnight + DAY / unit)));
  }
  if (isWholeNumber(time.type) && isOfDigits(form))
    return or(...NUMBERS[form].map(pattern => glob(call('text', [time], UNICODE), pattern)));
  return or(...HOURS.map(hour => glob(time, `${hour}${GLOBS[form]}`)));
}

function isOfDigits(form: TimeForm): form is 'hhmm' | 'hhmmss' {
  return form === 'hhmm' || form === 'hhmmss';
}

/** How the columns hold what sorts. */
interface StoredMoments {
  readonly form: TimeForm;
  readonly timeType: ColumnType;
  readonly hasTime: (columns: readonly Expression[]) => Predicate;
  readonly dated: (date: Expression) => Expression;
  /** The packed date, and back. */
  readonly readDate: (raw: SqlValue | undefined) => number | undefined;
  readonly storedDate: (packed: number) => SqlValue;
  /** The first day, and the last packed date, that the column can hold. */
  readonly first: number;
  readonly last: number;
}

/** Every value has a time, be it that of `at`. */
function orderOfMoments(stored: StoredMoments, at: number): OrderFace {
  const { form, timeType, hasTime, dated, readDate, storedDate, first, last } = stored;
  const otherwise = constant(storedTime(at, form, timeType), timeType);
  const unit = ticksOf(form, timeType);
  return {
    by: columns => {
      const time = { when: hasTime(columns), give: column(columns, 1) };
      return [dated(column(columns, 0)), { kind: 'choice', of: [time], otherwise, type: timeType }];
    },
    toKey: ([date, time]) => {
      const packed = readDate(date);
      const local = time === undefined ? undefined : readTime(time, form, timeType);
      if (packed === undefined || local === undefined || printPacked(packed)?.length !== 10) return undefined;
      return `${packedKey(packed).slice(0, 10)} ${printTime(local)}.${fractionOf(time, form)}`;
    },
    fromKey: key => {
      const { packed, local, rest } = parseTimeKey(String(key));
      if (packed < packDay(first)) return [storedDate(packDay(first)), storedTicks(0, form, timeType)];
      const before = Math.floor(local / DAY);
      const time = raised((local - before * DAY) * TICKS + rest, unit);
      const day = time < DAY * TICKS ? before : before + 1;
      if (day >= END_DAY || packDay(day) > last) return undefined;
      return [storedDate(packDay(day)), storedTicks(time % (DAY * TICKS), form, timeType)];
    },
  };
}

/** A packed date as a column of dates holds it. */
function storedDay(packed: number, type: TimedType): SqlValue {
  if (type.kind === 'date') return printDay(firstDay(packed));
  return `${printDay(firstDay(packed))} 00:00:00${type.fraction > 0 ? `.${'0'.repeat(type.fraction)}` : ''}`;
}

/** Values without a time come first on their day; their key is the day alone. */
function orderOf({ form, timeType, hasTime, dated, readDate, storedDate, first, last }: StoredMoments): OrderFace {
  return {
    by: columns => [dated(column(columns, 0)), flag(hasTime(columns)), given(hasTime(columns), column(columns, 1))],
    toKey: ([date, known, time]) => {
      const packed = readDate(date);
      if (packed === undefined) return undefined;
      const day = packedKey(packed).slice(0, 10);
      const local = known === 1 && time !== undefined ? readTime(time, form, timeType) : undefined;
      return local === undefined ? day : `${day} ${printTime(local)}.${fractionOf(time, form)}`;
    },
    fromKey: key => {
      const text = String(key);
      const { packed, local, rest } = parseTimeKey(text);
      const dayFrom = (at: number): readonly SqlValue[] | undefined =>
        nextPacked(at) > last ? undefined : [storedDate(nextPacked(at)), 0];
      if (text.length === 10 || packed < packDay(first)) return dayFrom(packed);
      const time = raised((((local % DAY) + DAY) % DAY) * TICKS + rest, ticksOf(form, timeType));
      const isDay = nextPacked(packed) === packed && packed % 100 !== 0;
      // A month or year has no times: what follows it is its first day.
      if (!isDay || time >= DAY * TICKS || packed > last) return dayFrom(packed + 1);
      return [storedDate(packed), 1, storedTicks(time, form, timeType)];
    },
  };
}

/** Keys count 100 nanoseconds, as a TIME(7) does. */
const TICKS = 10_000;
const MOST_DIGITS = 7;

/** The least difference of two times of a column. */
function ticksOf(form: TimeForm, type: ColumnType): number {
  if (form === 'hhmm' || form === 'hh:mm') return 60_000 * TICKS;
  if (isCountedTime(form)) return COUNTS[form].unit * TICKS;
  return form === 'time' && type.kind === 'time' ? 10 ** (MOST_DIGITS - type.fraction) : 1000 * TICKS;
}

function raised(ticks: number, unit: number): number {
  return Math.ceil(ticks / unit) * unit;
}

/** The digits behind the second of a key. */
function fractionOf(time: SqlValue | undefined, form: TimeForm): string {
  if (isCountedTime(form)) return `${pad((readCount(time ?? null, form) ?? 0) % 1000, 3)}0000`;
  const digitsOfTime = form === 'time' && typeof time === 'string' ? trimEnd(time).slice(FORMS.time.length + 1) : '';
  return digitsOfTime.slice(0, MOST_DIGITS).padEnd(MOST_DIGITS, '0');
}

/** A time of so many ticks since midnight, as a column of the type holds it. */
function storedTicks(ticks: number, form: TimeForm, type: ColumnType): SqlValue {
  if (isCountedTime(form)) return storedTime(Math.ceil(ticks / TICKS), form, type);
  if (form !== 'time' || type.kind !== 'time' || type.fraction === 0)
    return storedTime(Math.floor(ticks / TICKS), form, type);
  const fraction = pad(ticks % (1000 * TICKS), MOST_DIGITS).slice(0, type.fraction);
  return `${printTime(Math.floor(ticks / TICKS))}.${fraction}`;
}

function packText(date: SqlValue | undefined): number | undefined {
  const day = typeof date === 'string' ? parseDay(date) : undefined;
  return day === undefined ? undefined : packDay(day);
}

/** Milliseconds since midnight, or undefined if the text is no time of that form. */
function readTime(raw: SqlValue, form: TimeForm, type: ColumnType): number | undefined {
  if (isCountedTime(form)) return readCount(raw, form);
  const text = storedText(raw, FORMS[form].length, type);
  const { minute: at, second: end, length } = FORMS[form];
  if (text.length !== length && !(form === 'time' && isFraction(text, length))) return undefined;
  if (at === 3 && (text.charCodeAt(2) !== COLON || (end !== undefined && text.charCodeAt(5) !== COLON)))
    return undefined;
  return parseClock(twoDigits(text, 0), twoDigits(text, at), end === undefined ? 0 : twoDigits(text, end));
}

function readCount(raw: SqlValue, form: CountedForm): number | undefined {
  const number = typeof raw === 'string' && /^\d{1,9}$/.test(raw) ? Number(raw) : raw;
  const { unit, midnight } = COUNTS[form];
  const local = typeof number === 'number' && Number.isInteger(number) ? (number - midnight) * unit : -1;
  return local >= 0 && local < DAY ? local : undefined;
}

/** A whole number, which some columns give as a text, has no zeros before it. */
function storedText(raw: SqlValue, length: number, type: ColumnType): string {
  if (isWholeNumber(type)) return raw === null ? '' : String(raw).padStart(length, '0');
  return typeof raw === 'string' ? trimEnd(raw) : '';
}

/** A point and digits from there on. */
function isFraction(text: string, at: number): boolean {
  return text.charAt(at) === '.' && text.length > at + 1 && !Number.isNaN(digits(text, at + 1, text.length));
}

/** As a column of the type holds it. */
function storedTime(local: number, form: TimeForm, type: ColumnType): SqlValue {
  if (isCountedTime(form))
    return Math.ceil((local - Math.floor(local / DAY) * DAY) / COUNTS[form].unit) + COUNTS[form].midnight;
  const text = printForm(local, form, type);
  return isWholeNumber(type) ? Number(text) : text;
}

function printForm(local: number, form: WrittenForm | 'time', type: ColumnType): string {
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
