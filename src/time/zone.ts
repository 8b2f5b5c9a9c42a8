/**
 * Local wall-clock time of an IANA zone and instants, both ways. Local times are milliseconds since 1970-01-01 00:00 on
 * the wall clock, instants are milliseconds since the epoch. In: a zone's name. Out: local → offset, and the inverse:
 * the set of local times whose instant is at or after a bound.
 *
 * Two rules make local → instant a function: a local time that a clock change skips, and the first of a pair that it
 * repeats, both take the offset before the change. So the function is not monotone around a gap, and its preimage of
 * "at or after X" is a union of ranges rather than one. Offsets are whole minutes (FHIR can write no others), and
 * before 1900 the offset of 1900 counts. Rules of the zones: https://www.iana.org/time-zones, through Intl.
 */
import {
  civil,
  DAY,
  dayOf,
  digits,
  pad,
  parseClock,
  parseDay,
  printDay,
  printOffset,
  printTime,
  twoDigits,
} from './calendar.ts';
import { type RangeSet, rangeSet } from './range-set.ts';

export interface Zone {
  readonly name: string;
  /** Offset from UTC in milliseconds at a local time. */
  offsetOf(local: number): number;
  /** Likewise as FHIR writes it: `-05:00`, or `Z`. */
  offsetTextOf(local: number): string;
  /** Offset from UTC in milliseconds at an instant: of an hour that clocks repeat, either. */
  offsetAt(instant: number): number;
  /** The instant that a local time denotes. */
  toInstant(local: number): number;
  /** The local times whose instant is at or after `instant`. */
  localsFrom(instant: number): RangeSet;
  /** The instants at which clocks show a local time or a later one. */
  instantsFrom(local: number): RangeSet;
}

const MINUTE = 60_000;
const FIRST_YEAR = 1900;
const BEGIN = Date.UTC(FIRST_YEAR, 0, 1);
/** Of the Gregorian calendar, in the mean. */
const YEAR = 365.2425 * DAY;
/** No offset is farther from UTC, so that no local time is farther from its instant. */
const FARTHEST = DAY;

/** From a local time on, up to the next piece, one offset counts. */
interface Piece {
  readonly from: number;
  /** The instant of the change that it begins with; the first of a year has none. */
  readonly at: number;
  readonly offset: number;
  /** The offset as FHIR writes it. */
  readonly text: string;
}

/** A year of the wall clock. */
interface Year {
  readonly from: number;
  readonly to: number;
  /** The first begins with the year. */
  readonly pieces: readonly [Piece, ...Piece[]];
}

/** A change of offset at an instant. */
interface Transition {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

const zones = new Map<string, Zone>();

/** The zone of that name. Throws a RangeError if there is none. Made once per name. */
export function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known) return known;
  const zone = makeZone(name);
  zones.set(name, zone);
  return zone;
}

function makeZone(name: string): Zone {
  const readOffset = offsetReader(name);
  const initial = pieceOf(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, readOffset(BEGIN));
  /** By their number, from 1900 on. */
  const years: (Year | undefined)[] = [];

  const yearOf = (number: number): Year => {
    const known = years[number - FIRST_YEAR];
    if (known) return known;
    const from = dayOf(number, 1, 1) * DAY;
    const to = dayOf(number + 1, 1, 1) * DAY;
    const changes = transitions(readOffset, from - FARTHEST, to + FARTHEST).map(t =>
      pieceOf(t.at + Math.max(t.before, t.after), t.at, t.after),
    );
    const earlier = changes.findLast(piece => piece.from <= from);
    const first = earlier?.offset ?? readOffset(Math.max(from - FARTHEST, BEGIN));
    const year: Year = {
      from,
      to,
      pieces: [
        pieceOf(from, Number.NEGATIVE_INFINITY, first),
        ...changes.filter(piece => piece.from > from && piece.from < to),
      ],
    };
    years[number - FIRST_YEAR] = year;
    return year;
  };

  const pieceAt = (local: number): Piece => {
    if (local < BEGIN) return initial;
    // Right but for some hours around a New Year.
    let year = years[Math.floor((local - BEGIN) / YEAR)];
    if (!year || local < year.from || local >= year.to) year = yearOf(yearAt(local));
    const { pieces } = year;
    for (let i = pieces.length - 1; i > 0; i--) {
      const piece = pieces[i];
      if (piece && piece.from <= local) return piece;
    }
    return pieces[0];
  };
  const offsetOf = (local: number): number => pieceAt(local).offset;
  const offsetAt = (instant: number): number => {
    if (instant < BEGIN) return initial.offset;
    const { pieces } = yearOf(yearAt(instant + offsetOf(instant)));
    return pieces.findLast(piece => piece.at <= instant)?.offset ?? initial.offset;
  };

  return {
    name,
    offsetOf,
    offsetTextOf: local => pieceAt(local).text,
    offsetAt,
    toInstant: local => local - offsetOf(local),
    localsFrom: instant => {
      // Farther than a day on either side every local time lies on the same side of the bound as its instant.
      const low = instant - FARTHEST - 1;
      const high = instant + FARTHEST + 1;
      const starts = new Set([low]);
      for (let year = yearAt(low); year <= yearAt(high); year++) {
        for (const piece of yearOf(year).pieces) if (piece.from > low && piece.from < high) starts.add(piece.from);
      }
      const bounds = [...starts].toSorted((a, b) => a - b);
      return rangeSet(
        bounds.map((from, i) => ({
          from: Math.max(from, instant + offsetOf(from)),
          to: bounds[i + 1] ?? Number.POSITIVE_INFINITY,
        })),
      );
    },
    instantsFrom: local => {
      const [low, high] = [local - FARTHEST - 1, local + FARTHEST + 1];
      const starts = [low, ...transitions(readOffset, low, high).map(({ at }) => at)];
      return rangeSet(
        starts.map((from, i) => ({
          from: Math.max(from, local - offsetAt(from)),
          to: starts[i + 1] ?? Number.POSITIVE_INFINITY,
        })),
      );
    },
  };
}

function pieceOf(from: number, at: number, offset: number): Piece {
  return { from, at, offset, text: printOffset(offset) };
}

/** Reads the offset at an instant, in milliseconds truncated to whole minutes. */
function offsetReader(name: string): (instant: number) => number {
  if (name === 'UTC') return () => 0;
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  return instant => {
    const text = format.formatToParts(instant).find(part => part.type === 'timeZoneName')?.value ?? '';
    const match = /^GMT(?:([+-])(\d\d):(\d\d)(?::\d\d)?)?$/.exec(text);
    if (!match) throw new RangeError(`the offset of ${name} cannot be read`);
    const minutes = Number(match[2] ?? 0) * 60 + Number(match[3] ?? 0);
    return (match[1] === '-' ? -minutes : minutes) * MINUTE;
  };
}

/** All changes between two instants from 1900 on. A change that is undone within a week is not seen. */
function transitions(offsetAt: (instant: number) => number, from: number, to: number): readonly Transition[] {
  const found: Transition[] = [];
  let left = Math.max(from, BEGIN);
  let before = offsetAt(left);
  while (left < to) {
    const right = Math.min(left + 7 * DAY, to);
    const after = offsetAt(right);
    if (after !== before) {
      const at = firstWith(left + 1, right, instant => offsetAt(instant) !== before);
      found.push({ at, before, after: offsetAt(at) });
    }
    left = right;
    before = after;
  }
  return found;
}

/** Binary search: the first whole number from `low` on for which something holds, as for all behind it; or `high`. */
export function firstWith(low: number, high: number, holds: (at: number) => boolean): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (holds(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}

function yearAt(local: number): number {
  return civil(Math.floor(local / DAY)).year;
}

const BLANK = 32;
const COLON = 58;
const T = 84;

/** Local time in whole milliseconds of `2024-03-10 02:30:00.123` or `2024-03-10`; undefined if it is no local time. */
export function parseLocal(text: string): number | undefined {
  const day = parseDay(text);
  if (day === undefined) return undefined;
  if (text.length === 10) return day * DAY;
  if (text.length < 19 || text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return undefined;
  const separator = text.charCodeAt(10);
  if (separator !== BLANK && separator !== T) return undefined;
  const time = parseClock(twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17));
  if (time === undefined) return undefined;
  let millisecond = 0;
  if (text.length > 19) {
    if (text[19] !== '.' || text.length < 21 || Number.isNaN(digits(text, 20, text.length))) return undefined;
    for (let i = 20, unit = 100; i < 23 && i < text.length; i++, unit /= 10)
      millisecond += digits(text, i, i + 1) * unit;
  }
  return day * DAY + time + millisecond;
}

/** `2024-03-10 02:30:00.123` with as many digits of a second as asked for. */
export function printLocal(local: number, fraction: number): string {
  const text = `${printDay(Math.floor(local / DAY))} ${printTime(local)}`;
  if (fraction === 0) return text;
  const millisecond = pad(((local % 1000) + 1000) % 1000, 3);
  return `${text}.${millisecond.slice(0, fraction).padEnd(fraction, '0')}`;
}

/**
 * The sort key that all date codecs share: `2024-03-10 02:30:00.1234567`, ordered as text. A month or year is
 * `2024-03-00 …` or `2024-00-00 …`, and so comes before its first day.
 */
export function timeKey(text: string): string {
  const [seconds = '', fraction = ''] = (text.slice(11) || '00:00:00').split('.');
  return `${text.slice(0, 10)} ${seconds}.${fraction.padEnd(7, '0')}`;
}

/**
 * The parts of a sort key: the packed day as written, the first local time it means, and what is beyond its
 * millisecond, in units of 100 ns: all 10,000 of them for an instant that no local time is written for (instantKey in
 * instant-key.ts).
 */
export function parseTimeKey(key: string): { packed: number; local: number; rest: number } {
  const year = digits(key, 0, 4);
  const month = digits(key, 5, 7);
  const day = digits(key, 8, 10);
  // A key without a time of day is that of a day on which no time is known.
  const first = `${key.slice(0, 5)}${pad(Math.max(1, month), 2)}-${pad(Math.max(1, day), 2)}${key.slice(10, 23)}`;
  return {
    packed: year * 10_000 + month * 100 + day,
    local: parseLocal(first) ?? 0,
    rest: key.length > 27 ? 10_000 : key.length > 23 ? digits(key, 23, 27) : 0,
  };
}

/** Instants are their own local times there. */
export const UTC: Zone = zoneOf('UTC');
