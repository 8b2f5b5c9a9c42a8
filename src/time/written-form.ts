/**
 * Reads dates, and dates with a time, that a text spells: `03/10/2024`, `14-MAR-24`, `FEB 04, 2015@14:00`. In: a form
 * such as `MM/DD/YYYY` or `MON D YYYY h:mmAM`, and for years of two digits the first of the hundred years that they
 * stand for. Out: the digits yyyymmdd, or yyyymmddhhmmss if the text has a time; undefined for a text of another form.
 * SQLite reads texts by `writtenReader`; T-SQL has SQL made from the same form (src/sql/mssql/written.ts).
 * docs/mapping-language.md, codecs
 */
import { isDay, pad, parseClock } from './calendar.ts';
import { withoutOuterBlanks } from './written.ts';

const YEAR_MONTH_DAY = '(YYYY|YY|MON|MM?|DD?)(, |[-/. ]?)(YYYY|YY|MON|MM?|DD?)(, |[-/. ]?)(YYYY|YY|MON|MM?|DD?)';
/** A month of a year, or a year alone. */
const WITHOUT_DAY = /^(YYYY|YY|MON|MM?)(?:([-/. ]?)(YYYY|YY|MON|MM?))?$/;
const FORM = new RegExp(`^${YEAR_MONTH_DAY}(?:(, |[ T@]?)(HH?|hh?)(:?)mm(?:(:?)(ss))?( ?AM)?)?$`);
/** Names in the order of the months. */
export const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');

/** The parts of a form. */
export interface WrittenForm {
  /** `YYYY`, `M`, … with the separator before each. */
  readonly date: readonly (readonly [before: string, part: string])[];
  readonly time: WrittenTime | undefined;
  /** The first of the years that two digits stand for; undefined for years of four digits. */
  readonly from: number | undefined;
  /** Two blanks in a row count as one. */
  readonly hasBlanks: boolean;
}

interface WrittenTime {
  /** Separator between the date and the hour. */
  readonly before: string;
  /** Separator between hour, minute and second. */
  readonly between: string;
  /** The hour may have one digit. */
  readonly isShortHour: boolean;
  readonly hasSecond: boolean;
  /** Separator before `AM` or `PM`; undefined: hours from 0 to 24. */
  readonly half: '' | ' ' | undefined;
}

/** Parses a form; undefined if the text is none. */
export function formOfText(form: string, from?: number): WrittenForm | undefined {
  const match = FORM.exec(form);
  if (!match) return formWithoutDay(form, from);
  const [, first = '', before = '', second = '', after = '', third = '', ...rest] = match;
  const parts = [first, second, third];
  if (
    parts
      .map(part => part.charAt(0))
      .sort()
      .join('') !== 'DMY'
  )
    return formWithoutDay(form, from);
  // A part with one digit or two must end at a separator.
  if (!(before !== '' && after !== '') && parts.some(part => part.length === 1)) return undefined;
  const time = timeOf(rest, third);
  if (time === null) return undefined;
  return {
    date: [
      ['', first],
      [before, second],
      [after, third],
    ],
    time,
    from: form.includes('YYYY') ? undefined : from,
    hasBlanks: form.includes(' '),
  };
}

/** Parses the form of a month of a year, or of a year alone, which has four digits. */
function formWithoutDay(form: string, from?: number): WrittenForm | undefined {
  const [, first, between = '', second] = WITHOUT_DAY.exec(form) ?? [];
  if (first === undefined || (second === undefined && first !== 'YYYY')) return undefined;
  if (second !== undefined && first.startsWith('M') === second.startsWith('M')) return undefined;
  // A month with one digit or two must end at a separator.
  if (between === '' && [first, second].includes('M')) return undefined;
  return {
    date:
      second === undefined
        ? [['', first]]
        : [
            ['', first],
            [between, second],
          ],
    time: undefined,
    from: form.includes('YYYY') ? undefined : from,
    hasBlanks: form.includes(' '),
  };
}

/** Returns null if the text is no form of a time. */
function timeOf(
  [before = '', hour, between = '', again, second, half]: readonly (string | undefined)[],
  last: string,
): WrittenTime | undefined | null {
  if (hour === undefined) return undefined;
  const isShortHour = hour.length === 1;
  if (isShortHour && (before === '' || between === '')) return null;
  if (last.length === 1 && before === '') return null;
  if (second !== undefined && again !== between) return null;
  // 12-hour forms need AM or PM.
  if (hour.startsWith('h') !== (half !== undefined)) return null;
  const blank = half === undefined ? undefined : half === 'AM' ? '' : ' ';
  return { before, between, isShortHour, hasSecond: second !== undefined, half: blank };
}

/** Describes what is wrong with a form and the first of its hundred years; undefined if nothing is. */
export function wrongWrittenForm(form: string, from: number | undefined): string | undefined {
  if (formOfText(form, from) === undefined)
    return (
      'not a date format: one each of YYYY or YY, MM, M or MON, DD or D, with / - . a blank or a comma between, ' +
      'or without the day, or YYYY alone; a time behind it is HH:mm, HH:mm:ss or hh:mm AM'
    );
  const isShort = !form.includes('YYYY');
  if (isShort && from === undefined)
    return `which years YY stands for has to be said: \`{ form: ${form}, from: 1930 }\` reads 30 as 1930 and 29 as 2029`;
  return !isShort && from !== undefined ? '`from` is for years of two digits, YY' : undefined;
}

type Reader = (text: string) => string | undefined;

/** There are few: the forms of the loaded packs. */
const readers = new Map<string, Reader>();
const MOST_READERS = 256;

/** Returns a reader of the texts of a form. Throws a RangeError for a text that is no form. */
export function writtenReader(form: string, from?: number): Reader {
  const key = `${from ?? ''} ${form}`;
  const known = readers.get(key);
  if (known) return known;
  if (readers.size >= MOST_READERS) readers.clear();
  const made = makeReader(form, from);
  readers.set(key, made);
  return made;
}

const PATTERNS: Readonly<Record<string, string>> = {
  YYYY: '([0-9]{4})',
  YY: '([0-9]{2})',
  MON: '([A-Za-z]{3})',
  MM: '([0-9]{2})',
  M: '([0-9]{1,2})',
  DD: '([0-9]{2})',
  D: '([0-9]{1,2})',
};

function makeReader(form: string, from: number | undefined): Reader {
  const made = formOfText(form, from);
  if (!made) throw new RangeError(`no form of dates: ${form}`);
  const { date, time, hasBlanks } = made;
  const days = date.map(([before, part]) => escaped(before) + (PATTERNS[part] ?? '')).join('');
  const pattern = new RegExp(`^${days}${time ? `(?:${clockPattern(time)})?` : ''}$`);
  const at = (letter: string): number => date.findIndex(([, part]) => part.startsWith(letter)) + 1;
  const [yearAt, monthAt, dayAt] = [at('Y'), at('M'), at('D')];
  const hasNames = date.some(([, part]) => part === 'MON');
  return raw => {
    const trimmed = withoutOuterBlanks(raw);
    const match = pattern.exec(hasBlanks ? trimmed.replaceAll('  ', ' ') : trimmed);
    if (!match) return undefined;
    const part = (at: number): string => (at === 0 ? '00' : (match[at] ?? ''));
    const [written, month, day] = [part(yearAt), part(monthAt), part(dayAt)];
    const number = hasNames ? MONTHS.indexOf(month.toUpperCase()) + 1 : Number(month);
    if (hasNames && number === 0) return undefined;
    const isZero = from !== undefined && Number(written) === 0 && number === 0 && Number(day) === 0;
    const year = isZero ? 0 : from === undefined ? Number(written) : yearFrom(Number(written), from);
    const digits = pad(year, 4) + pad(number, 2) + pad(Number(day), 2);
    if (!time) return digits;
    const [hour, minute, second = '0', half] = match.slice(4);
    if (hour === undefined) return isPackedDate(year, number, Number(day)) ? digits : undefined;
    const clock = clockOf(hour, Number(minute), Number(second), half);
    // 24:00 is invalid in 9999, because the next day may be in the year 10000.
    const isValid = isDay(year, number, Number(day)) && !(clock === END_OF_DAY && year === 9999);
    return clock === undefined || !isValid ? undefined : digits + clock;
  };
}

function clockPattern({ before, between, isShortHour, hasSecond, half }: WrittenTime): string {
  const second = hasSecond ? `(?:${between}([0-9]{2})(?:[.][0-9]${half === undefined ? '+' : '{1,7}'})?)?` : '()';
  const end = half === undefined ? '' : `${half}([AaPp])[Mm]`;
  return `${before}([0-9]${isShortHour ? '{1,2}' : '{2}'})${between}([0-9]{2})${second}${end}`;
}

function escaped(separator: string): string {
  return separator === '.' ? '[.]' : separator;
}

/** The end of a day, which is the first moment of the next. */
export const END_OF_DAY = '240000';

/** Returns `083000`; undefined if the parts are no time. */
function clockOf(written: string, minute: number, second: number, half: string | undefined): string | undefined {
  let hour = Number(written);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
  }
  if (hour === 24 && minute === 0 && second === 0) return END_OF_DAY;
  const isTime = parseClock(hour, minute, second) !== undefined;
  return isTime ? pad(hour, 2) + pad(minute, 2) + pad(second, 2) : undefined;
}

/** Returns the year of two digits: from `from` on they belong to its century, below it to the next. */
function yearFrom(digits: number, from: number): number {
  const year = from - (from % 100) + digits;
  return year < from ? year + 100 : year;
}

/** True for a day, or with zeros for a month or a year. */
function isPackedDate(year: number, month: number, day: number): boolean {
  return day === 0 ? year >= 1 && month <= 12 : isDay(year, month, day);
}
