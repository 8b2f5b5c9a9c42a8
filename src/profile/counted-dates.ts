/**
 * Finds columns whose digits are dates that count from a century or another day. In: the values of a column. Out: the
 * form of nearly all of them. A single value proves nothing, because many keys have such digits: the column must have
 * enough rows of several months, which consecutive numbers do not have.
 */

/** The name of such dates in a profile. */
export type CountedForm = 'cyymmdd' | 'yyymmdd' | 'yyymmdd.hhmmss' | 'yyyyddd' | 'cyyddd' | 'days,seconds';

const MONTH = '(?:0[1-9]|1[0-2])';
const MONTH_AND_DAY = `${MONTH}(?:0[1-9]|[12]\\d|3[01])`;
const OF_YEAR = '(?:00[1-9]|0[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])';

/**
 * A form of digits. The pattern's group is a period: a month, a year, or thousands of days. `sure`: matches values that
 * no other form has.
 */
interface Form {
  readonly name: CountedForm;
  readonly pattern: RegExp;
  readonly sure: RegExp;
  readonly periods: number;
  /** True if several rows must share a day, which numbers assigned year by year do not. */
  readonly repeats?: true;
}

const FORMS: readonly Form[] = [
  {
    name: 'cyymmdd',
    // Stored as a number, the century digit 0 is lost.
    pattern: new RegExp(`^((?:1[0-5]\\d|0?\\d\\d)${MONTH})(?:0[1-9]|[12]\\d|3[01])$`),
    sure: /^\d{7}$/,
    periods: 3,
  },
  {
    name: 'yyymmdd',
    pattern: new RegExp(`^((?:2[1-9]|3[0-5])\\d(?:${MONTH}|00))(?:0\\d|[12]\\d|3[01])$`),
    sure: new RegExp(`^\\d{3}${MONTH_AND_DAY}`),
    periods: 3,
  },
  {
    name: 'yyymmdd.hhmmss',
    pattern: new RegExp(
      `^((?:2[1-9]|3[0-5])\\d(?:${MONTH}|00))(?:0\\d|[12]\\d|3[01])(?:\\.(?:[01]\\d?|2[0-4]?)(?:[0-5]\\d?){0,2})?$`,
    ),
    sure: /\./,
    periods: 3,
  },
  { name: 'yyyyddd', pattern: new RegExp(`^((?:19|20)\\d\\d)${OF_YEAR}$`), sure: /./, periods: 2, repeats: true },
  { name: 'cyyddd', pattern: new RegExp(`^(1[0-5]\\d|\\d\\d)${OF_YEAR}$`), sure: /^\d{6}$/, periods: 2 },
  {
    name: 'days,seconds',
    pattern: /^([2-7]\d\d)\d\d,(?:[0-7]?\d{1,4}|8[0-5]\d{3}|86[0-3]\d\d)$/,
    sure: /,/,
    periods: 1,
  },
];

const ENOUGH = 20;
const NEARLY_ALL = 0.98;
/** At most so many periods are counted separately. */
const MOST_PERIODS = 4;

interface Found {
  rows: number;
  sure: number;
  readonly periods: Set<string>;
  /** Number of rows by the form of the value alone. */
  readonly of: Map<string, number>;
}

/** Counts the values of a column that may be such dates. */
export class CountedDates {
  readonly #found: readonly Found[] = FORMS.map(() => ({ rows: 0, sure: 0, periods: new Set(), of: new Map() }));
  #rows = 0;

  /** Counts a value that is no sentinel. `form`: the form of the value alone. */
  add(text: string, form: string): void {
    this.#rows++;
    for (const [i, { pattern, sure }] of FORMS.entries()) {
      const found = this.#found[i];
      const period = pattern.exec(text)?.[1];
      if (!found || period === undefined) continue;
      found.rows++;
      if (sure.test(text)) found.sure++;
      if (found.periods.size < MOST_PERIODS) found.periods.add(period);
      found.of.set(form, (found.of.get(form) ?? 0) + 1);
    }
  }

  /**
   * Returns the form of the column, with the number of rows by their own forms; undefined if the values are no such
   * dates.
   */
  form(distinct: number): { readonly name: CountedForm; readonly of: ReadonlyMap<string, number> } | undefined {
    const at = FORMS.findIndex(({ periods, repeats }, i) => {
      const found = this.#found[i];
      if (!found || found.rows < ENOUGH || found.rows < NEARLY_ALL * this.#rows || found.sure === 0) return false;
      return found.periods.size >= periods && (!repeats || distinct < found.rows);
    });
    const [form, found] = [FORMS[at], this.#found[at]];
    return form && found && { name: form.name, of: found.of };
  }
}
