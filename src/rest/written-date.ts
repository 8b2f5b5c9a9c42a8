/**
 * Reads a date of birth as people write it. In: a text. Out: the days that it can mean, as `yyyy-mm-dd`. With slashes
 * or hyphens the month comes first, as in the United States, unless there is no such month; with dots the day does.
 * Years of two digits are in the past.
 */
import { isDay } from '../time/calendar.ts';

interface Form {
  readonly pattern: RegExp;
  /** Year, month and day of the groups of the pattern. */
  parts(groups: readonly string[], today: string): readonly [year: number, month: number, day: number];
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');

const FORMS: readonly Form[] = [
  // 1970-02-03, 1970/2/3, 1970 02 03, 19700203
  { pattern: /^(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})$/, parts: ([y, m, d]) => [Number(y), Number(m), Number(d)] },
  { pattern: /^(\d{4})(\d{2})(\d{2})$/, parts: ([y, m, d]) => [Number(y), Number(m), Number(d)] },
  // 02031970
  { pattern: /^(\d{2})(\d{2})(\d{4})$/, parts: ([m, d, y]) => [Number(y), Number(m), Number(d)] },
  // 2/3/1970, 02-03-70, 2 3 1970; 23/2/1970
  {
    pattern: /^(\d{1,2})[-/ ](\d{1,2})[-/ ](\d{4}|\d{2})$/,
    parts: ([a, b, y], today) =>
      Number(a) > 12 ? [yearOf(y, today), Number(b), Number(a)] : [yearOf(y, today), Number(a), Number(b)],
  },
  // 3.2.1970
  {
    pattern: /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4}|\d{2})$/,
    parts: ([d, m, y], today) => [yearOf(y, today), Number(m), Number(d)],
  },
  // Feb 3 1970, February 3rd, 1970; 3 February 1970, 3-Feb-1970
  {
    pattern: /^([a-z]{3,9})[. -]+(\d{1,2})(?:st|nd|rd|th)?[ -]+(\d{4})$/,
    parts: ([m, d, y]) => [Number(y), monthOf(m), Number(d)],
  },
  {
    pattern: /^(\d{1,2})(?:st|nd|rd|th)?[. -]+([a-z]{3,9})[. -]+(\d{4})$/,
    parts: ([d, m, y]) => [Number(y), monthOf(m), Number(d)],
  },
];

/** `today`: `yyyy-mm-dd`, to place years of two digits. */
export function readWrittenDate(text: string, today: string): readonly string[] {
  const written = text.toLowerCase().replaceAll(',', ' ').replace(/\s+/g, ' ').trim();
  const days = FORMS.flatMap(({ pattern, parts }) => {
    const match = pattern.exec(written);
    if (match === null) return [];
    const [year, month, day] = parts(match.slice(1), today);
    return isDay(year, month, day) ? [`${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`] : [];
  });
  return [...new Set(days)];
}

/** A year of four digits, or the latest that ends so and is not to come. */
function yearOf(digits: string | undefined, today: string): number {
  const year = Number(digits);
  if (digits?.length !== 2) return year;
  const now = Number(today.slice(0, 4));
  const latest = now - (now % 100) + year;
  return latest > now ? latest - 100 : latest;
}

/** 1 to 12; 0 for what is no month. */
function monthOf(name: string | undefined): number {
  const found = MONTHS.findIndex(month => month === name || month.slice(0, 3) === name);
  return found < 0 && name === 'sept' ? 9 : found + 1;
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}
