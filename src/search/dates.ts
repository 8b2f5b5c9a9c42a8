/**
 * Reads dates of searches and resources. In: a FHIR date, dateTime or instant, and the zone for a missing offset. Out:
 * the interval [low, high) that it means, in milliseconds since the epoch.
 * https://hl7.org/fhir/R4/search.html#date
 */

export interface DateZone {
  /** Returns the instant of a local wall-clock time that is given as if it were UTC; both in milliseconds. */
  toInstant(local: number): number;
}

const DATE =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+ -]\d{2}:\d{2})?)?)?)?$/;

/** Reads a date; undefined for a text that is none, or for a day that does not exist. */
export function dateInterval(
  text: string,
  zone: DateZone,
): { readonly low: number; readonly high: number } | undefined {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [, year = '', month, day, hour, minute, second, fraction, offset] = match;
  const parts = [
    Number(year),
    Number(month ?? 1),
    Number(day ?? 1),
    Number(hour ?? 0),
    Number(minute ?? 0),
    Number(second ?? 0),
  ] as const;
  const [y, mo, d, h, mi, s] = parts;
  if (y < 1 || mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || s > 60) return undefined;
  const milliseconds = Number((fraction ?? '').padEnd(3, '0').slice(0, 3));
  const local = utc(y, mo - 1, d, h, mi, Math.min(s, 59), milliseconds);
  if (new Date(local).getUTCDate() !== d) return undefined;
  const end =
    month === undefined
      ? utc(y + 1, 0, 1)
      : day === undefined
        ? utc(y, mo, 1)
        : hour === undefined
          ? utc(y, mo - 1, d + 1)
          : local +
            (second === undefined ? 60_000 : fraction === undefined ? 1000 : 10 ** Math.max(0, 3 - fraction.length));
  if (offset === undefined) return { low: zone.toInstant(local), high: zone.toInstant(end) };
  const minutes =
    offset === 'Z' ? 0 : (offset[0] === '-' ? -1 : 1) * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4)));
  return { low: local - minutes * 60_000, high: end - minutes * 60_000 };
}

/** Computes Date.UTC, but does not read years below 100 as 19xx. */
function utc(year: number, month: number, day: number, hour = 0, minute = 0, second = 0, millisecond = 0): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  date.setUTCHours(hour, minute, second, millisecond);
  return date.getTime();
}
