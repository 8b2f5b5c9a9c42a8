/**
 * Detects fetched rows that contradict the form of their column, because another program has written since. In: a plan,
 * and the forms that were found. Out: a check of its rows that reports each such column.
 * It also prints values in place. Decimals arrive as doubles and become text with the digits of the declared scale, or
 * more if there are more. Instants in UTC become canonical texts.
 */
import { memoized } from '../../common/caches.ts';
import { digits, isDay, parseClock, twoDigits } from '../../time/calendar.ts';
import { formOfTime, isReadForm, readMoment } from '../../time/written.ts';
import { type Zone, zoneOf } from '../../time/zone.ts';
import { type Catalog, type ColumnInfo, findColumn, findTable, type WrittenAlike } from '../catalog.ts';
import { type ColumnType, holdsAnyNumber, isLoose, isMixed, isMixedTime, isSmallUuid } from '../column-type.ts';
import type { Relation, SqlValue } from '../expression.ts';
import type { SqlPlan } from '../plan.ts';
import { printNumber, UUID } from '../shared-functions.ts';
import { isApart } from './apart.ts';
import { wholePart, wholeRange } from './number-form.ts';

/** A row as it comes from SQLite. */
type Fetched = SqlValue[];

/** Reports a column that has a value of another form, by `columnKey`. */
export type Disprove = (column: string) => void;

interface Watched {
  readonly at: number;
  readonly column: string;
  /** True if a value that is not NULL has the form of its column. */
  readonly fits: (value: SqlValue) => boolean;
}

/** A range of whole numbers. Most watched columns have one, and it is checked without a call. */
interface Whole {
  readonly at: number;
  readonly column: string;
  readonly least: number;
  readonly most: number;
}

interface Decimal {
  readonly at: number;
  readonly scale: number;
}

interface RowChecks {
  readonly watched: readonly Watched[];
  readonly wholes: readonly Whole[];
  readonly decimals: readonly Decimal[];
  readonly instants: readonly { readonly at: number; readonly zone: Zone }[];
  /** Positions of dates and times in mixed columns. */
  readonly mixed: readonly { readonly at: number; readonly type: ColumnType }[];
  /** Positions of UUIDs in lower case. */
  readonly small: readonly number[];
}

export interface Witness {
  /** Checks the rows of a plan, and prints their decimals, instants and UUIDs in place. */
  look(plan: SqlPlan, rows: readonly Fetched[]): void;
  /** Reports all number columns that a plan fetches, because one had a number too large to arrive. */
  tooLarge(plan: SqlPlan): void;
}

/** Creates the check. `found`: the catalog with the forms of the rows; undefined if their rows were not read. */
export function createWitness(found: Catalog | undefined, disprove: Disprove): Witness {
  const checksOf = memoized((plan: SqlPlan): RowChecks => {
    const watched = found && plan.shape === 'rows' ? watchedOf(plan, found) : [];
    return {
      watched: watched.filter(one => 'fits' in one),
      wholes: watched.filter(one => 'least' in one),
      decimals: isFetched(plan) ? decimalsOf(plan) : [],
      instants: isFetched(plan) ? instantsOf(plan) : [],
      mixed: isFetched(plan) ? mixedOf(plan) : [],
      small: isFetched(plan) ? plan.columns.flatMap(({ type }, at) => (isSmallUuid(type) ? [at] : [])) : [],
    };
  });
  return {
    look(plan, rows) {
      if (plan.stored) return;
      const { watched, wholes, decimals, instants, mixed, small } = checksOf(plan);
      for (const { at, column, least, most } of wholes) {
        for (const row of rows) {
          const value = row[at];
          if (value === null || (typeof value === 'number' && value >= least && value <= most && value % 1 === 0))
            continue;
          disprove(column);
        }
      }
      for (const { at, column, fits } of watched) {
        for (const row of rows) {
          const value = row[at];
          if (value !== null && value !== undefined && !fits(value)) disprove(column);
        }
      }
      for (const { at, scale } of decimals) {
        for (const row of rows) {
          const value = row[at];
          if (typeof value === 'number') row[at] = printNumber(value, scale) ?? null;
        }
      }
      for (const { at, zone } of instants) {
        for (const row of rows) {
          const value = row[at];
          row[at] = (typeof value === 'string' ? readMoment(value, zone) : undefined) ?? null;
        }
      }
      for (const { at, type } of mixed) {
        for (const row of rows) if (isApart(row[at], type)) row[at] = null;
      }
      for (const at of small) {
        for (const row of rows) {
          const value = row[at];
          row[at] = typeof value === 'string' ? value.toUpperCase() : null;
        }
      }
    },
    tooLarge(plan) {
      if (found === undefined || plan.stored || plan.shape !== 'rows') return;
      for (const { column } of watchedOf(plan, found, ({ form }) => form === 'declared')) disprove(column);
    },
  };
}

/** True if the rows contain the plan's columns. */
function isFetched({ shape }: SqlPlan): boolean {
  return shape === 'rows' || shape === 'groups';
}

function instantsOf({ columns }: SqlPlan): RowChecks['instants'] {
  return columns.flatMap(({ kind, type }, at) =>
    kind === 'column' && 'form' in type && type.form?.kind === 'any' && type.form.utc
      ? [{ at, zone: zoneOf(type.form.zone) }]
      : [],
  );
}

function mixedOf({ columns }: SqlPlan): RowChecks['mixed'] {
  return columns.flatMap(({ kind, type }, at) => (kind === 'column' && isMixedTime(type) ? [{ at, type }] : []));
}

function decimalsOf({ columns }: SqlPlan): readonly Decimal[] {
  return columns.flatMap(({ type }, at) =>
    type.kind === 'decimal' && !holdsAnyNumber(type) ? [{ at, scale: type.scale }] : [],
  );
}

/** Returns columns that are fetched unchanged and whose form was found. */
function watchedOf(
  plan: SqlPlan,
  found: Catalog,
  isAsked: (info: ColumnInfo) => boolean = () => true,
): readonly (Watched | Whole)[] {
  const tables = tablesOf(plan.from);
  return plan.columns.flatMap((of, at): readonly (Watched | Whole)[] => {
    if (of.kind !== 'column' || isWorkedOut(of.type)) return [];
    const name = tables.get(of.alias);
    const table = name === undefined ? undefined : findTable(found, name);
    const info = table && findColumn(table, of.column);
    const fits = info && isAsked(info) ? fitting(info) : undefined;
    if (!table || !fits) return [];
    const column = columnKey(table.name.toLowerCase(), of.column.toLowerCase());
    return [typeof fits === 'function' ? { at, column, fits } : { at, column, least: fits[0], most: fits[1] }];
  });
}

/** True if SQL converts the stored value, so that it does not arrive itself. */
function isWorkedOut(type: ColumnType): boolean {
  return (
    (isMixed(type) && !isMixedTime(type)) ||
    (type.kind === 'uuid' && type.letters === 'any') ||
    isLoose(type) ||
    ('form' in type && type.form?.kind === 'any' && !type.form.utc)
  );
}

function tablesOf({ alias, table, joins }: Relation): ReadonlyMap<string, string> {
  return new Map([[alias, table.name], ...joins.map(join => [join.alias, join.table.name] as const)]);
}

/** A test, or the least and the greatest whole number. */
type Fitting = Watched['fits'] | readonly [number, number];

/** Returns the test for a column's form. Undefined if any value fits. */
function fitting({ form, type }: ColumnInfo): Fitting | undefined {
  if (form === undefined || form === 'any' || type === undefined) return undefined;
  if (form === 'small') return value => typeof value === 'string' && UUID.test(value) && value === value.toLowerCase();
  if (form === 'trimmed') return value => typeof value === 'string' && !value.endsWith(' ');
  if (form === 'declared') {
    if (type.kind === 'text') return value => typeof value === 'string';
    return type.kind === 'uuid' ? isUpperUuid : fittingNumber(type);
  }
  const isAlike = fittingTime(type, form);
  // A text that sorts apart may still be a date, with blanks around it, which disproves the form.
  return form.mixed
    ? value => isAlike(value) || (isApart(value, type) && !isReadForm(formOfTime(value, type.kind)))
    : isAlike;
}

/** Returns the test for dates or times of one layout. */
function fittingTime({ kind }: ColumnType, form: WrittenAlike): Watched['fits'] {
  if (kind === 'time')
    return value => typeof value === 'string' && value.length === form.length && isClock(value, 0, form.length);
  const code = form.separator.charCodeAt(0);
  const zone = form.utc ? 'Z' : '';
  const end = form.length - zone.length;
  return value =>
    typeof value === 'string' &&
    value.length === form.length &&
    isDayText(value) &&
    (value.length === 10 || (value.charCodeAt(10) === code && isClock(value, 11, end) && value.endsWith(zone)));
}

function isUpperUuid(value: SqlValue): boolean {
  return typeof value === 'string' && UUID.test(value) && value === value.toUpperCase();
}

/**
 * True for a text that begins with a date such as `2024-03-10`. Like parseDay in calendar.ts, without the day's number.
 */
function isDayText(text: string): boolean {
  if (text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN) return false;
  const [century, ofCentury] = [twoDigits(text, 0), twoDigits(text, 2)];
  if (century < 0 || ofCentury < 0) return false;
  return isDay(century * 100 + ofCentury, twoDigits(text, 5), twoDigits(text, 8));
}

/** True for `02:30`, `02:30:00` or `02:30:00.123` between two positions. */
function isClock(text: string, from: number, end: number): boolean {
  const length = end - from;
  if (length < 5 || text.charCodeAt(from + 2) !== COLON) return false;
  const second = length < 8 ? 0 : text.charCodeAt(from + 5) === COLON ? twoDigits(text, from + 6) : -1;
  if (parseClock(twoDigits(text, from), twoDigits(text, from + 3), second) === undefined) return false;
  if (length <= 8) return length === 5 || length === 8;
  return text.charCodeAt(from + 8) === POINT && !Number.isNaN(digits(text, from + 9, end));
}

const COLON = 58;
const HYPHEN = 45;
const POINT = 46;

/**
 * Returns the test for numbers. Whole numbers arrive as whole doubles, those of 64 bits and of any digits as text
 * (dialect.ts).
 */
function fittingNumber(type: ColumnType): Fitting {
  if (holdsAnyNumber(type)) return value => value !== '';
  switch (type.kind) {
    case 'integer':
    case 'bit': {
      if (type.kind === 'integer' && type.bits === 64) return value => typeof value === 'string' && WHOLE.test(value);
      const [least, most] = wholeRange(type);
      return [Number(least), Number(most)];
    }
    case 'decimal': {
      const most = wholePart(type);
      return value =>
        typeof value === 'number' && Math.abs(value) < most && Number(value.toFixed(type.scale)) === value;
    }
    default:
      return value => typeof value === 'number' && Number.isFinite(value);
  }
}

const WHOLE = /^-?\d{1,19}$/;

/** Returns the key of a table and a column, both in lower case. */
export function columnKey(table: string, column: string): string {
  return `${table}\n${column}`;
}
