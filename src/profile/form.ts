/**
 * Describes the form of a value, which an analyst needs to map its column. In: a stored value. Out: its form without
 * the value: `yyyy-mm-dd hh:mm`, `yyyymmdd`, `ABC^Abc`, `A-999`.
 */
import { plural } from '../common/plural.ts';
import type { SqlValue } from '../sql/expression.ts';

/** Names of months, which other letters with two numbers behind them are not. */
const MONTH = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)';
const TWELVE = '(?:0?[1-9]|1[0-2])';
const ABOVE = '(?:1[3-9]|2\\d|3[01])';
/**
 * Forms of dates that end with the year and begin with the day, the month, or either: if both are at most 12, only
 * other rows can tell. With dots the day comes first.
 */
const YEAR_LAST = Object.entries({ yyyy: '\\d{4}', yy: '\\d\\d' }).flatMap(([year, digits]) => {
  const of = (first: string, second: string, mark: string): RegExp =>
    new RegExp(`^${first}${mark}${second}${mark}${digits}$`);
  return [
    ...['/', '-'].flatMap((mark): [form: string, pattern: RegExp][] => {
      const [day, month] = [['dd', 'mm', year].join(mark), ['mm', 'dd', year].join(mark)];
      return [
        [`${day} or ${month}`, of(TWELVE, TWELVE, mark)],
        [month, of(TWELVE, ABOVE, mark)],
        [day, of(ABOVE, TWELVE, mark)],
      ];
    }),
    [`dd.mm.${year}`, of(`(?:${TWELVE}|${ABOVE})`, TWELVE, '\\.')] as const,
  ];
});
/** Two digits that are a year and cannot be a day; they show where all dates of the column have their year. */
const NO_DAY = '(?:3[2-9]|[4-9]\\d)';
const YEAR_FIRST = ['-', '/', '\\.'].flatMap((mark): [form: string, pattern: RegExp][] => {
  const form = ['yy', 'mm', 'dd'].join(mark.slice(-1));
  const long =
    mark === '-' ? [] : [[`yy${form}`, new RegExp(`^\\d{4}${mark}\\d\\d${mark}\\d\\d$`)] as [string, RegExp]];
  return [...long, [form, new RegExp(`^${NO_DAY}${mark}${TWELVE}${mark}(?:0?[1-9]|[12]\\d|3[01])$`)]];
});
const YEAR_SURELY_LAST = new RegExp(`^\\d{1,2}([-/.])\\d{1,2}\\1${NO_DAY}(?!\\d)`);
const EITHER_ORDER = /^dd([-/])mm\1(y+) or mm\1dd\1\2/;

/** Forms of dates, each with its name and pattern. */
const DATES: readonly (readonly [form: string, pattern: RegExp])[] = [
  ['yyyymmdd', /^(?:0000|1[5-9]\d\d|2\d{3}|9999)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/],
  ['yyyymm00', /^(?:1[5-9]\d\d|2\d{3}|9999)(?:0[1-9]|1[0-2])00$/],
  ['yyyy0000', /^(?:1[5-9]\d\d|2\d{3}|9999)0000$/],
  ['yyyymmddhhmm', /^(?:1[89]|2\d)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d$/],
  ['yyyymmddhhmmss', /^(?:1[89]|2\d)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])(?:[0-5]\d){2}$/],
  ['yyyy-mm-dd', /^\d{4}-\d\d-\d\d$/],
  ['yyyy-mm', /^(?:1[89]|2\d)\d\d-(?:0[1-9]|1[0-2])$/],
  ...YEAR_FIRST,
  ...YEAR_LAST,
  ['dd-mon-yyyy', /^\d{1,2}-[A-Za-z]{3}-\d{4}$/],
  ['dd-mon-yy', /^\d{1,2}-[A-Za-z]{3}-\d\d$/],
  ['mon dd, yyyy', new RegExp(`^${MONTH} +\\d{1,2}, +\\d{4}$`, 'i')],
  ['mon dd yyyy', new RegExp(`^${MONTH} +\\d{1,2} +\\d{4}$`, 'i')],
  ['hh:mm', /^(?:[01]?\d|2[0-3]):[0-5]\d$/],
  ['hh:mm:ss', /^(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?$/],
];

/** Forms of days that may be followed by a time. */
const BEFORE_TIME = /^(?:yy)?yy[-/.]?mm[-/.]?dd$|yy$/;
/** A day followed by a time. */
const MOMENT =
  /^([a-z]{3} +\d\d?,? +\d{4}|\S+?)(, +| +|T|@)\d?\d:\d\d(:\d\d)?(?:\.(\d+))?( ?[AP]M)?\s*(Z|[+-]\d\d:?\d\d)?$/i;

/** Digits of a date and time, fraction of a second, and offset from UTC. */
const MESSAGE = /^((?:1[89]|2\d)\d{6,12})(?:\.(\d{1,7}))?([+-](?:0\d|1[0-4])[0-5]\d)?$/;

const UUID = /^[{(]?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}[)}]?$/i;
/** A UUID without hyphens has this form, and so do many keys. */
const HEXADECIMAL = /^(?=.*[a-f])[0-9a-f]{32}$/i;

/** Maximum number of characters of a form. */
const LONGEST = 32;

/**
 * Resolves ambiguous forms of a column. If some rows prove one order of day and month and none the other, ambiguous
 * rows have that order too. The same applies to two-digit years at the beginning. `yearsLast`: separators of dates that
 * prove that the year is last.
 */
export function settledForms(
  forms: ReadonlyMap<string, number>,
  yearsLast: ReadonlySet<string> = new Set(),
): ReadonlyMap<string, number> {
  const settled = new Map<string, number>();
  const begunByYear = ['-', '/', '.'].filter(
    mark => hasProof(forms, `yy${mark}mm`) && !hasProof(forms, `mm${mark}dd${mark}yy`) && !yearsLast.has(mark),
  );
  for (const [form, rows] of begunByYear.reduce(withYearFirst, forms)) {
    const [, mark] = EITHER_ORDER.exec(form) ?? [];
    const proven = mark === undefined ? [] : [`dd${mark}mm`, `mm${mark}dd`].filter(one => hasProof(forms, one));
    const name = proven.length === 1 ? form.replace(EITHER_ORDER, `${proven[0]}$1$2`) : form;
    settled.set(name, (settled.get(name) ?? 0) + rows);
  }
  return settled;
}

/** Renames ambiguous forms to "year first", because other dates with this separator prove it. */
function withYearFirst(forms: ReadonlyMap<string, number>, mark: string): ReadonlyMap<string, number> {
  const [first, last] = [
    ['yy', 'mm', 'dd'],
    ['dd', 'mm', 'yy'],
  ].map(parts => parts.join(mark));
  const settled = new Map<string, number>();
  for (const [form, rows] of forms) {
    const [day = '', ...rest] = form.replace(EITHER_ORDER, `dd$1mm$1$2`).split(' ');
    const name = day === last ? [first, ...rest].join(' ') : form;
    settled.set(name, (settled.get(name) ?? 0) + rows);
  }
  return settled;
}

/** Returns the separator of a date whose two-digit year is certainly last. */
export function yearLastIn(text: string): string | undefined {
  return YEAR_SURELY_LAST.exec(text)?.[1];
}

/** True if a row proves this order of day and month, whatever follows. */
function hasProof(forms: ReadonlyMap<string, number>, order: string): boolean {
  return forms.keys().some(form => form.startsWith(order) && !isAmbiguousDay(form));
}

/** True if the form does not tell which part is the day and which the month. */
export function isAmbiguousDay(form: string): boolean {
  return EITHER_ORDER.test(form);
}

/** Returns the form of a value that is neither NULL nor blank. */
export function formOf(stored: Exclude<SqlValue, null>): string {
  if (stored instanceof Uint8Array) return stored.length === 16 ? '16 bytes' : 'bytes';
  const text = String(stored).trim();
  const date = dateForm(text);
  if (date !== undefined) return date;
  if (UUID.test(text)) return 'UUID';
  if (HEXADECIMAL.test(text)) return '32 hexadecimal digits';
  const number = numberForm(text);
  if (number !== undefined) return number;
  return masked(text);
}

function dateForm(text: string): string | undefined {
  const [, before = '', between = '', seconds, fraction, half, offset] = MOMENT.exec(text) ?? [];
  const day = before === '' ? undefined : dateForm(before);
  if (day !== undefined && BEFORE_TIME.test(day)) {
    const clock = `hh:mm${seconds === undefined ? '' : ':ss'}${fraction === undefined ? '' : `.${'f'.repeat(fraction.length)}`}`;
    const zone = offset === undefined ? '' : offset === 'Z' ? 'Z' : '+hh:mm';
    return `${day}${between.startsWith(',') ? ', ' : between.trim() || ' '}${clock}${half === undefined ? '' : ' AM'}${zone}`;
  }
  return digitsForm(text) ?? messageForm(text);
}

function digitsForm(text: string): string | undefined {
  return DATES.find(([, pattern]) => pattern.test(text))?.[0];
}

/** Returns the form of HL7 v2 timestamps with an offset, a fraction of a second, or no minutes. */
function messageForm(text: string): string | undefined {
  const [, whole = '', fraction, zone] = MESSAGE.exec(text) ?? [];
  const form = whole.length === 10 ? digitsForm(`${whole}00`)?.slice(0, 10) : digitsForm(whole);
  if (form?.startsWith('yyyymmdd') !== true || (fraction !== undefined && whole.length !== 14)) return undefined;
  if (whole.length === 10 && zone === undefined) return undefined;
  return `${form}${fraction === undefined ? '' : `.${'f'.repeat(fraction.length)}`}${zone === undefined ? '' : '+hhmm'}`;
}

/** Returns the form of whole numbers, and of decimals by their number of decimals. */
function numberForm(text: string): string | undefined {
  const [, sign = '', whole = '', fraction] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return /^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(text) ? 'number with an exponent' : undefined;
  const zeros = fraction === undefined && whole.length > 1 && whole.startsWith('0') ? ', leading zeros' : '';
  const decimals = fraction === undefined ? 0 : fraction.length;
  const kind =
    decimals === 0 ? 'whole number' : `number, ${decimals > 6 ? 'more than 6 decimals' : plural(decimals, 'decimal')}`;
  return `${sign === '' ? '' : 'negative '}${kind}${zeros}`;
}

/**
 * Masks a text: runs of letters become `Abc`, `ABC` or `abc`, digits 9; a single letter becomes `A` or `a`. Longer
 * texts are only counted in words.
 */
function masked(text: string): string {
  const words = text.split(/\s+/);
  if (words.length > 3) return words.length > 8 ? 'a sentence or more' : 'several words';
  const form = text
    .replace(/\p{L}[\p{L}\p{M}']*/gu, lettersForm)
    .replace(/\p{N}+/gu, digits => (digits.length > 8 ? '99999999…' : '9'.repeat(digits.length)));
  return form.length > LONGEST ? `${form.slice(0, LONGEST)}…` : form;
}

function lettersForm(letters: string): string {
  const isUpper = letters === letters.toUpperCase();
  if (letters.length === 1) return isUpper ? 'A' : 'a';
  if (isUpper) return 'ABC';
  return letters === letters.toLowerCase() ? 'abc' : 'Abc';
}

/** Positions of year, month and day in the forms of complete dates. */
const PARTS: readonly RegExp[] = [
  /^(?<y>\d{4})([-/.])(?<m>\d\d)\2(?<d>\d\d)(?:$|[ T])/,
  new RegExp(`^(?<y>${NO_DAY})([-/.])(?<m>\\d{1,2})\\2(?<d>\\d{1,2})(?:$|[ T])`),
  /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)(?:\d{4}|\d{6})?(?:$|[ T])/,
  /^(?<d>\d{1,2})\.(?<m>\d{1,2})\.(?<y>\d{4}|\d\d)(?:$|[ T])/,
  // Here day and month may be swapped; the values decide.
  /^(?<m>\d{1,2})[-/](?<d>\d{1,2})[-/](?<y>\d{4}|\d\d)(?:$|[ T])/,
];
const IN_EITHER_ORDER = /^\d{1,2}[-/]/;
const WITH_DAY = /^yyyymmdd|^(?:yy)?yy([-/.])mm\1dd|^(?:dd|mm)([-/.])(?:dd|mm)\2yy/;

/** True if values of this form are dates with year, month and day. */
export function isDayForm(form: string): boolean {
  return WITH_DAY.test(form);
}

/**
 * Returns month and day of a date that does not exist, such as 2023-02-30: `02-30`. Undefined if the date exists, or
 * the value has no date's digits. Whether the value is a date at all depends on its form and on the rest of the column.
 */
export function impossibleDay(stored: Exclude<SqlValue, null>): string | undefined {
  if (stored instanceof Uint8Array) return undefined;
  const text = String(stored).trim();
  for (const pattern of PARTS) {
    const { y, m, d } = pattern.exec(text)?.groups ?? {};
    if (y === undefined || m === undefined || d === undefined) continue;
    const [year, month, day] = [Number(y), Number(m), Number(d)];
    // Zeros mean an unknown month or day, as in 1900-00-00.
    if (month === 0 || day === 0) return undefined;
    const [isDay, isTurned] = [month <= 12 && day <= daysOf(year, month), day <= 12 && month <= daysOf(year, day)];
    const isOpen = IN_EITHER_ORDER.test(text);
    if (isDay || (isTurned && isOpen)) return undefined;
    const parts = isOpen && month > 12 && day <= 12 ? [d, m] : [m, d];
    return parts.map(part => part.padStart(2, '0')).join('-');
  }
  return undefined;
}

/** Returns the number of days of a month. A two-digit year `00` means 2000, which is a leap year. */
function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(year < 100 ? year + 2000 : year, month, 0)).getUTCDate();
}

/** Words that mean "no value", ignoring case. */
const WORDS =
  /^(?:n\/?a|none|null|nil|unk|unknown|unspecified|not known|missing|tbd|test|\?+|-+|\.+|x{2,}|\*+|@|#|\\N|<null>|\(null\))$/i;
/** Years of sentinels for "no date" or "no end", at the beginning of a date or after its day and month. */
const YEARS = /^(?:\d\d?[-/.]\w{1,3}[-/.])?(?:0000|0001|1111|1753|1800|1899|2999|3000|9999)/;
const DAYS =
  /^(?:1900-?01-?01|1970-?01-?01|2099-?12-?31|2199-?12-?31|0?1[-/.]0?1[-/.](?:1900|1970)|(?:31[-/.]12|12[-/.]31)[-/.](?:2099|2199))/;

/** True for a date with a year that no record has: `9999-12-31`, `1753-01-01`. */
export function standsForNoDay(text: string): boolean {
  return dateForm(text)?.includes('yyyy') === true && YEARS.test(text);
}

/**
 * True if a value by itself looks like a sentinel: `1753-01-01`, `99999999`, `N/A`, `0000000000`. The column decides by
 * its frequency.
 */
export function looksLikeNone(stored: Exclude<SqlValue, null>): boolean {
  if (stored instanceof Uint8Array) return false;
  const text = String(stored).trim();
  if (WORDS.test(text)) return true;
  const form = dateForm(text) ?? '';
  if (form.includes('yy')) return YEARS.test(text) || DAYS.test(text);
  const digits = text.replace(/[-/\s().]/g, '');
  return /^(\d)\1{2,}$/.test(digits) || text === '-1' || text === '0';
}
