/**
 * Decides which records belong to a range of days. In: `date`, `rangeStart`, `rangeEnd` of a request, and the dates of
 * a record. Out: the range, and whether the record overlaps it. A record overlaps if it began by the last day and did
 * not end before the first, by calendar days in the pack's zone. A record without dates belongs to every range.
 */
import { isDay } from '../time/calendar.ts';
import { type Days, daysOf } from './time.ts';

/** The dates of a record, FHIR texts; without an end it is still current. */
export interface Span {
  readonly start?: string | undefined;
  readonly end?: string | undefined;
}

export interface RangeParameters {
  readonly date?: string | undefined;
  readonly rangeStart?: string | undefined;
  readonly rangeEnd?: string | undefined;
}

/** The problem with a range, for the client; names parameters and contains no value. */
export class RangeProblem extends Error {
  override readonly name = 'RangeProblem';
}

/** Returns the requested days; undefined for all. Throws RangeProblem. */
export function readRange({ date, rangeStart, rangeEnd }: RangeParameters): Days | undefined {
  for (const [name, text] of Object.entries({ date, rangeStart, rangeEnd })) {
    if (text !== undefined && !isCalendarDay(text)) throw new RangeProblem(`${name} expects a day as yyyy-MM-dd`);
  }
  if (rangeStart !== undefined && rangeEnd !== undefined && rangeStart > rangeEnd) {
    throw new RangeProblem('rangeStart is after rangeEnd');
  }
  if (date === undefined) {
    return rangeStart === undefined && rangeEnd === undefined ? undefined : { first: rangeStart, last: rangeEnd };
  }
  if ((rangeStart !== undefined && date < rangeStart) || (rangeEnd !== undefined && date > rangeEnd)) {
    throw new RangeProblem('date lies outside of rangeStart and rangeEnd');
  }
  return { first: date, last: date };
}

/** True if the text is a day that the calendar has, as `yyyy-MM-dd`. */
export function isCalendarDay(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  return match !== null && isDay(Number(match[1]), Number(match[2]), Number(match[3]));
}

/** True if a record lies in a range, wholly or in part. A date of a month or a year covers all of its days. */
export function overlaps(span: Span, range: Days | undefined, zone: string): boolean {
  if (range === undefined) return true;
  const start = daysOf(span.start, zone);
  const end = daysOf(span.end, zone);
  const begun = range.last === undefined || start === undefined || start.first <= range.last;
  const lasting = range.first === undefined || end === undefined || end.last >= range.first;
  return begun && lasting;
}

/** Returns text for people: `2020-01-01 to 2020-12-31`. */
export function readableRange({ first, last }: Days): string {
  if (first === last && first !== undefined) return first;
  if (first === undefined) return `until ${last}`;
  return last === undefined ? `from ${first} on` : `${first} to ${last}`;
}

/**
 * Returns text for people, after a verb or a noun: `on 2020-05-17`, `from 2020-01-01 to 2020-12-31`, `until
 * 2020-12-31`.
 */
export function inRange(range: Days): string {
  const { first, last } = range;
  if (first !== undefined && last !== undefined) return first === last ? `on ${first}` : `from ${first} to ${last}`;
  return readableRange(range);
}
