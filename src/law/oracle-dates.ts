/**
 * Matches dates in the reference implementation of search. In: a date of a query with its prefix, the zone of local
 * times.
 * Out: whether a value matches. It uses the time zones of the platform, not those of src/time.
 * https://hl7.org/fhir/R4/search.html#date
 */
import { getOrInsert } from '../common/caches.ts';
import { type Answers, field, prefixOf } from './oracle-values.ts';

interface Interval {
  readonly low: number;
  readonly high: number;
}

/** Returns a test whether a date, period or timing matches a date of a query. */
export function date(text: string, zone: string, now: number): Answers {
  const { prefix, rest } = prefixOf(text);
  const asked = interval(rest, zone);
  const slack = Math.round(Math.abs(now - asked.low) * 0.1);
  return ({ type, value }) => {
    const target = valueInterval(type, value, zone);
    if (!target) return false;
    const contained = target.low >= asked.low && target.high <= asked.high;
    switch (prefix) {
      case 'eq':
        return contained;
      case 'ne':
        return !contained;
      case 'gt':
        return target.high > asked.high;
      case 'lt':
        return target.low < asked.low;
      case 'ge':
        return target.high > asked.high || contained;
      case 'le':
        return target.low < asked.low || contained;
      case 'sa':
        return target.low >= asked.high;
      case 'eb':
        return target.high <= asked.low;
      default:
        return target.low < asked.high + slack && target.high > asked.low - slack;
    }
  };
}

function valueInterval(type: string, value: unknown, zone: string): Interval | undefined {
  if (type === 'Period') {
    const start = field(value, 'start');
    const end = field(value, 'end');
    if (start === undefined && end === undefined) return undefined;
    return {
      low: typeof start === 'string' ? interval(start, zone).low : Number.NEGATIVE_INFINITY,
      high: typeof end === 'string' ? interval(end, zone).high : Number.POSITIVE_INFINITY,
    };
  }
  if (type === 'Timing') {
    const bounds = field(field(value, 'repeat'), 'boundsPeriod');
    return bounds === undefined ? undefined : valueInterval('Period', bounds, zone);
  }
  // A choice may be a text, such as Procedure.performedString, which is no date.
  return typeof value === 'string' && type !== 'string' ? interval(value, zone) : undefined;
}

/** Returns the interval of a FHIR date, dateTime or instant. Without an offset it is local to the zone. */
export function interval(text: string, zone: string): Interval {
  const ofZone = getOrInsert(intervals, zone, () => new Map<string, Interval>());
  return getOrInsert(ofZone, text, () => makeInterval(text, zone));
}

/** Cache by zone and text: conversions are slow, and every question uses the same dates. */
const intervals = new Map<string, Map<string, Interval>>();

function makeInterval(text: string, zone: string): Interval {
  const match = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(
    text,
  );
  if (!match) throw new Error('not a FHIR date');
  const [, y, mo, d, h, mi, s, f, offset] = match;
  const start = [Number(y), Number(mo ?? 1), Number(d ?? 1), Number(h ?? 0), Number(mi ?? 0), Number(s ?? 0)];
  const unit = mo === undefined ? 0 : d === undefined ? 1 : h === undefined ? 2 : s === undefined ? 4 : 5;
  const end = start.map((part, i) => (i === unit ? part + 1 : part));
  const milliseconds = Number((f ?? '').padEnd(3, '0').slice(0, 3));
  const at = (parts: readonly number[], ms: number): number => {
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts;
    const wall = new Date(0);
    wall.setUTCFullYear(year, month - 1, day);
    wall.setUTCHours(hour, minute, second, ms);
    if (offset === undefined) return localInstant(wall.getTime(), zone);
    if (offset === 'Z') return wall.getTime();
    const sign = offset.startsWith('-') ? 1 : -1;
    return wall.getTime() + sign * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))) * 60_000;
  };
  return f === undefined
    ? { low: at(start, 0), high: at(end, 0) }
    : { low: at(start, milliseconds), high: at(start, milliseconds + 1) };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/**
 * True if a time with an offset is one that clocks of the zone skip, written with the offset before the change: clocks
 * show another time at its instant.
 */
export function isSkipped(text: string, zone: string): boolean {
  const [, local = '', offset = ''] = /^(.*T.*?)(Z|[+-]\d\d:\d\d)$/.exec(text) ?? [];
  if (offset === '') return false;
  const instant = interval(text, zone).low;
  return interval(local, zone).low === instant && clockOf(zone)(instant) !== interval(`${local}Z`, zone).low;
}

/** Returns what clocks of a zone show at an instant, as if it were UTC. */
function clockOf(zone: string): (instant: number) => number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
    });
    formats.set(zone, format);
  }
  const by = format;
  return instant => {
    const parts = new Map(by.formatToParts(instant).map(({ type, value }) => [type, value]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
    const clock = new Date(0);
    clock.setUTCFullYear(part('year'), part('month') - 1, part('day'));
    clock.setUTCHours(part('hour'), part('minute'), part('second'), part('fractionalSecond'));
    return clock.getTime();
  };
}

/** Returns the instant at which clocks of a zone show a time (given as if it were UTC), by trying offsets. */
function localInstant(wall: number, zone: string): number {
  const shown = clockOf(zone);
  // The offset of the day before is the one before any change that day. It is used if both offsets fit or neither does.
  const before = shown(wall - 86_400_000) - (wall - 86_400_000);
  const after = shown(wall + 86_400_000) - (wall + 86_400_000);
  if (shown(wall - before) === wall) return wall - before;
  if (shown(wall - after) === wall) return wall - after;
  return wall - before;
}
