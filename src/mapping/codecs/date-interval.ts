/**
 * Inverts dates of a given precision (seconds, days, months …). In: the edges of a date criterion, which are instants,
 * and a precision. Out: the set of values, as numbers, that satisfy it: the exact preimage through the zone.
 * https://hl7.org/fhir/R4/search.html#date
 */

import { civil, DAY, dayOf } from '../../time/calendar.ts';
import type { RangeSet } from '../../time/range-set.ts';
import { complement, EVERYTHING, intersect, mapEnds, NOTHING, union } from '../../time/range-set.ts';
import type { Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';

/** A precision. Its values are numbered in the order of the local times at which they begin. */
export interface Precision {
  /** Returns the lowest number whose value begins at or after a local time. */
  ceiling(local: number): number;
  /**
   * Length of a value's interval in milliseconds. `next`: it ends at the instant when the next value begins locally.
   */
  readonly length: number | 'next';
}

export const MILLISECOND: Precision = { ceiling: local => local, length: 1 };
export const SECOND: Precision = { ceiling: local => Math.ceil(local / 1000), length: 1000 };
/** Times of day known to the minute. FHIR writes them with seconds, so their interval is one second. */
export const MINUTE: Precision = { ceiling: local => Math.ceil(local / 60_000), length: 1000 };
/** Seconds numbered by milliseconds, for columns in which some milliseconds have another meaning. */
export const SECOND_BY_MILLISECOND: Precision = { ceiling: local => Math.ceil(local / 1000) * 1000, length: 1000 };
export const WHOLE_DAY: Precision = { ceiling: local => Math.ceil(local / DAY), length: 'next' };
export const WHOLE_MONTH: Precision = {
  ceiling: local => {
    const { year, month, day } = civil(Math.ceil(local / DAY));
    return year * 12 + month - (day === 1 ? 1 : 0);
  },
  length: 'next',
};
export const WHOLE_YEAR: Precision = {
  ceiling: local => {
    const day = Math.ceil(local / DAY);
    const { year } = civil(day);
    return day === dayOf(year, 1, 1) ? year : year + 1;
  },
  length: 'next',
};

/** The part of a day that is written. */
export type DayPrecision = 'day' | 'month' | 'year';

/** Characters of `2024-03-10` that are written. */
export const CHARACTERS: Readonly<Record<DayPrecision, number>> = { day: 10, month: 7, year: 4 };

/** Returns the days, as numbers since 1970-01-01, whose written part satisfies one of the conjunctions. */
export function daysSatisfying(any: readonly (readonly DateEdge[])[], zone: Zone, precision: DayPrecision): RangeSet {
  if (precision === 'day') return satisfying(any, zone, WHOLE_DAY);
  const isMonth = precision === 'month';
  return mapEnds(satisfying(any, zone, isMonth ? WHOLE_MONTH : WHOLE_YEAR), number => {
    const year = isMonth ? Math.floor(number / 12) : number;
    return dayOf(year, isMonth ? number - year * 12 + 1 : 1, 1);
  });
}

/** Returns the numbers of the values whose interval satisfies one of the conjunctions. */
export function satisfying(any: readonly (readonly DateEdge[])[], zone: Zone, precision: Precision): RangeSet {
  const from = (instant: number): RangeSet => {
    if (!Number.isFinite(instant)) return instant < 0 ? EVERYTHING : NOTHING;
    return mapEnds(zone.localsFrom(instant), precision.ceiling);
  };
  const endsAfter = (instant: number): RangeSet => {
    if (precision.length !== 'next') return from(instant - precision.length + 1);
    return mapEnds(from(instant + 1), number => number - 1);
  };
  const rangeOf = (edge: DateEdge): RangeSet => {
    if (edge.edge === 'start') return edge.op === '>=' ? from(edge.at) : complement(from(edge.at));
    return edge.op === '>' ? endsAfter(edge.at) : complement(endsAfter(edge.at));
  };
  return union(...any.map(edges => intersect(EVERYTHING, ...edges.map(rangeOf))));
}
