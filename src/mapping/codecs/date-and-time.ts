/**
 * `date-and-time`: reads a day in one column and the time of day in another. In: a packed date, days counted by a whole
 * number, DATE or DATETIME (its day); and digits, a whole number of them (`930`), a number that counts from midnight,
 * or a TIME. Out: a dateTime with seconds and offset, or the date alone if the time is blank or impossible, or if the
 * date is a month or a year. With `at` every day has a time, and the value is an instant or a dateTime. The inverse
 * compares both columns, after a range of the date column that an index serves.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, compare, constant, FALSE, flag, given, isNull, not, or, TRUE, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, parseDay, printDay, printTime } from '../../time/calendar.ts';
import { clip, type Range } from '../../time/range-set.ts';
import { parseTimeKey, type Zone } from '../../time/zone.ts';
import type { Criterion } from '../criterion.ts';
import { type Codec, column, type OrderFace } from './codec.ts';
import { MINUTE, type Precision, SECOND, satisfying } from './date-interval.ts';
import { dateCodec } from './datetime.ts';
import { countedDays, type DaysOptions, daysCodec } from './days.ts';
import { dateIn, type PackedColumn, packedColumn } from './packed-column.ts';
import { firstDay, LAST_PACKED, nextPacked, packDay, printPacked } from './packed-date.ts';
import { bounds, isTimed, type TimedType, timeLiteral } from './stored-time.ts';
import { TICKS, type TimeColumn, type TimeForm, timeColumn } from './time-column.ts';
import { packedKey, ymd8Codec } from './ymd8.ts';

export interface DateAndTimeOptions {
  readonly zone: Zone;
  readonly dateType: ColumnType;
  /** The year that the years of packed dates count from. */
  readonly since?: number | undefined;
  /** The column counts days. */
  readonly counted?: Pick<DaysOptions, 'count' | 'first' | 'options'> | undefined;
  readonly timeType: ColumnType;
  /** Form of the time; `time` is a TIME column. */
  readonly time: TimeForm;
  /** Time of day for rows without a time in the second column. Without it such a value is the day alone. */
  readonly at?: MomentOptions | undefined;
}

export interface MomentOptions {
  readonly fhirType: 'dateTime' | 'instant';
  /** Time of day in milliseconds; whole minutes. */
  readonly local: number;
}

/** Makes the codec of a date column and a time column. */
export function dateAndTimeCodec(options: DateAndTimeOptions): Codec {
  const { zone, dateType, since, counted, timeType, time: form, at } = options;
  const timed = isTimed(dateType) ? dateType : undefined;
  const { dates, packing } = datesOf(options);
  const times = timeColumn(form, timeType);
  const { unit } = times;

  const dayLiteral = (day: number): Expression =>
    timed ? timeLiteral(day * DAY, timed) : packing.literal(packDay(day));
  const timeValue = (local: number): Expression => value(times.stored(local), timeType);

  const hasDate = (date: Expression): Predicate => (timed ? not(isNull(date)) : packing.isDate(date));

  const isWholeDay = (date: Expression): Predicate => (timed ? hasDate(date) : packing.isDay(date));

  /** Returns the expression to compare and sort by. */
  const dated = (date: Expression): Expression => (timed ? date : packing.compared(date));

  /** Tests that the date is a day and the time is valid, so that the value has a time. */
  const hasTime = (columns: readonly Expression[]): Predicate =>
    and(isWholeDay(column(columns, 0)), times.isTime(column(columns, 1)));

  const ends = packing.ends ?? { first: FIRST_DAY, end: END_DAY };
  const { first, end } = timed ? bounds(timed) : { first: ends.first * DAY, end: ends.end * DAY };

  // Days from `end` on can neither be stored nor be written as a literal.
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

  // An instant is written with milliseconds, so its interval is one millisecond.
  const precise = at?.fhirType === 'instant';
  const precisionOf = (of: Precision): Precision => (precise ? { ...of, length: 1 } : of);

  /** Tests for values without a time that satisfy a criterion. */
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
    times,
    timeType,
    hasTime,
    dated,
    readDate: raw => (timed ? packText(raw) : dateIn(raw, packing)),
    storedDate: packed => (timed ? storedDay(packed, timed) : packing.stored(packed)),
    first: timed ? FIRST_DAY : ends.first,
    last: timed ? LAST_PACKED : packDay(ends.end - 1),
  };
  // Caches the last value: neighboring rows often share date and time.
  let last: { readonly rawDate: SqlValue; readonly rawTime: SqlValue; readonly value: string | undefined } | undefined;
  const read = (rawDate: SqlValue, rawTime: SqlValue): string | undefined => {
    const date = dates.decode(rawDate);
    if (typeof date !== 'string') return undefined;
    const time = date.length === 10 ? (times.read(rawTime) ?? at?.local) : undefined;
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

/** Returns the codec and the packing of the first column. */
function datesOf({ zone, dateType, since, counted }: DateAndTimeOptions): { dates: Codec; packing: PackedColumn } {
  const columnType = dateType;
  if (isTimed(columnType)) return { dates: dateCodec({ zone, columnType }), packing: packedColumn(dateType) };
  if (!counted) return { dates: ymd8Codec({ zone, columnType, since }), packing: packedColumn(dateType, since) };
  const dates = daysCodec({ ...counted, zone, unit: DAY, name: '', gives: 'day' });
  return { dates, packing: countedDays(counted) };
}

/** How the columns hold the values that are sorted by. */
interface StoredMoments {
  readonly times: TimeColumn;
  readonly timeType: ColumnType;
  readonly hasTime: (columns: readonly Expression[]) => Predicate;
  readonly dated: (date: Expression) => Expression;
  /** Returns the packed date of a raw value; `storedDate` is the inverse. */
  readonly readDate: (raw: SqlValue | undefined) => number | undefined;
  readonly storedDate: (packed: number) => SqlValue;
  /** The first day and the last packed date that the column can hold. */
  readonly first: number;
  readonly last: number;
}

/** Orders values that all have a time, possibly that of `at`. */
function orderOfMoments(stored: StoredMoments, at: number): OrderFace {
  const { times, timeType, hasTime, dated, readDate, storedDate, first, last } = stored;
  const otherwise = constant(times.stored(at), timeType);
  return {
    by: columns => {
      const time = { when: hasTime(columns), give: column(columns, 1) };
      return [dated(column(columns, 0)), { kind: 'choice', of: [time], otherwise, type: timeType }];
    },
    toKey: ([date, time]) => {
      const packed = readDate(date);
      const local = time === undefined ? undefined : times.read(time);
      if (packed === undefined || local === undefined || printPacked(packed)?.length !== 10) return undefined;
      return `${packedKey(packed).slice(0, 10)} ${printTime(local)}.${times.fraction(time ?? null)}`;
    },
    fromKey: key => {
      const { packed, local, rest } = parseTimeKey(String(key));
      if (packed < packDay(first)) return [storedDate(packDay(first)), times.storedTicks(0)];
      const before = Math.floor(local / DAY);
      const time = raised((local - before * DAY) * TICKS + rest, times.ticks);
      const day = time < DAY * TICKS ? before : before + 1;
      if (day >= END_DAY || packDay(day) > last) return undefined;
      return [storedDate(packDay(day)), times.storedTicks(time % (DAY * TICKS))];
    },
  };
}

/** Returns a packed date as a column of dates stores it. */
function storedDay(packed: number, type: TimedType): SqlValue {
  if (type.kind === 'date') return printDay(firstDay(packed));
  return `${printDay(firstDay(packed))} 00:00:00${type.fraction > 0 ? `.${'0'.repeat(type.fraction)}` : ''}`;
}

/** Orders values that may lack a time: those come first on their day, and their key is the day alone. */
function orderOf({ times, hasTime, dated, readDate, storedDate, first, last }: StoredMoments): OrderFace {
  return {
    by: columns => [dated(column(columns, 0)), flag(hasTime(columns)), given(hasTime(columns), column(columns, 1))],
    toKey: ([date, known, time]) => {
      const packed = readDate(date);
      if (packed === undefined) return undefined;
      const day = packedKey(packed).slice(0, 10);
      const local = known === 1 && time !== undefined ? times.read(time) : undefined;
      return local === undefined ? day : `${day} ${printTime(local)}.${times.fraction(time ?? null)}`;
    },
    fromKey: key => {
      const text = String(key);
      const { packed, local, rest } = parseTimeKey(text);
      const dayFrom = (at: number): readonly SqlValue[] | undefined =>
        nextPacked(at) > last ? undefined : [storedDate(nextPacked(at)), 0];
      if (text.length === 10 || packed < packDay(first)) return dayFrom(packed);
      const time = raised((((local % DAY) + DAY) % DAY) * TICKS + rest, times.ticks);
      const isDay = nextPacked(packed) === packed && packed % 100 !== 0;
      // A month or year has no times, so its first day follows it.
      if (!isDay || time >= DAY * TICKS || packed > last) return dayFrom(packed + 1);
      return [storedDate(packed), 1, times.storedTicks(time)];
    },
  };
}

function raised(ticks: number, unit: number): number {
  return Math.ceil(ticks / unit) * unit;
}

function packText(date: SqlValue | undefined): number | undefined {
  const day = typeof date === 'string' ? parseDay(date) : undefined;
  return day === undefined ? undefined : packDay(day);
}
