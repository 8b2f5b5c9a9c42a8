/**
 * `epoch`: reads an integer column of seconds or milliseconds since 1970-01-01T00:00Z, which is an instant whatever the
 * zone. In: the number. Out: dateTime with seconds, or instant with milliseconds, at the pack's offset of that moment;
 * as a date the day on clocks of the pack's zone, or of UTC.
 * Numbers outside the years 0001 to 9999 are absent.
 * https://hl7.org/fhir/R4/datatypes.html#dateTime
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { and, call, compare, constant, isNull, not, value } from '../../sql/construct.ts';
import type { Expression, SqlValue } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, parseDay, printDay, printMoment, printOffset } from '../../time/calendar.ts';
import { countOfInstant, type EpochUnit } from '../../time/epoch-units.ts';
import { countFromKey, instantKey } from '../../time/instant-key.ts';
import { clip, mapEnds } from '../../time/range-set.ts';
import { UTC, type Zone } from '../../time/zone.ts';
import { rangePredicate, successor } from '../ranges.ts';
import { type Codec, only } from './codec.ts';
import { MILLISECOND, SECOND, satisfying } from './date-interval.ts';
import { instantsOfDays } from './instant.ts';

type IntegerType = Extract<ColumnType, { kind: 'integer' }>;

export interface EpochOptions {
  readonly zone: Zone;
  readonly columnType: IntegerType;
  readonly fhirType: 'dateTime' | 'instant' | 'date';
  /** Zone whose clocks determine the day of a date; by default `zone`. */
  readonly dayIn?: Zone | undefined;
  /** Milliseconds that the column counts in. */
  readonly unit: 1 | 1000;
}

/**
 * Reads moments counted by numbers in a column of any type, because SQLite stores them in DATETIME and REAL too. SQL
 * computes them, so no index serves.
 */
export function computedEpochCodec(
  epochUnit: EpochUnit,
  { zone, fhirType, dayIn }: Pick<EpochOptions, 'zone' | 'fhirType' | 'dayIn'>,
): Codec {
  const codec = epochCodec({ zone, columnType: BIGINT, fhirType, dayIn, unit: 1 });
  const unit = constant(epochUnit, UNICODE);
  return {
    ...codec,
    label: `${LABELS[epochUnit]}${dayOfLabel(fhirType, dayIn)}`,
    inverse: 'computed',
    rawsOf: rawsIn(zone, epochUnit),
    readsOf: rawsIn(zone, 'milliseconds'),
    // Reads the column's numbers, whatever type it declares.
    reads: columns => columns.map(column => call('instant', [{ ...column, type: { kind: 'float' } }, unit], BIGINT)),
  };
}

/** Returns the numbers of a day's midnight: in UTC, which programs mostly count by, and in the zone. */
function rawsIn(zone: Zone, unit: EpochUnit): (day: string) => readonly number[] {
  return text => {
    const day = parseDay(text);
    if (day === undefined) return [];
    return [...new Set([day * DAY, zone.toInstant(day * DAY)])].map(instant => countOfInstant(instant, unit));
  };
}

const LABELS = { days: 'julian', seconds: 'epoch', milliseconds: 'epoch (milliseconds)' } as const;

function dayOfLabel(fhirType: string, dayIn: Zone | undefined): string {
  return fhirType !== 'date' ? '' : dayIn ? ' (day in UTC)' : ' (day)';
}

const BIGINT = { kind: 'integer', bits: 64 } as const;

/**
 * Range of instants. One day, more than any offset, is left out at either end, so that FHIR can write the local year.
 */
const FIRST = (FIRST_DAY + 1) * DAY;
const END = (END_DAY - 1) * DAY;

/** Reads moments counted since 1970. */
export function epochCodec({ zone, columnType, fhirType, dayIn, unit }: EpochOptions): Codec {
  const [first, end] = [FIRST / unit, END / unit];
  const inRange = (column: Expression): ReturnType<typeof and> =>
    columnType.bits < 64
      ? not(isNull(column))
      : and(compare(column, '>=', constant(first, columnType)), compare(column, '<', constant(end, columnType)));
  const most = 2 ** (columnType.bits - 1);
  const [least, beyond] = columnType.bits < 64 ? [-most, most] : [first, end];
  const instantOf = (raw: SqlValue | undefined): number | undefined => {
    const at = typeof raw === 'number' || typeof raw === 'string' ? Number(raw) : Number.NaN;
    return at >= first && at < end ? at * unit : undefined;
  };
  return {
    label: `${unit === 1 ? LABELS.milliseconds : LABELS.seconds}${dayOfLabel(fhirType, dayIn)}`,
    yields: [fhirType],
    columns: 1,
    plain: true,
    inverse: 'indexed',
    rawsOf: rawsIn(zone, unit === 1 ? 'milliseconds' : 'seconds'),
    decode: raw => {
      const instant = instantOf(raw);
      if (instant === undefined) return undefined;
      const offset = (dayIn ?? zone).offsetAt(instant);
      const local = instant + offset;
      if (fhirType === 'date') return printDay(Math.floor(local / DAY));
      return printMoment(local, printOffset(offset), fhirType);
    },
    present: columns => inRange(only(columns)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const column = only(columns);
      const precise = fhirType === 'instant' ? MILLISECOND : SECOND;
      const counted = (precise === MILLISECOND ? 1 : 1000) / unit;
      const set =
        fhirType === 'date'
          ? mapEnds(instantsOfDays(criterion.any, zone, dayIn ?? zone), at => Math.ceil(at / unit))
          : mapEnds(satisfying(criterion.any, UTC, precise), at => Math.ceil(at * counted));
      const present = inRange(column);
      const within = rangePredicate(clip(set, least, beyond), {
        column,
        literal: at => value(at, columnType),
        next: successor,
        present,
      });
      return and(present, within);
    },
    order: {
      by: columns => [only(columns)],
      toKey: ([raw]) => {
        const instant = instantOf(raw);
        return instant === undefined ? undefined : instantKey(instant, zone);
      },
      fromKey: key => {
        const at = countFromKey(String(key), zone, { unit, first: least, end: beyond });
        return at === undefined ? undefined : [at];
      },
    },
  };
}
