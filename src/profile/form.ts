/**
 * Describes the form of a value, which an analyst needs to map its column. In: a stored value. Out: its form without
 * the value: `yyyy-mm-dd hh:mm`, `yyyymmdd`, `ABC^Abc`, `A-999`.
 */
import { plural } from '../common/plural.ts';
import type { SqlValue } from '../sql/expression.ts';

const TWELVE = '(?:0?[1-9]|1[0-2])';
const ABOVE = '(?:1[3-9]|2\\d|3[01])';
/**
 * Forms of dates that end with their year and begin with their day, their month, or either: of a day up to 12 only
 * other rows can tell. With full stops the day comes first.
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
/** Of two digits a year that is no day: where it stands first, or last, all years of its column do. */
const NO_DAY = '(?:3[2-9]|[4-9]\\d)';
const YEAR_FIRST = ['-', '/', '\\.'].flatMap((mark): [form: string, pattern: RegExp][] => {
  const form = ['yy', 'mm', 'dd'].join(mark.slice(-1));
  const long =
    mark === '-' ? [] : [[`yy${form}`, new RegExp(`^\\d{4}${mark}\\d\\d${mark}\\d\\d$`)] as [string, RegExp]];
  return [...long, [form, new RegExp(`^${NO_DAY}${mark}${TWELVE}${mark}(?:0?[1-9]|[12]\\d|3[01])$`)]];
});
const YEAR_SURELY_LAST = new RegExp(`^\\d{1,2}([-/.])\\d{1,2}\\1${NO_DAY}(?!\\d)`);
const EITHER_ORDER = /^dd([-/])mm\1(y+) or mm\1dd\1\2/;

/** A form of dates: which texts have it, and how it is called. */
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
  ['hh:mm', /^(?:[01]?\d|2[0-3]):[0-5]\d$/],
  ['hh:mm:ss', /^(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?$/],
];

/** Forms of days behind which a time may stand. */
const BEFORE_TIME = /^(?:yy)?yy[-/.]?mm[-/.]?dd$|yy$/;
/** A day with a time behind it. */
const MOMENT = /^(\S+?)( +|T)\d?\d:\d\d(:\d\d)?(?:\.(\d+))?( ?[AP]M)?\s*(Z|[+-]\d\d:?\d\d)?$/i;

/** Digits of a date, of a second, and the offset from UTC. */
const MESSAGE = /^((?:1[89]|2\d)\d{6,12})(?:\.(\d{1,7}))?([+-](?:0\d|1[0-4])[0-5]\d)?$/;

const UUID = /^[{(]?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}[)}]?$/i;
/** A UUID without hyphens has these, and so has many a key. */
const HEXADECIMAL = /^(?=.*[a-f])[0-9a-f]{32}$/i;

/** Characters of a form at most. */
const LONGEST = 32;

/**
 * The forms of a column with their rows. Where some rows prove one order of day and month and none proves the other,
 * the ambiguous ones are of that order, too; likewise where some prove that years of two digits come first.
 * `yearsLast`: what stands between the parts of dates that prove that they come last.
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

/** Days that may begin with their year, of which others do. */
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

/** Of a date whose year of two digits is no day and comes last what stands between its parts. */
export function yearLastIn(text: string): string | undefined {
  return YEAR_SURELY_LAST.exec(text)?.[1];
}

/** Whether a row has its day and month in this order, whatever stands behind them. */
function hasProof(forms: ReadonlyMap<string, number>, order: string): boolean {
  return forms.keys().some(form => form.startsWith(order) && !isAmbiguousDay(form));
}

/** Whether the form leaves it open which is the day and which the month. */
export function isAmbiguousDay(form: string): boolean {
  return EITHER_ORDER.test(form);
}

/** The form of a value that is neither NULL nor blank. */
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
    return `${day}${between.trim() || ' '}${clock}${half === undefined ? '' : ' AM'}${zone}`;
  }
  return digitsForm(text) ?? messageForm(text);
}

function digitsForm(text: string): string | undefined {
  return DATES.find(([, pattern]) => pattern.test(text))?.[0];
}

/** Stamps of HL7 v2 that have a zone, digits of a second, or no minutes. */
function messageForm(text: string): string | undefined {
  const [, whole = '', fraction, zone] = MESSAGE.exec(text) ?? [];
  const form = whole.length === 10 ? digitsForm(`${whole}00`)?.slice(0, 10) : digitsForm(whole);
  if (form?.startsWith('yyyymmdd') !== true || (fraction !== undefined && whole.length !== 14)) return undefined;
  if (whole.length === 10 && zone === undefined) return undefined;
  return `${form}${fraction === undefined ? '' : `.${'f'.repeat(fraction.length)}`}${zone === undefined ? '' : '+hhmm'}`;
}

/** Whole numbers, and decimals by their digits after the point. */
function numberForm(text: string): string | undefined {
  const [, sign = '', whole = '', fraction] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (whole === '') return /^-?\d+(?:\.\d+)?e[+-]?\d+$/i.test(text) ? 'number with an exponent' : undefined;
  const zeros = fraction === undefined && whole.length > 1 && whole.startsWith('0') ? ', leading zeros' : '';
  const decimals = fraction === undefined ? 0 : fraction.length;
  const kind =
    decimals === 0 ? 'whole number' : `number, ${decimals > 6 ? 'more than 6 decimals' : plural(decimals, 'decimal')}`;
  return `${sign === '' ? '' : 'negative '}${kind}${zeros}`;
}

/** Runs of letters become `Abc`, `ABC` or `abc`, digits 9; a single letter stays one. Words are counted, not shown. */
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

/** Where year, month and day stand in the forms of dates that have all three. */
const PARTS: readonly RegExp[] = [
  /^(?<y>\d{4})([-/.])(?<m>\d\d)\2(?<d>\d\d)(?:$|[ T])/,
  new RegExp(`^(?<y>${NO_DAY})([-/.])(?<m>\\d{1,2})\\2(?<d>\\d{1,2})(?:$|[ T])`),
  /^(?<y>\d{4})(?<m>\d\d)(?<d>\d\d)(?:\d{4}|\d{6})?(?:$|[ T])/,
  /^(?<d>\d{1,2})\.(?<m>\d{1,2})\.(?<y>\d{4}|\d\d)(?:$|[ T])/,
  // Which of the two is the day, only the day can tell.
  /^(?<m>\d{1,2})[-/](?<d>\d{1,2})[-/](?<y>\d{4}|\d\d)(?:$|[ T])/,
];
const IN_EITHER_ORDER = /^\d{1,2}[-/]/;
const WITH_DAY = /^yyyymmdd|^(?:yy)?yy([-/.])mm\1dd|^(?:dd|mm)([-/.])(?:dd|mm)\2yy/;

/** Whether values of this form are dates of a year, a month and a day. */
export function isDayForm(form: string): boolean {
  return WITH_DAY.test(form);
}

/**
 * Month and day of a date that no calendar has, as in 2023-02-30: `02-30`. Undefined: it is one that is, or has no
 * digits where dates have them. Whether the value is a date at all, its form or the rest of its column says.
 */
export function impossibleDay(stored: Exclude<SqlValue, null>): string | undefined {
  if (stored instanceof Uint8Array) return undefined;
  const text = String(stored).trim();
  for (const pattern of PARTS) {
    const { y, m, d } = pattern.exec(text)?.groups ?? {};
    if (y === undefined || m === undefined || d === undefined) continue;
    const [year, month, day] = [Number(y), Number(m), Number(d)];
    // 1900-00-00 and the like are dates of which parts are not known.
    if (month === 0 || day === 0) return undefined;
    const [isDay, isTurned] = [month <= 12 && day <= daysOf(year, month), day <= 12 && month <= daysOf(year, day)];
    const isOpen = IN_EITHER_ORDER.test(text);
    if (isDay || (isTurned && isOpen)) return undefined;
    const parts = isOpen && month > 12 && day <= 12 ? [d, m] : [m, d];
    return parts.map(part => part.padStart(2, '0')).join('-');
  }
  return undefined;
}

/** Of a year in two digits, 2000 is meant by `00`, which has a 29th of February. */
function daysOf(year: number, month: number): number {
  return new Date(Date.UTC(year < 100 ? year + 2000 : year, month, 0)).getUTCDate();
}

/** Texts that mean that there is no value, in any letters. */
const WORDS =
  /^(?:n\/?a|none|null|nil|unk|unknown|unspecified|not known|missing|tbd|test|\?+|-+|\.+|x{2,}|\*+|@|#|\\N|<null>|\(null\))$/i;
/** Years of days that stand for no day or for no end, at the beginning of a date or behind its day and month. */
const YEARS = /^(?:\d\d?[-/.]\w{1,3}[-/.])?(?:0000|0001|1111|1753|1800|1899|2999|3000|9999)/;
const DAYS =
  /^(?:1900-?01-?01|1970-?01-?01|2099-?12-?31|2199-?12-?31|0?1[-/.]0?1[-/.](?:1900|1970)|(?:31[-/.]12|12[-/.]31)[-/.](?:2099|2199))/;

/** Whether a text is a date of a year that no record is of: `9999-12-31`, `1753-01-01`. */
export function standsForNoDay(text: string): boolean {
  return dateForm(text)?.includes('yyyy') === true && YEARS.test(text);
}

/**
 * Whether a value looks as if it stood for none by itself: `1753-01-01`, `99999999`, `N/A`, `0000000000`. How often it
 * occurs is for the column to say.
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
