/**
 * Converts between local wall-clock time of an IANA zone and instants. Local times are milliseconds since 1970-01-01
 * 00:00 on the wall clock, instants are milliseconds since the epoch. In: a zone's name. Out: local → offset, and the
 * inverse: the set of local times whose instant is at or after a bound.
 *
 * Two rules make local → instant a function: a local time that a clock change skips, and the first of a pair that it
 * repeats, both take the offset before the change. So the function is not monotone around a gap, and its preimage of
 * "at or after X" is a union of ranges, not one range. Offsets are whole minutes (FHIR can write no others), and before
 * 1900 the offset of 1900 is used. Rules of the zones: https://www.iana.org/time-zones, through Intl.
 */
import { getOrInsert } from '../common/caches.ts';
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
  /** Returns the offset from UTC at a local time, in milliseconds. */
  offsetOf(local: number): number;
  /** Returns the same offset as FHIR writes it: `-05:00`, or `Z`. */
  offsetTextOf(local: number): string;
  /** Returns the offset from UTC at an instant, in milliseconds. In a repeated hour it may be either. */
  offsetAt(instant: number): number;
  /** Returns the instant that a local time denotes. */
  toInstant(local: number): number;
  /** Returns the local times whose instant is at or after `instant`. */
  localsFrom(instant: number): RangeSet;
  /** Returns the instants at which clocks show a local time or a later one. */
  instantsFrom(local: number): RangeSet;
}

const MINUTE = 60_000;
const FIRST_YEAR = 1900;
const BEGIN = Date.UTC(FIRST_YEAR, 0, 1);
/** Mean length of a Gregorian year. */
const YEAR = 365.2425 * DAY;
/** No offset is larger, so no local time is farther from its instant. */
const FARTHEST = DAY;

/** A period with one offset, from a local time to the next piece. */
interface Piece {
  readonly from: number;
  /** Instant of the change that it begins with. The first piece of a year has none. */
  readonly at: number;
  readonly offset: number;
  /** The offset as FHIR writes it. */
  readonly text: string;
}

/** A year of the wall clock. */
interface Year {
  readonly from: number;
  readonly to: number;
  /** The first one begins with the year. */
  readonly pieces: readonly [Piece, ...Piece[]];
}

/** A change of offset at an instant. */
interface Transition {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

const zones = new Map<string, Zone>();

/** Returns the zone of that name, made once per name. Throws a RangeError if there is none. */
export function zoneOf(name: string): Zone {
  return getOrInsert(zones, name, () => makeZone(name));
}

function makeZone(name: string): Zone {
  const readOffset = offsetReader(name);
  const initial = pieceOf(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, readOffset(BEGIN));
  /** By year, from 1900 on. */
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
    // This guess is right except for some hours around a New Year.
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
      // Beyond a day on either side, every local time lies on the same side of the bound as its instant.
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

/** Returns a function for the offset at an instant, in milliseconds truncated to whole minutes. */
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

/** Returns all changes between two instants from 1900 on. A change that is undone within a week is not found. */
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

/**
 * Binary search: returns the first whole number from `low` on for which `holds` is true, as for all after it; or
 * `high`.
 */
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

/** Parses `2024-03-10 02:30:00.123` or `2024-03-10` to a local time in whole milliseconds; undefined if it is none. */
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

/** Prints `2024-03-10 02:30:00.123` with `fraction` digits of a second. */
export function printLocal(local: number, fraction: number): string {
  const text = `${printDay(Math.floor(local / DAY))} ${printTime(local)}`;
  if (fraction === 0) return text;
  const millisecond = pad(((local % 1000) + 1000) % 1000, 3);
  return `${text}.${millisecond.slice(0, fraction).padEnd(fraction, '0')}`;
}

/**
 * Returns the sort key that all date codecs share: `2024-03-10 02:30:00.1234567`, ordered as text. A month or year is
 * `2024-03-00 …` or `2024-00-00 …`, and so sorts before its first day.
 */
export function timeKey(text: string): string {
  const [seconds = '', fraction = ''] = (text.slice(11) || '00:00:00').split('.');
  return `${text.slice(0, 10)} ${seconds}.${fraction.padEnd(7, '0')}`;
}

/**
 * Returns the parts of a sort key: the packed day as written, the first local time that it means, and the rest beyond
 * its millisecond in units of 100 ns. The rest is 10,000 for an instant in the second pass of a repeated hour
 * (instantKey in instant-key.ts).
 */
export function parseTimeKey(key: string): { packed: number; local: number; rest: number } {
  const year = digits(key, 0, 4);
  const month = digits(key, 5, 7);
  const day = digits(key, 8, 10);
  // A key without a time of day is that of a day whose time is unknown.
  const first = `${key.slice(0, 5)}${pad(Math.max(1, month), 2)}-${pad(Math.max(1, day), 2)}${key.slice(10, 23)}`;
  return {
    packed: year * 10_000 + month * 100 + day,
    local: parseLocal(first) ?? 0,
    rest: key.length > 27 ? 10_000 : key.length > 23 ? digits(key, 23, 27) : 0,
  };
}

/** Local times of UTC are instants. */
export const UTC: Zone = zoneOf('UTC');

/** In lower case. To ask the runtime takes longer than to read the rest of pack.yaml; it knows some six hundred. */
const names = new Set<string>();

/**
 * Whether a pack may name the zone. `EST` is a zone too, one without daylight saving: whoever writes it means that of a
 * place.
 */
export function isZone(zone: string): boolean {
  if (!zone.includes('/') && zone !== 'UTC') return false;
  if (names.has(zone.toLowerCase())) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    names.add(zone.toLowerCase());
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
