/**
 * Calendar days of the proleptic Gregorian calendar and local times as numbers and texts. Days count from 1970-01-01,
 * months from the year 0, local times are milliseconds since 1970-01-01 00:00 on the wall clock. Years 0001 to 9999, the
 * years that FHIR can write (https://hl7.org/fhir/R4/datatypes.html#dateTime).
 */

export const DAY = 86_400_000;
export const FIRST_DAY = dayOf(1, 1, 1);
/** The day after the last. */
export const END_DAY = dayOf(10_000, 1, 1);

/** The number of a day; the parts must be those of a day (see isDay), or a month beyond it. */
export function dayOf(year: number, month: number, day: number): number {
  return Math.round(new Date(0).setUTCFullYear(year, month - 1, day) / DAY);
}

/** Whether the calendar has this day, between 0001 and 9999. */
export function isDay(year: number, month: number, day: number): boolean {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** The parts of a day. */
export function civil(day: number): { readonly year: number; readonly month: number; readonly day: number } {
  const date = new Date(day * DAY);
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** `2024-03-10` */
export function printDay(day: number): string {
  const parts = civil(day);
  return `${pad(parts.year, 4)}-${pad(parts.month, 2)}-${pad(parts.day, 2)}`;
}

/** `02:30:00` for the milliseconds of a local time. */
export function printTime(local: number): string {
  const second = Math.floor((((local % DAY) + DAY) % DAY) / 1000);
  return `${pad(Math.floor(second / 3600), 2)}:${pad(Math.floor(second / 60) % 60, 2)}:${pad(second % 60, 2)}`;
}

/** `-05:00`, or `Z` for none; whole minutes in milliseconds. */
export function printOffset(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(offset) / 60_000;
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`;
}

/** The number that a slice of a text spells in ASCII digits, or NaN. */
export function digits(text: string, from: number, to: number): number {
  let result = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    result = result * 10 + digit;
  }
  return result;
}

/** The day of a text that begins with `2024-03-10`, or undefined. */
export function parseDay(text: string): number | undefined {
  if (text[4] !== '-' || text[7] !== '-') return undefined;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  return isDay(year, month, day) ? dayOf(year, month, day) : undefined;
}

export function pad(number: number, width: number): string {
  return String(number).padStart(width, '0');
}
