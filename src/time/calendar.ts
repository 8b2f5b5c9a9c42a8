/**
 * Converts calendar days of the proleptic Gregorian calendar and local times between numbers and texts. Days count from
 * 1970-01-01, months from the year 0, local times are milliseconds since 1970-01-01 00:00 on the wall clock. Years 0001
 * to 9999, the years that FHIR can write (https://hl7.org/fhir/R4/datatypes.html#dateTime).
 */

export const DAY = 86_400_000;
export const FIRST_DAY = dayOf(1, 1, 1);
/** The day after the last. */
export const END_DAY = dayOf(10_000, 1, 1);

/**
 * Returns the number of a day, from the year 0 on. The parts must be those of a day (see isDay), or one month beyond.
 * It counts years from March, so that the leap day is the last day of a year.
 */
export function dayOf(year: number, month: number, day: number): number {
  // Adds an era, so that the value is not negative in January of the year 0.
  const y = (month > 2 ? year : year - 1) + 400;
  const era = quotient(y, 400);
  const ofEra = y - era * 400;
  const ofYear = quotient(153 * (month > 2 ? month - 3 : month + 9) + 2, 5) + day - 1;
  return (era - 1) * 146_097 + ofEra * 365 + quotient(ofEra, 4) - quotient(ofEra, 100) + ofYear - 719_468;
}

/**
 * Divides and truncates numbers from 0 to below 2^31. The results stay integers, which divide several times as fast.
 */
export function quotient(dividend: number, divisor: number): number {
  return (dividend / divisor) | 0;
}

/** True if the calendar has this day, between 0001 and 9999. */
export function isDay(year: number, month: number, day: number): boolean {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

export function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the parts of a day; the inverse of dayOf. */
export function civil(number: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = number + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const y = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * y + Math.floor(y / 4) - Math.floor(y / 100));
  const march = Math.floor((5 * ofYear + 2) / 153);
  const month = march < 10 ? march + 3 : march - 9;
  const day = ofYear - Math.floor((153 * march + 2) / 5) + 1;
  return { year: y + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Prints `2024-03-10`. */
export function printDay(day: number): string {
  const parts = civil(day);
  return printDate(parts.year, parts.month, parts.day);
}

/** Prints a date from its parts. */
export function printDate(year: number, month: number, day: number): string {
  return `${pad(quotient(year, 100), 2)}${pad(year % 100, 2)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** Prints `02:30:00` for the milliseconds of a local time. */
export function printTime(local: number): string {
  const second = quotient(local - Math.floor(local / DAY) * DAY, 1000);
  return `${pad(quotient(second, 3600), 2)}:${pad(quotient(second, 60) % 60, 2)}:${pad(second % 60, 2)}`;
}

/** Prints a local time as FHIR writes moments, with the offset of its zone; an instant also with milliseconds. */
export function printMoment(local: number, offset: string, fhirType: string): string {
  const fraction = fhirType === 'instant' ? `.${pad(((local % 1000) + 1000) % 1000, 3)}` : '';
  return `${printDay(Math.floor(local / DAY))}T${printTime(local)}${fraction}${offset}`;
}

/** Prints `-05:00`, or `Z` for none; whole minutes in milliseconds. */
export function printOffset(offset: number): string {
  if (offset === 0) return 'Z';
  let text = offsets.get(offset);
  if (text === undefined) {
    const minutes = Math.abs(offset) / 60_000;
    text = `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`;
    offsets.set(offset, text);
  }
  return text;
}

/** There are few: whole minutes within a day. */
const offsets = new Map<number, string>();

/** Parses ASCII digits in a slice of a text; NaN for other characters. */
export function digits(text: string, from: number, to: number): number {
  let result = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    result = result * 10 + digit;
  }
  return result;
}

/** Parses two ASCII digits of a text, the first at `at`; -1 for other characters. */
export function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
}

const HYPHEN = 45;

/** Returns the day of a text that begins with `2024-03-10`, or undefined. */
export function parseDay(text: string): number | undefined {
  if (text.length < 10 || text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN) return undefined;
  const century = twoDigits(text, 0);
  const ofCentury = twoDigits(text, 2);
  if (century < 0 || ofCentury < 0) return undefined;
  const year = century * 100 + ofCentury;
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  return isDay(year, month, day) ? dayOf(year, month, day) : undefined;
}

/** Returns milliseconds since midnight; undefined if the parts are no time of day. Missing parts are negative. */
export function parseClock(hour: number, minute: number, second: number): number | undefined {
  const isTime = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
  return isTime ? ((hour * 60 + minute) * 60 + second) * 1000 : undefined;
}

/** Prints a number from 0 on in decimal digits, with leading zeros. */
export function pad(number: number, width: number): string {
  if (width === 2) return PAIRS[number] ?? String(number);
  return String(number).padStart(width, '0');
}

/** Texts of months, days and hours, which are printed very often. */
const PAIRS: readonly string[] = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));
