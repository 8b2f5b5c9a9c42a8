/**
 * `dtm`: reads time stamps of HL7 v2 in a text, `2024` to `20240310083005.123-0500` (src/time/dtm.ts); `iso`: those of
 * ISO 8601, `2024` to `2024-03-10T08:30:05.123-05:00`, which are rewritten as stamps of HL7 v2. In: the text.
 * Out: a dateTime of the text's precision, or an instant, in the pack's zone; as a date the day, month or year as
 * written. A stamp with a zone is that instant, one without is a local time of the pack's zone. The inverse compares
 * the meaning of the text, and adds a range of days of the column itself, which an index serves.
 */
import { UNICODE } from '../../sql/column-type.ts';
import { and, call, constant, FALSE, isNull, not, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, pad, printDay, printMoment, printOffset } from '../../time/calendar.ts';
import { DTM_LETTERS, type DtmNeed, printedDate, readDtm, stampOfIso, ZONED_YEARS } from '../../time/dtm.ts';
import { contains, intersect, type RangeSet } from '../../time/range-set.ts';
import { printLocal, UTC, type Zone } from '../../time/zone.ts';
import type { DateEdge } from '../criterion.ts';
import { rangePredicate } from '../ranges.ts';
import { type Codec, only } from './codec.ts';
import { MILLISECOND, SECOND, satisfying } from './date-interval.ts';
import { LAST_PACKED, packedSatisfying, printPacked } from './packed-date.ts';

export interface DtmOptions {
  readonly zone: Zone;
  readonly fhirType: 'date' | 'dateTime' | 'instant';
  /** Reads a day alone as 00:00, and adds 00 for missing minutes and seconds. */
  readonly atMidnight: boolean;
  /** The stamps are those of ISO 8601. */
  readonly iso?: boolean;
}

const LEAST = 10_000;
/** Range of instants that stamps with a zone can have, with a day to spare. */
const ZONED = { from: FIRST_DAY * DAY, to: Date.UTC(ZONED_YEARS.end, 0, 2) };

/** What satisfies a criterion, by kind of stamp. `unit`: milliseconds per integer of moments. */
interface Accepted {
  readonly dates: RangeSet;
  readonly locals: RangeSet;
  readonly instants: RangeSet;
  readonly unit: number;
}

export function dtmCodec({ zone, fhirType, atMidnight, iso = false }: DtmOptions): Codec {
  const codec = iso ? 'iso' : 'dtm';
  const need: DtmNeed =
    fhirType === 'date' ? 'day' : atMidnight ? 'midnight' : fhirType === 'instant' ? 'second' : 'moment';
  const name = constant(need, UNICODE);
  const stamp = (column: Expression): Expression => (iso ? call('iso', [column], UNICODE) : column);
  const compared = (column: Expression): Expression => call('dtm', [stamp(column), name], UNICODE);
  const accepted = (any: readonly (readonly DateEdge[])[]): Accepted => {
    const unit = fhirType === 'instant' ? 1 : 1000;
    const precise = fhirType === 'instant' ? MILLISECOND : SECOND;
    const within = (set: RangeSet, from: number, to: number): RangeSet => intersect(set, [{ from, to }]);
    const hasDates = need === 'day' || need === 'moment';
    return {
      dates: hasDates ? within(packedSatisfying(any, zone), LEAST, LAST_PACKED + 1) : [],
      locals:
        need === 'day' ? [] : within(satisfying(any, zone, precise), (FIRST_DAY * DAY) / unit, (END_DAY * DAY) / unit),
      instants: need === 'day' ? [] : within(satisfying(any, UTC, precise), ZONED.from / unit, ZONED.to / unit),
      unit,
    };
  };
  return {
    label: atMidnight ? `${codec} (at 00:00:00)` : codec,
    ...(atMidnight && { options: { at: '00:00:00' } }),
    yields: [fhirType],
    columns: 1,
    plain: true,
    inverse: 'computed',
    rawsOf: day =>
      iso ? ISO_MIDNIGHTS.map(time => day + time) : ['', '0000', '000000'].map(time => day.replaceAll('-', '') + time),
    decode: raw => {
      const text = typeof raw === 'string' ? (iso ? stampOfIso(raw) : raw) : undefined;
      const found = text === undefined ? undefined : readDtm(text, need);
      if (!found) return undefined;
      if (found.kind === 'date') return printPacked(found.packed);
      const offset = found.kind === 'local' ? zone.offsetOf(found.at) : zone.offsetAt(found.at);
      const local = found.kind === 'local' ? found.at : found.at + offset;
      return printMoment(local, printOffset(offset), fhirType);
    },
    present: columns => not(isNull(compared(only(columns)))),
    match: (columns, criterion) => {
      if (criterion.kind !== 'date') return undefined;
      const column = only(columns);
      const found = accepted(criterion.any);
      return and(...daysAround(column, found, iso), isOneOf(compared(column), found));
    },
    order: {
      by: columns => [call('dtm-key', [stamp(only(columns)), name, constant(zone.name, UNICODE)], UNICODE)],
      toKey: ([raw]) => (typeof raw === 'string' ? raw : undefined),
      fromKey: key => [String(key)],
    },
  };
}

function isOneOf(compared: Expression, { dates, locals, instants, unit }: Accepted): Predicate {
  const present = not(isNull(compared));
  const within = (set: RangeSet, literal: (at: number) => string): Predicate =>
    set.length === 0
      ? FALSE
      : rangePredicate(set, { column: compared, literal: at => value(literal(at), UNICODE), next: undefined, present });
  const moment = (letter: string) => (at: number) =>
    letter + (at * unit < END_DAY * DAY ? printLocal(at * unit, unit === 1 ? 3 : 0) : BEHIND);
  return or(
    within(dates, packed => DTM_LETTERS.date + printedDate(packed)),
    within(locals, moment(DTM_LETTERS.local)),
    within(instants, moment(DTM_LETTERS.instant)),
  );
}

/** Sorts after all digits. */
const BEHIND = ':';

/**
 * Returns bounds of the column: the days that matching stamps begin with. A zone shifts them by a day at most. Stamps
 * begin with digits, which every collation sorts alike.
 */
function daysAround(
  column: Expression,
  { dates, locals, instants, unit }: Accepted,
  iso: boolean,
): readonly Predicate[] {
  if (column.kind !== 'column') return [];
  const days = [
    dates.length > 0 ? { from: beginOf(dates[0]?.from ?? LEAST), to: endOf(dates) } : undefined,
    dayRange(locals, unit, 0),
    dayRange(instants, unit, FARTHEST),
  ].filter(range => range !== undefined);
  if (days.length === 0) return [];
  const [least = ''] = days.map(({ from }) => from).toSorted();
  const [end] = days.map(({ to }) => to).toSorted((a, b) => (a < b ? 1 : -1));
  const bound = (op: '>=' | '<', digits: string): Predicate => ({
    kind: 'compare',
    left: column,
    op,
    right: value(iso ? hyphenated(digits) : digits, column.type),
    not: false,
    native: true,
  });
  return [
    ...(least > FIRST_DIGITS ? [bound('>=', least)] : []),
    ...(end !== undefined && end < LAST_DIGITS ? [bound('<', end)] : []),
  ];
}

/** Adds the hyphens that the texts have at the same places, so that collations which ignore hyphens sort them alike. */
function hyphenated(digits: string): string {
  return [digits.slice(0, 4), digits.slice(4, 6), digits.slice(6)].filter(part => part !== '').join('-');
}

/** How programs write the beginning of a day that means "none". */
const CLOCKS = ['', 'T00:00', 'T00:00:00', 'T00:00:00.000'];
const ISO_MIDNIGHTS = [
  ...CLOCKS.flatMap(clock => [clock, clock.replace('T', ' ')]).slice(1),
  ...['T00:00:00Z', 'T00:00:00.000Z', 'T00:00:00+00:00', ' 00:00:00+00'],
];

const FIRST_DIGITS = '00010101';
const LAST_DIGITS = '99991231';

/** The largest offset from UTC, in milliseconds. */
const FARTHEST = 14 * 3_600_000;

/** `around`: milliseconds that a zone may shift by. */
function dayRange(set: RangeSet, unit: number, around: number): { from: string; to: string } | undefined {
  const [first, last] = [set[0], set.at(-1)];
  if (!first || !last) return undefined;
  const from = Math.max(FIRST_DAY, Math.floor((first.from * unit - around) / DAY));
  const to = Math.min(END_DAY - 1, Math.ceil((last.to * unit + around) / DAY));
  return { from: digitsOf(printDay(from)), to: digitsOf(printDay(to)) };
}

function digitsOf(date: string): string {
  return date.replaceAll('-', '');
}

/** Returns a text that no stamp of the packed date or a later one precedes. */
function beginOf(packed: number): string {
  return pad(packed, 8).replace(/(?:00){1,2}$/, '');
}

/**
 * Returns a text that no stamp of the dates follows. Some collations ignore the sign of a zone: `2024-0500` then sorts
 * after the days of April.
 */
function endOf(dates: RangeSet): string {
  const end = dates.at(-1)?.to ?? LEAST;
  const year = Math.floor((end - 1) / 10_000);
  const month = Math.floor(((end - 1) % 10_000) / 100);
  if (year === 9999) return LAST_DIGITS;
  if (contains(dates, year * 10_000)) return pad(year + 1, 4);
  if (month > 0 && contains(dates, year * 10_000 + month * 100)) return pad(year * 100 + month + 1, 6);
  return pad(end, 8);
}
