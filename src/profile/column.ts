/**
 * Profiles the rows of a column. In: stored values, one after the other. Out: how many are NULL, blank and distinct,
 * their lengths, range and forms, the most frequent values of a small set, and values that probably mean "no value".
 * Memory is bounded.
 */
import type { SqlValue } from '../sql/expression.ts';
import { CountedDates } from './counted-dates.ts';
import { damageOf } from './damaged-text.ts';
import { formOf, impossibleDay, isDayForm, looksLikeNone, settledForms, standsForNoDay, yearLastIn } from './form.ts';

export interface ColumnProfile {
  readonly values: number;
  readonly nulls: number;
  readonly blanks: number;
  /** `atLeast`: there may be more than were counted. */
  readonly distinct: { readonly count: number; readonly atLeast: boolean };
  /** Lengths of texts, in characters. */
  readonly length?: { readonly least: number; readonly most: number };
  /** Minimum and maximum of numbers, and of dates that sort as texts. Undefined if they must not be shown. */
  readonly range?: { readonly least: string; readonly most: string };
  /** Most frequent first. */
  readonly forms: readonly Counted[];
  /** Values of a column of codes, most frequent first; undefined if it has none or they must not be shown. */
  readonly frequent?: readonly Counted[];
  /** Prefixes that nearly all of many texts have, such as `LOINC:` and `ICD10CM:`; undefined in the same cases. */
  readonly prefixes?: readonly Counted[];
  /** Values that probably mean "no value". */
  readonly sentinels: readonly Counted[];
  /** Dates that do not exist, by month and day: `02-30`. */
  readonly impossible: readonly Counted[];
  /** Number of texts with trailing blanks. */
  readonly padded: number;
  /** Number of texts with leading blanks: the codec `code` takes no value of these, `text` trims them. */
  readonly indented: number;
  /** Texts that a conversion between encodings has damaged, by kind of damage. */
  readonly damaged: readonly Counted[];
}

export interface Counted {
  readonly what: string;
  readonly rows: number;
}

/**
 * Which values may be shown. `never`: none; `forms`: sentinels; `codes`: also the most frequent values if there are few
 * and they look like codes; `always`: the most frequent values, whatever they are.
 */
export type Showing = 'never' | 'forms' | 'codes' | 'always';

/** Words in names of columns with personal data: a name, an address, a telephone number, a login, a note. */
const PERSONAL_WORDS = [
  '(?:p|[lfm]|first|last|middle|given|family|sur|fore|maiden|nick|full|user|person|patient|pat|pt)?name',
  'nm|lst|fst|mid|last|first|middle|given|family|maiden|alias|kin|spouse|guardian|employer',
  '(?:street|home|mailing)?addr(?:ess)?|street|city|town|(?:zip|post|postal)(?:code)?',
  '(?:tele|home|work|cell|mobile)?phone|ph|tel|fax|cell|mobile|e?mail|ssn|mrn|pwd|password|user|usr|login',
  'note?s?|comments?|cmt|remarks?|te?xt?|memo',
];
const PERSONAL = new RegExp(`(?:^|_)(?:${PERSONAL_WORDS.join('|')})(?:_|\\d|$)`);

/** True if a column of this name (`LST_NM`, `lastName`) probably holds personal data. */
export function isPersonal(column: string): boolean {
  return PERSONAL.test(column.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase());
}

/** Maximum number of values and of forms that are counted separately. */
const MOST_VALUES = 5000;
const MOST_FORMS = 200;
/** A column of codes has at most so many values. */
const MOST_CODES = 60;
/** Maximum number of characters of a code. */
const LONGEST_CODE = 24;
/** A value in fewer rows may belong to a single patient. */
const FEWEST_ROWS = 3;
/**
 * Numbers with more distinct values than this, none in a larger share of the rows, are keys of another table, such as
 * that of patients, and no codes.
 */
const KEY_VALUES = 20;
const KEY_SHARE = 0.05;
/** If there are more words that look like names, some may be names. */
const MOST_WORDS = 20;
const INTEGER = /^-?\d+$/;
/** The decimal separator is a point or a comma. */
const NUMBER = /^-?\d+(?:[.,]\d+)?$/;
/** A number at least so many times larger than all others may mean "no value". */
const FAR = 2;
const NAME = /^(?:Abc|ABC)[ ,^-]+/;

/** A word before a colon, as names of code systems: `LOINC:`, `DEM|SEX:`. */
const PREFIX = /^[A-Za-z][A-Za-z0-9_.|-]{0,19}:(?=\S)/;
const MOST_PREFIXES = 40;
/** Minimum share of the texts that must have a prefix. */
const PREFIXED = 0.9;

/** Tallies one column while its rows are read. */
export class ColumnTally {
  #values = 0;
  #nulls = 0;
  #blanks = 0;
  #padded = 0;
  #indented = 0;
  #isFull = false;
  #texts = 0;
  #least = Number.POSITIVE_INFINITY;
  #most = 0;
  #numbers: { least: number; most: number } | undefined;
  /** Greatest absolute value of numbers, also of those in texts. */
  #farthest = 0;
  #days: { least: string; most: string } | undefined;
  readonly #isNumber: boolean;
  readonly #counts = new Map<string, number>();
  readonly #forms = new Map<string, number>();
  /** Separators of dates that certainly have their year last. */
  readonly #yearsLast = new Set<string>();
  readonly #nones = new Map<string, number>();
  readonly #prefixes = new Map<string, number>();
  readonly #damaged = new Map<string, number>();
  readonly #impossible = new Map<string, number>();
  readonly #counted = new CountedDates();
  /** The same for values that are dates only if the column holds dates: `19801330`. */
  readonly #digits = new Map<string, number>();

  /** `isNumber`: the declared type is a number; the values may arrive as texts. */
  constructor(isNumber: boolean) {
    this.#isNumber = isNumber;
  }

  add(stored: SqlValue): void {
    this.#values++;
    if (stored === null) {
      this.#nulls++;
      return;
    }
    if (stored instanceof Uint8Array) {
      count(this.#forms, formOf(stored), MOST_FORMS);
      if (!count(this.#counts, `0x${Buffer.from(stored).toString('hex').toUpperCase()}`, MOST_VALUES))
        this.#isFull = true;
      return;
    }
    const text = String(stored);
    const trimmed = text.trim();
    if (trimmed === '') {
      this.#blanks++;
      return;
    }
    if (text !== text.trimEnd()) this.#padded++;
    if (text.startsWith(' ')) this.#indented++;
    const damage = typeof stored === 'string' ? damageOf(stored) : undefined;
    if (damage) count(this.#damaged, damage.name, MOST_FORMS);
    if (!count(this.#counts, trimmed, MOST_VALUES)) this.#isFull = true;
    const form = formOf(stored);
    count(this.#forms, form, MOST_FORMS);
    const mark = yearLastIn(trimmed);
    if (mark !== undefined) this.#yearsLast.add(mark);
    const [day, isDay, isNone] = [impossibleDay(stored), isDayForm(form), looksLikeNone(stored)];
    if (day !== undefined && (isDay || !isNone)) count(isDay ? this.#impossible : this.#digits, day, MOST_FORMS);
    if (isNone) count(this.#nones, trimmed, MOST_FORMS);
    else {
      this.#spread(stored, trimmed, form);
      this.#counted.add(trimmed, form);
    }
    if (typeof stored === 'number') return;
    this.#texts++;
    const [prefix] = PREFIX.exec(trimmed) ?? [];
    if (prefix !== undefined) count(this.#prefixes, prefix, MOST_FORMS);
    this.#least = Math.min(this.#least, trimmed.length);
    this.#most = Math.max(this.#most, trimmed.length);
  }

  /** Extends the range by a value that is no sentinel. */
  #spread(stored: string | number, text: string, form: string): void {
    if (form.includes('number')) {
      const number = Number(stored);
      this.#farthest = Math.max(this.#farthest, Math.abs(number));
      // Digits in a text column are a telephone number or an identifier.
      if (!this.#isNumber && typeof stored !== 'number') return;
      const { least, most } = this.#numbers ?? { least: number, most: number };
      this.#numbers = { least: Math.min(least, number), most: Math.max(most, number) };
    } else if (form.startsWith('yyyy')) {
      const { least, most } = this.#days ?? { least: text, most: text };
      this.#days = { least: text < least ? text : least, most: text > most ? text : most };
    }
  }

  profile(showing: Showing): ColumnProfile {
    const filled = this.#values - this.#nulls - this.#blanks;
    const ranked = byRows(this.#counts);
    const counted = this.#counted.form(this.#counts.size);
    const frequent = counted && showing === 'codes' ? undefined : this.#frequent(ranked, filled, showing);
    const sentinels = this.#sentinels(ranked, filled, frequent !== undefined);
    const prefixes = showing === 'codes' || showing === 'always' ? this.#prefixesOf(filled, sentinels) : undefined;
    // A date may belong to a single patient.
    const range = showing === 'never' || showing === 'forms' || counted ? undefined : this.#range(sentinels);
    return {
      values: this.#values,
      nulls: this.#nulls,
      blanks: this.#blanks,
      distinct: { count: this.#counts.size, atLeast: this.#isFull },
      ...(this.#texts > 0 ? { length: { least: this.#least, most: this.#most } } : {}),
      ...(range ? { range } : {}),
      forms: byRows(settledForms(counted ? renamed(this.#forms, counted) : this.#forms, this.#yearsLast)),
      ...(frequent ? { frequent } : {}),
      ...(prefixes ? { prefixes } : {}),
      sentinels: showing === 'never' ? [] : sentinels,
      impossible: byRows(this.#areDays(filled) ? sumOf(this.#impossible, this.#digits) : this.#impossible),
      padded: this.#padded,
      indented: this.#indented,
      damaged: byRows(this.#damaged),
    };
  }

  #areDays(filled: number): boolean {
    const days = [...this.#forms].reduce((sum, [form, rows]) => (isDayForm(form) ? sum + rows : sum), 0);
    return days * 2 >= filled;
  }

  /**
   * Returns the range; of dates only the years, because a date may belong to a single patient. Includes numbers that
   * look like sentinels, unless they were reported as such or are far from all others.
   */
  #range(sentinels: readonly Counted[]): ColumnProfile['range'] {
    const sentinelValues = new Set(sentinels.map(({ what }) => what));
    const isNear = (number: number): boolean => Math.abs(number) <= FAR * this.#farthest;
    const ordinary = [...this.#nones.keys()].filter(
      what => this.#isNumber && INTEGER.test(what) && !sentinelValues.has(what),
    );
    const numbers = [...Object.values(this.#numbers ?? {}), ...ordinary.map(Number).filter(isNear)];
    if (numbers.length > 0) return { least: rounded(Math.min(...numbers)), most: rounded(Math.max(...numbers)) };
    return this.#days && { least: this.#days.least.slice(0, 4), most: this.#days.most.slice(0, 4) };
  }

  #frequent(ranked: readonly Counted[], filled: number, showing: Showing): readonly Counted[] | undefined {
    if (showing === 'always') return ranked;
    if (showing !== 'codes' || ranked.length === 0) return undefined;
    if (ranked.length > MOST_WORDS && [...this.#forms.keys()].some(form => NAME.test(form))) return undefined;
    const isFew = !this.#isFull && ranked.length <= MOST_CODES && ranked.length * FEWEST_ROWS <= filled;
    const [first] = ranked;
    if (this.#numbers && ranked.length > KEY_VALUES && (first?.rows ?? 0) < KEY_SHARE * filled) return undefined;
    const isShort = ranked.every(({ what }) => what.length <= LONGEST_CODE && !/\s\S+\s/.test(what));
    const isTime = this.#days !== undefined || [...this.#forms.keys()].some(form => /^(?:yyyy|hh:|dd|mm)/.test(form));
    return isFew && isShort && !isTime ? ranked.filter(({ rows }) => rows >= FEWEST_ROWS) : undefined;
  }

  /** Returns the prefixes if several values share each of them; otherwise they would tell no more than the values. */
  #prefixesOf(filled: number, sentinels: readonly Counted[]): readonly Counted[] | undefined {
    const found = byRows(this.#prefixes);
    const sum = (of: readonly Counted[]): number => of.reduce((all, { rows }) => all + rows, 0);
    const areShared = found.length > 0 && found.length <= MOST_PREFIXES && this.#counts.size > 2 * found.length;
    if (!areShared || sum(found) < PREFIXED * (filled - sum(sentinels))) return undefined;
    return found.filter(({ rows }) => rows >= FEWEST_ROWS);
  }

  /**
   * Returns values that look like sentinels and are more frequent than others, and numbers far from all others. A word
   * that may be a code (`NA`, sodium) counts only if no codes are listed.
   */
  #sentinels(ranked: readonly Counted[], filled: number, areCodes: boolean): readonly Counted[] {
    const usual = ranked[Math.floor(ranked.length / 2)]?.rows ?? 1;
    return byRows(this.#nones).filter(({ what, rows }) => {
      if (rows < FEWEST_ROWS) return false;
      if (standsForNoDay(what) || (this.#days !== undefined && /^(?:0+|9+)$/.test(what))) return true;
      const ordinary = Math.max(usual, ...neighbours(what).map(one => this.#counts.get(one) ?? 0));
      const stands = ranked.length > 10 && rows >= 10 * ordinary && rows > filled / 100;
      if (what === '0' || what === '-1') return stands;
      if (this.#numbers) return stands || Math.abs(Number(what)) > FAR * this.#farthest;
      if (NUMBER.test(what)) return rows >= 5 * ordinary || numberOf(what) > FAR * this.#farthest;
      return rows > usual && !(areCodes && /^\p{L}+$/u.test(what));
    });
  }
}

/**
 * Returns the numbers just below and above, with the same number of digits: `0998` and `1000` for `0999`, `11.0` and
 * `11.2` for `11.1`. A whole number among decimals may lack its decimals (`11`). Empty for other texts.
 */
function neighbours(what: string): readonly string[] {
  if (!NUMBER.test(what)) return [];
  const [, mark = '', decimals = ''] = what.split(/([.,])/);
  const step = 10 ** decimals.length;
  const middle = Math.round(numberOf(what) * step);
  return [middle - 1, middle + 1].flatMap(one => {
    if (mark === '') return String(one).padStart(what.length, '0');
    const text = (one / step).toFixed(decimals.length).padStart(what.length, '0').replace('.', mark);
    return one % step === 0 ? [text, String(one / step)] : text;
  });
}

function numberOf(text: string): number {
  return Number(text.replace(',', '.'));
}

function count(counts: Map<string, number>, key: string, most: number): boolean {
  const before = counts.get(key);
  if (before === undefined && counts.size >= most) return false;
  counts.set(key, (before ?? 0) + 1);
  return true;
}

/** Replaces the forms of a column whose numbers are dates. */
function renamed(
  forms: ReadonlyMap<string, number>,
  { name, of }: { readonly name: string; readonly of: ReadonlyMap<string, number> },
): ReadonlyMap<string, number> {
  const left = new Map([...forms].map(([form, rows]) => [form, rows - (of.get(form) ?? 0)] as const));
  const rows = of.values().reduce((sum, some) => sum + some, 0);
  return sumOf(new Map([...left].filter(([, some]) => some > 0)), new Map([[name, rows]]));
}

function sumOf(some: ReadonlyMap<string, number>, others: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const sum = new Map(some);
  for (const [what, rows] of others) sum.set(what, (sum.get(what) ?? 0) + rows);
  return sum;
}

function byRows(counts: ReadonlyMap<string, number>): readonly Counted[] {
  return [...counts]
    .map(([what, rows]) => ({ what, rows }))
    .sort((a, b) => b.rows - a.rows || (a.what < b.what ? -1 : 1));
}

/** Rounds to six significant digits, which are enough for a range. */
function rounded(number: number): string {
  return Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(6)));
}
