/**
 * Serves DATETIME columns whose rows are all UTC instants of one layout (`2024-03-10T07:30:00Z`). These texts sort as
 * their instants do, so the column's index serves comparisons and sorts. In a mixed column, bounds exclude values that
 * are no date. In: the codec of a column of any form, which computes on it. Out: the same codec with bounds in the
 * layout of the rows. The canonical text is selected as before.
 */
import type { UtcLayout } from '../../sql/column-type.ts';
import { and, isNull, not, value } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY } from '../../time/calendar.ts';
import { countFromKey } from '../../time/instant-key.ts';
import { clip, EVERYTHING, mapEnds, type RangeSet } from '../../time/range-set.ts';
import { readMoment } from '../../time/written.ts';
import { printLocal, UTC, type Zone } from '../../time/zone.ts';
import { outerBounds, rangePredicate, successor } from '../ranges.ts';
import { type Codec, only } from './codec.ts';
import { MILLISECOND, SECOND, satisfying } from './date-interval.ts';

/** Sorts after all dates. */
const BEHIND = ':';
/** A type that the dialect does not convert. */
const BARE = { kind: 'datetime', name: 'datetime2', fraction: 0 } as const;

export interface UtcInstants {
  readonly zone: Zone;
  readonly fhirType: 'dateTime' | 'instant';
  readonly layout: UtcLayout;
}

/** `computed`: the codec for rows of any form, which emits every time unchanged. */
export function onUtcInstants(computed: Codec, { zone, fhirType, layout }: UtcInstants): Codec {
  const unit = unitOf(layout);
  // At either end of the calendar FHIR may be unable to write the local year.
  const least = Math.ceil(Math.max(FIRST, FIRST - zone.offsetAt(FIRST)) / unit);
  const beyond = Math.ceil(Math.min(END, END - zone.offsetAt(END - DAY)) / unit);
  const print = (count: number): string => {
    const text = printLocal(count * unit, 3).slice(0, layout.length - 1);
    return `${layout.separator === ' ' ? text : text.replace(' ', layout.separator)}Z`;
  };
  const literal = (count: number): Expression => value(print(count), BARE);
  const from = least * unit > FIRST || layout.mixed ? literal(least) : undefined;
  const behind = layout.mixed ? value(BEHIND, BARE) : undefined;
  const to = beyond * unit < END ? literal(beyond) : behind;
  const inRange = (column: Expression, set: RangeSet = EVERYTHING): Predicate =>
    and(not(isNull(column)), outerBounds(column, set, from, to));
  return {
    ...computed,
    inverse: 'indexed',
    present: columns => inRange(bare(columns)),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const column = bare(columns);
      const precise = fhirType === 'instant' ? MILLISECOND : SECOND;
      const perNumber = precise === MILLISECOND ? 1 : 1000;
      const set = mapEnds(satisfying(criterion.any, UTC, precise), at => Math.ceil((at * perNumber) / unit));
      const within = clip(set, least, beyond);
      const present = inRange(column);
      return and(inRange(column, within), rangePredicate(within, { column, literal, next: successor, present }));
    },
    order: {
      by: columns => [bare(columns)],
      toKey: ([raw]) => (typeof raw === 'string' ? readMoment(raw, zone) : undefined),
      fromKey: key => {
        const count = countFromKey(String(key), zone, { unit, first: least, end: beyond });
        return count === undefined ? undefined : [print(count)];
      },
    },
  };
}

const FIRST = FIRST_DAY * DAY;
const END = END_DAY * DAY;

/** Returns the milliseconds between two texts of a layout: `…:MMZ`, `…:SSZ`, `…:SS.FFFZ`. */
function unitOf({ length }: UtcLayout): number {
  if (length < 20) return 60_000;
  return length === 20 ? 1000 : 10 ** (24 - length);
}

/**
 * Returns the bare column. Throws a TypeError for anything else, because the codec of stored texts only gets columns.
 */
function bare(columns: readonly Expression[]): Expression {
  const column = only(columns);
  if (column.kind !== 'column') throw new TypeError('instants in UTC stand in a column');
  return { ...column, type: BARE };
}
