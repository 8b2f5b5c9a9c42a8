/**
 * `datetime` and `date`: columns of the types DATE, DATETIME, SMALLDATETIME, DATETIME2, which hold zoneless local times of
 * the pack's zone. In: the text of such a column (src/sql/plan.ts). Out: dateTime with seconds and offset, instant with
 * milliseconds, or the day. A column of these types holds NULL or a well-formed time, as SQL Server sees to.
 * https://hl7.org/fhir/R4/datatypes.html#dateTime
 */
import type { Expression, Predicate } from '../../sql/expression.ts';
import { isNull, not } from '../../sql/expression.ts';
import type { RangeSet } from '../ranges.ts';
import { clip, overlay, rangePredicate, successor } from '../ranges.ts';
import type { Zone } from '../zone.ts';
import { DAY, parseDay, printOffset } from './calendar.ts';
import type { Codec, OrderFace } from './codec.ts';
import { MILLISECOND, SECOND, SECOND_BY_MILLISECOND, satisfying, WHOLE_DAY } from './date-interval.ts';
import { only } from './only.ts';
import type { TimedType } from './stored-time.ts';
import { bounds, parseLocal, storedFromKey, timeKey, timeLiteral } from './stored-time.ts';

export interface DatetimeOptions {
  readonly zone: Zone;
  readonly columnType: TimedType;
  /** The FHIR type to emit. */
  readonly fhirType: 'dateTime' | 'instant' | 'date';
  /** `date`: a time of 00:00:00.000 means that no time is known, so the day alone is emitted. */
  readonly midnight: 'date' | 'time';
}

/** Local times with seconds; for `date`, or from a DATE column, the day alone. */
export function datetimeCodec({ zone, columnType, fhirType, midnight }: DatetimeOptions): Codec {
  if (fhirType === 'date' || columnType.kind === 'date') return dateCodec({ zone, columnType });
  const known = midnight === 'time' || fhirType === 'instant';
  const milliseconds = fhirType === 'instant';
  return {
    label: known ? 'datetime' : 'datetime (midnight: date)',
    yields: [fhirType],
    columns: 1,
    small: false,
    inverse: 'indexed',
    decode: raw => {
      const text = typeof raw === 'string' ? raw : '';
      const local = parseLocal(text);
      if (local === undefined) return undefined;
      if (!known && local % DAY === 0) return text.slice(0, 10);
      const fraction = milliseconds ? `.${text.slice(20, 23).padEnd(3, '0')}` : '';
      return `${text.slice(0, 10)}T${text.slice(11, 19) || '00:00:00'}${fraction}${printOffset(zone.offsetOf(local))}`;
    },
    present: columns => not(isNull(only(columns))),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const { any } = criterion;
      // Not every millisecond is stored, so none of them is tested by equality.
      if (milliseconds) return matchTimes(only(columns), columnType, satisfying(any, zone, MILLISECOND), 1, 'many');
      if (known) return matchTimes(only(columns), columnType, satisfying(any, zone, SECOND), 1000, 'many');
      const days = satisfying(any, zone, WHOLE_DAY);
      const accepted = days.map(({ from, to }) => ({ from: from * DAY, to: to * DAY }));
      const set = overlay(satisfying(any, zone, SECOND_BY_MILLISECOND), [{ accepted, between: midnights }]);
      // Single points are midnights, which every column can hold.
      return matchTimes(only(columns), columnType, set, 1, columnType.fraction > 3 ? 'many' : 'single');
    },
    order: timeOrder(columnType),
  };
}

/** The day alone, of a DATE column or of the local time in a DATETIME column. */
export function dateCodec({ zone, columnType }: { readonly zone: Zone; readonly columnType: TimedType }): Codec {
  return {
    label: 'date',
    yields: ['date', 'dateTime'],
    columns: 1,
    small: false,
    inverse: 'indexed',
    decode: raw => {
      const text = typeof raw === 'string' ? raw : '';
      return parseDay(text) === undefined ? undefined : text.slice(0, 10);
    },
    present: columns => not(isNull(only(columns))),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const days = satisfying(criterion.any, zone, WHOLE_DAY);
      return matchTimes(only(columns), columnType, days, DAY, columnType.kind === 'date' ? 'single' : 'many');
    },
    order: timeOrder(columnType),
  };
}

/** `unit`: milliseconds that an integer of the set counts; `values`: how many stored values one may stand for. */
function matchTimes(
  column: Expression,
  type: TimedType,
  set: RangeSet,
  unit: number,
  values: 'single' | 'many',
): Predicate {
  const { first, end } = bounds(type);
  return rangePredicate(clip(set, Math.ceil(first / unit), Math.ceil(end / unit)), {
    column,
    literal: at => timeLiteral(at * unit, type),
    next: values === 'single' ? successor : undefined,
    present: not(isNull(column)),
  });
}

/** The column itself orders its local times, those of a skipped or repeated hour included. */
function timeOrder(type: TimedType): OrderFace {
  return {
    by: columns => [only(columns)],
    toKey: ([raw]) => (typeof raw === 'string' && parseLocal(raw) !== undefined ? timeKey(raw) : undefined),
    fromKey: key => [storedFromKey(String(key), type)],
  };
}

function* midnights(from: number, to: number): Iterable<number> {
  for (let at = Math.ceil(from / DAY) * DAY; at < to; at += DAY) yield at;
}
