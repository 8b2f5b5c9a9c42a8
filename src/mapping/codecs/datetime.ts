/**
 * `datetime` and `date`: columns of the types DATE, DATETIME, SMALLDATETIME, DATETIME2, which hold zoneless local times
 * of the pack's zone. In: the text of such a column (src/sql/plan.ts). Out: dateTime with seconds and offset, instant
 * with milliseconds, or the day. SQL gives NULL or a well-formed time for such a column. SQL Server ensures it, and on
 * SQLite the form of the rows in the catalog does (src/sql/sqlite/measure.ts).
 * https://hl7.org/fhir/R4/datatypes.html#dateTime
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, call, compare, constant, isNull, not, or, TRUE, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import {
  DAY,
  END_DAY,
  FIRST_DAY,
  pad,
  parseDay,
  printDay,
  printMoment,
  printOffset,
  printTime,
} from '../../time/calendar.ts';
import { instantOfRepeatedHour, isRepeatedHourKey, repeatedHourAt } from '../../time/instant-key.ts';
import { clip, intersect, mapEnds, overlay, type RangeSet } from '../../time/range-set.ts';
import { parseLocal, parseTimeKey, printLocal, timeKey, UTC, type Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { rangePredicate, successor } from '../ranges.ts';
import { type Codec, type OrderFace, only, standing } from './codec.ts';
import {
  CHARACTERS,
  type DayPrecision,
  daysSatisfying,
  MILLISECOND,
  SECOND,
  SECOND_BY_MILLISECOND,
  satisfying,
  WHOLE_DAY,
} from './date-interval.ts';
import { bounds, isComputed, raise, storedFromKey, storedReader, type TimedType, timeLiteral } from './stored-time.ts';
import { onUtcInstants } from './utc-instants.ts';

export interface DatetimeOptions {
  readonly zone: Zone;
  readonly columnType: TimedType;
  /** The FHIR type to emit. */
  readonly fhirType: 'dateTime' | 'instant' | 'date';
  /**
   * Meaning of 00:00:00.000. `time`: a time. `date`: no time is known, so the day alone is emitted. `absent`: nothing
   * is emitted, for elements that need a time, such as a Period, whose ends must have the same precision.
   */
  readonly midnight: 'date' | 'absent' | 'time';
}

/** Makes the codec of local times with seconds. For `date`, or from a DATE column, it gives the day alone. */
export function datetimeCodec({ zone, columnType, fhirType, midnight }: DatetimeOptions): Codec {
  if (fhirType === 'date' || columnType.kind === 'date') return dateCodec({ zone, columnType });
  const { form } = columnType;
  // Texts in UTC do not show which of them are a local midnight.
  if (form?.kind === 'any' && form.utc && midnight === 'time') {
    const computed = { ...columnType, form: { kind: 'any', zone: form.zone } as const };
    return onUtcInstants(datetimeCodec({ zone, columnType: computed, fhirType, midnight }), {
      ...{ zone, fhirType, layout: form.utc },
    });
  }
  const known = midnight !== 'date' || fhirType === 'instant';
  const milliseconds = fhirType === 'instant';
  const hasTime = (column: Expression): Predicate => (midnight !== 'time' && known ? isAfterMidnight(column) : TRUE);
  // Caches the last value: the time of a row's last change is written again in a header.
  let last: { readonly text: string; readonly value: string | undefined } | undefined;
  const stored = storedReader(columnType);
  const read = (raw: string): string | undefined => {
    const text = stored(raw);
    if (text === undefined) return undefined;
    const local = parseLocal(text);
    if (local === undefined) return readRepeatedHour(text, zone, milliseconds);
    if (midnight !== 'time' && local % DAY === 0) return known ? undefined : text.slice(0, 10);
    const time = text.length < 19 ? '00:00:00' : text.slice(11, 19);
    const fraction = milliseconds ? millisecondsOf(text) : '';
    return `${text.slice(0, 10)}T${time}${fraction}${zone.offsetTextOf(local)}`;
  };
  return {
    label: midnight === 'time' ? 'datetime' : `datetime (midnight: ${midnight})`,
    yields: [fhirType],
    columns: 1,
    plain: true,
    inverse: isComputed(columnType) ? 'computed' : 'indexed',
    decode: raw => {
      if (typeof raw !== 'string') return undefined;
      if (last?.text !== raw) last = { text: raw, value: read(raw) };
      return last.value;
    },
    present: columns => and(not(isNull(only(columns))), hasTime(only(columns))),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const { any } = criterion;
      const withSecond = (locals: Predicate): Predicate =>
        isComputed(columnType) ? withRepeatedHour(locals, only(columns), any, zone, milliseconds) : locals;
      const match = (set: RangeSet, unit: number): Predicate =>
        and(withSecond(matchTimes(only(columns), columnType, set, unit, 'many')), hasTime(only(columns)));
      // Columns do not store every millisecond, so equality is not used.
      if (milliseconds) return match(satisfying(any, zone, MILLISECOND), 1);
      if (known) return match(satisfying(any, zone, SECOND), 1000);
      const days = satisfying(any, zone, WHOLE_DAY);
      const accepted = days.map(({ from, to }) => ({ from: from * DAY, to: to * DAY }));
      const set = overlay(satisfying(any, zone, SECOND_BY_MILLISECOND), [{ accepted, between: midnights }]);
      // Single points are midnights, which every column can hold.
      return withSecond(matchTimes(only(columns), columnType, set, 1, columnType.fraction > 3 ? 'many' : 'single'));
    },
    order: timeOrder(columnType),
  };
}

/** Prints an instant in the second pass of a repeated hour; undefined for any other text. */
function readRepeatedHour(key: string, zone: Zone, milliseconds: boolean): string | undefined {
  const instant = instantOfRepeatedHour(key, zone);
  if (instant === undefined) return undefined;
  const offset = zone.offsetAt(instant);
  const text = printLocal(instant + offset, 3);
  return `${text.slice(0, 10)}T${text.slice(11, milliseconds ? 23 : 19)}${printOffset(offset)}`;
}

/**
 * Adds instants in the second pass of a repeated hour, which lie between two local times. A set of local times contains
 * all of them or none. If an end of the search lies among them, they are excluded and searched separately.
 */
function withRepeatedHour(
  locals: Predicate,
  column: Expression,
  any: readonly (readonly DateEdge[])[],
  zone: Zone,
  milliseconds: boolean,
): Predicate {
  const ends = any.flatMap(edges => edges.flatMap(({ at }) => [at - 1000, at, at + 1000])).filter(Number.isFinite);
  const found = ends.flatMap(at => repeatedHourAt(at, zone) ?? []);
  const blocks = [...new Map(found.map(block => [block.from, block])).values()];
  if (blocks.length === 0) return locals;
  const unit = milliseconds ? 1 : 1000;
  const accepted = satisfying(any, UTC, milliseconds ? MILLISECOND : SECOND);
  const literal = (text: string): Expression => value(text, column.type);
  const outside = blocks.map(({ prefix }) =>
    not(and(compare(column, '>=', literal(prefix)), compare(column, '<', literal(`${prefix}:`)))),
  );
  const inside = blocks.flatMap(({ from, to, prefix }) =>
    intersect(accepted, [{ from: Math.ceil(from / unit), to: Math.ceil(to / unit) }]).map(range =>
      and(
        compare(column, '>=', literal(`${prefix}${pad(range.from * unit - from, 8)}`)),
        compare(column, '<', literal(`${prefix}${pad(range.to * unit - from, 8)}`)),
      ),
    ),
  );
  return or(and(locals, ...outside), ...inside);
}

/** Returns the milliseconds of a stored time, with three digits. */
function millisecondsOf(text: string): string {
  return text.length > 19 ? `.${text.slice(20, 23).padEnd(3, '0')}` : '.000';
}

export interface DateOptions {
  readonly zone: Zone;
  readonly columnType: TimedType;
  readonly precision?: DayPrecision;
}

/** Makes the codec of the day, its month or its year, of a DATE column or of the local time in a DATETIME column. */
export function dateCodec({ zone, columnType, precision = 'day' }: DateOptions): Codec {
  const stored = storedReader(columnType);
  return {
    label: 'date',
    yields: ['date', 'dateTime'],
    columns: 1,
    plain: true,
    inverse: isComputed(columnType) ? 'computed' : 'indexed',
    decode: raw => {
      const text = stored(raw);
      return text === undefined || parseDay(text) === undefined ? undefined : text.slice(0, CHARACTERS[precision]);
    },
    present: columns => not(isNull(only(columns))),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const days = daysSatisfying(criterion.any, zone, precision);
      return matchTimes(only(columns), columnType, days, DAY, columnType.kind === 'date' ? 'single' : 'many');
    },
    // The column sorts within a month, too, where all are equal.
    ...(precision === 'day' ? { order: timeOrder(columnType) } : { options: { precision } }),
  };
}

export interface DateAtOptions {
  readonly zone: Zone;
  readonly columnType: TimedType & { readonly kind: 'date' };
  readonly fhirType: 'dateTime' | 'instant';
  /** Time of day that the mapping gives, in milliseconds. */
  readonly at: number;
}

/** Reads a DATE column as moments at the time of day of the mapping. */
export function dateAtCodec({ zone, columnType, fhirType, at }: DateAtOptions): Codec {
  const days = dateCodec({ zone, columnType });
  const stored = storedReader(columnType);
  const length = fhirType === 'instant' ? 1 : 1000;
  const precision = { ceiling: (local: number): number => Math.ceil((local - at) / DAY), length };
  const localOf = (raw: SqlValue | undefined): number | undefined => {
    const text = stored(raw);
    const day = text === undefined ? undefined : parseDay(text);
    return day === undefined ? undefined : day * DAY + at;
  };
  return {
    ...days,
    label: `date (at ${printTime(at)})`,
    yields: [fhirType],
    decode: raw => {
      const local = localOf(raw);
      if (local === undefined) return undefined;
      return printMoment(local, zone.offsetTextOf(local), fhirType);
    },
    match: (columns, criterion) =>
      criterion.kind === 'date'
        ? matchTimes(only(columns), columnType, satisfying(criterion.any, zone, precision), DAY, 'single')
        : undefined,
    order: {
      by: columns => [standing(columns)],
      toKey: ([raw]) => {
        const local = localOf(raw);
        return local === undefined ? undefined : timeKey(printLocal(local, 3));
      },
      fromKey: key => {
        const { local, rest } = parseTimeKey(String(key));
        const day = Math.ceil((local + (rest > 0 ? 1 : 0) - at) / DAY);
        return day < END_DAY ? [printDay(Math.max(day, FIRST_DAY))] : undefined;
      },
    },
  };
}

/**
 * Tests for a set of times. `unit`: milliseconds per integer of the set. `values`: `many` if several stored values may
 * have the same integer.
 */
function matchTimes(
  column: Expression,
  type: TimedType,
  set: RangeSet,
  unit: number,
  values: 'single' | 'many',
): Predicate {
  const { first, end } = bounds(type);
  // Beyond its last time a column holds nothing, and no literal of its type exists.
  const held = mapEnds(set, at => (raise(at * unit, type) < end ? at : Number.POSITIVE_INFINITY));
  return rangePredicate(clip(held, Math.ceil(first / unit), Number.POSITIVE_INFINITY), {
    column,
    literal: at => timeLiteral(at * unit, type),
    next: values === 'single' ? successor : undefined,
    present: not(isNull(column)),
  });
}

/** Tests for a time of day after midnight, to the millisecond. */
function isAfterMidnight(column: Expression): Predicate {
  return compare(call('time-of-day', [column], TIME), '>=', constant('00:00:00.001', TIME_OF_MILLISECONDS));
}

const TIME: ColumnType = { kind: 'time', fraction: 7 };
const TIME_OF_MILLISECONDS: ColumnType = { kind: 'time', fraction: 3 };

/** Orders by the column itself, including local times of a skipped or repeated hour. */
function timeOrder(type: TimedType): OrderFace {
  const stored = storedReader(type);
  return {
    by: columns => [standing(columns)],
    toKey: ([raw]) => {
      const text = stored(raw);
      if (text === undefined) return undefined;
      if (parseLocal(text) !== undefined) return timeKey(text);
      return isRepeatedHourKey(text) ? text : undefined;
    },
    fromKey: key => {
      const stored = storedFromKey(String(key), type);
      return stored === undefined ? undefined : [stored];
    },
  };
}

function* midnights(from: number, to: number): Iterable<number> {
  for (let at = Math.ceil(from / DAY) * DAY; at < to; at += DAY) yield at;
}
