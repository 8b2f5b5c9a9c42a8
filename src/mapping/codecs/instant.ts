/**
 * `datetime` and `date` of columns that store moments: with an offset from UTC (DATETIMEOFFSET), or as a DATETIME that
 * the mapping declares as UTC. In: the moment on clocks in UTC (src/sql/plan.ts), because the server compares, sorts
 * and indexes such a column by its instant. Out: dateTime, instant or the day, all in the pack's zone or in another one
 * that the mapping names. Two rows that the server treats as equal have one value, whatever their stored offsets.
 * https://learn.microsoft.com/sql/t-sql/data-types/datetimeoffset-transact-sql
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { and, isNull, not, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { DAY, digits, END_DAY, FIRST_DAY, pad, printDay, printMoment, printOffset } from '../../time/calendar.ts';
import { type FineInstant, fineFromKey, instantKey } from '../../time/instant-key.ts';
import { clip, complement, EVERYTHING, intersect, mapEnds, type RangeSet, union } from '../../time/range-set.ts';
import { parseLocal, printLocal, timeKey, UTC, type Zone, zoneOf } from '../../time/zone.ts';
import type { Criterion, DateEdge } from '../criterion.ts';
import { outerBounds, rangePredicate } from '../ranges.ts';
import { type Codec, only } from './codec.ts';
import { CHARACTERS, type DayPrecision, daysSatisfying, MILLISECOND, SECOND, satisfying } from './date-interval.ts';
import { bounds, type DatetimeType, isComputed, storedFromKey, storedReader } from './stored-time.ts';

export type InstantType = Extract<ColumnType, { kind: 'instant' }>;

export interface InstantOptions {
  readonly zone: Zone;
  /** Where the clocks stand that the moment is shown by, or its day; without it those of `zone`. */
  readonly shown?: Zone;
  readonly columnType: InstantType | DatetimeType;
  /** A day, its month and its year are for a `date` or a dateTime. */
  readonly gives: 'dateTime' | 'instant' | DayPrecision;
}

const FIRST = FIRST_DAY * DAY;
const END = END_DAY * DAY;
/** Units of 100 ns per millisecond, and digits of a second that count them. */
const UNITS = 10_000;
const MOST_DIGITS = 7;

export function instantCodec({ zone, shown = zone, columnType, gives }: InstantOptions): Codec {
  const { first, end, textOf, stored } = storedMomentsIn(columnType);
  // At either end of the calendar FHIR may be unable to write the local year.
  const least = Math.max(first, ...[zone, shown].map(one => FIRST - one.offsetAt(FIRST)));
  const beyond = Math.min(end, ...[zone, shown].map(one => END - one.offsetAt(END - DAY)));
  // Days sort among days, moments among moments.
  const isDay = gives !== 'dateTime' && gives !== 'instant';
  const sorted = isDay ? shown : zone;
  const isCut = gives === 'month' || gives === 'year';
  const ends = { first: least, end: beyond };
  const literal = (at: number): Expression => value(textOf({ at, rest: 0 }) ?? null, columnType);
  const from = least > first ? literal(least) : undefined;
  const to = beyond < end ? literal(beyond) : undefined;
  const inRange = (column: Expression, set: RangeSet = EVERYTHING): Predicate =>
    and(not(isNull(column)), outerBounds(column, set, from, to));
  const read = (raw: SqlValue | undefined): FineInstant | undefined => {
    const text = stored(raw);
    const at = text === undefined ? undefined : parseLocal(text);
    if (text === undefined || at === undefined || at < least || at >= beyond) return undefined;
    const fraction = text.slice(23, 20 + MOST_DIGITS).padEnd(4, '0');
    return { at, rest: digits(fraction, 0, 4) };
  };
  const write = (raw: string): string | undefined => {
    const found = read(raw);
    if (!found) return undefined;
    const offset = shown.offsetAt(found.at);
    const local = found.at + offset;
    if (!isDay) return printMoment(local, printOffset(offset), gives);
    return printDay(Math.floor(local / DAY)).slice(0, CHARACTERS[gives]);
  };
  // Caches the last value: the time of a row's last change is written again in a header.
  let last: { readonly text: string; readonly value: string | undefined } | undefined;
  return {
    label: `${isDay ? 'date' : 'datetime'}${columnType.kind === 'instant' ? '' : ' (in UTC)'}`,
    yields: isDay ? ['date', 'dateTime'] : [gives],
    options: { ...(shown !== zone && { clock: shown.name }), ...(isCut && { precision: gives }) },
    columns: 1,
    plain: true,
    inverse: isComputed(columnType) ? 'computed' : 'indexed',
    // The canonical text of rows without a common form is in the zone of the type.
    ...(isComputed(columnType) && { reads: columns => columns.map(one => ({ ...one, type: columnType })) }),
    decode: raw => {
      if (typeof raw !== 'string') return undefined;
      if (last?.text !== raw) last = { text: raw, value: write(raw) };
      return last.value;
    },
    present: columns => inRange(only(columns)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const column = only(columns);
      const within = clip(instantsOf(criterion, gives, zone, shown), least, beyond);
      const held = mapEnds(within, at => (textOf({ at, rest: 0 }) === undefined ? Number.POSITIVE_INFINITY : at));
      // Each millisecond stands for several moments that a column may hold.
      const found = rangePredicate(held, { column, literal, next: undefined, present: inRange(column) });
      return and(inRange(column, held), found);
    },
    // The column sorts within a month, too, where all are equal.
    ...(!isCut && {
      order: {
        by: columns => [only(columns)],
        toKey: ([raw]) => {
          const found = read(raw);
          return found && instantKey(found.at, sorted, found.rest);
        },
        fromKey: key => {
          const found = fineFromKey(String(key), sorted, ends);
          const text = found && textOf(found);
          const at = text === undefined ? undefined : parseLocal(stored(text) ?? '');
          return text === undefined || at === undefined || at >= beyond ? undefined : [text];
        },
      },
    }),
  };
}

/**
 * Returns the least and the greatest moment of a column, which programs write for no value, if FHIR cannot write their
 * local year. No codec reads them.
 */
export function unreadEnds(type: InstantType): readonly string[] {
  if (type.zone === undefined) return [];
  const { decode } = instantCodec({ zone: zoneOf(type.zone), columnType: type, gives: 'dateTime' });
  const last = storedInstant({ at: END - 1000, rest: 0 }, type).replace(/\.0+$/, part => part.replaceAll('0', '9'));
  return [storedInstant({ at: FIRST, rest: 0 }, type), last].filter(one => decode(one) === undefined);
}

/** Returns the instants, in milliseconds, whose emitted value satisfies a criterion. */
function instantsOf(
  { any }: Extract<Criterion, { kind: 'date' }>,
  gives: InstantOptions['gives'],
  zone: Zone,
  shown: Zone,
): RangeSet {
  if (gives === 'instant') return satisfying(any, UTC, MILLISECOND);
  if (gives === 'dateTime') return mapEnds(satisfying(any, UTC, SECOND), second => second * 1000);
  return instantsOfDays(any, zone, shown, gives);
}

/** Returns the instants whose day on clocks in `shown`, as far as it is written, satisfies a criterion. */
export function instantsOfDays(
  any: readonly (readonly DateEdge[])[],
  zone: Zone,
  shown: Zone,
  precision: DayPrecision = 'day',
): RangeSet {
  const from = (day: number): RangeSet => (Number.isFinite(day) ? shown.instantsFrom(day * DAY) : EVERYTHING);
  const days = daysSatisfying(any, zone, precision);
  return union(
    ...days.map(day =>
      Number.isFinite(day.to) ? intersect(from(day.from), complement(from(day.to))) : from(day.from),
    ),
  );
}

/** How a column stores moments. */
interface StoredMoments {
  /** The least moment that it can hold, and the end (exclusive). */
  readonly first: number;
  readonly end: number;
  /** Returns the moment on clocks in UTC. */
  readonly stored: (raw: SqlValue | undefined) => string | undefined;
  /** Returns the moment as in its rows, raised to one that it can hold; undefined after the last. */
  readonly textOf: (instant: FineInstant) => string | undefined;
}

function storedMomentsIn(type: InstantType | DatetimeType): StoredMoments {
  if (type.kind === 'instant')
    return {
      first: FIRST,
      end: END,
      stored: raw => (typeof raw === 'string' ? raw : undefined),
      textOf: found => (raised(found, type).at < END ? storedInstant(found, type) : undefined),
    };
  const key = ({ at, rest }: FineInstant): string => `${timeKey(printLocal(at, 3)).slice(0, -4)}${pad(rest, 4)}`;
  return { ...bounds(type), stored: storedReader(type), textOf: found => storedFromKey(key(found), type) };
}

/** Returns the first moment at or after one that the column can hold. */
function raised({ at, rest }: FineInstant, { fraction }: InstantType): FineInstant {
  const second = Math.floor(at / 1000) * 1000;
  const unit = 10 ** (MOST_DIGITS - fraction);
  const units = Math.ceil(((at - second) * UNITS + rest) / unit) * unit;
  return { at: second + Math.floor(units / UNITS), rest: units % UNITS };
}

/** Writes a moment as in the column's rows, raised to one that it can hold. */
function storedInstant(instant: FineInstant, type: InstantType): string {
  const { at, rest } = raised(instant, type);
  const text = `${printLocal(at, 3)}${pad(rest, 4)}`;
  return type.fraction === 0 ? text.slice(0, 19) : text.slice(0, 20 + type.fraction);
}

/**
 * Converts a literal of a mapping, which is a local time, to the form of the column's rows. A local time that occurs
 * twice means the first; a skipped one means the moment of the change.
 */
export function instantOfLocal(key: string, type: InstantType): string | undefined {
  const ends = { first: FIRST, end: END };
  const found = type.zone === undefined ? undefined : fineFromKey(key, zoneOf(type.zone), ends);
  return found && raised(found, type).at < END ? storedInstant(found, type) : undefined;
}
