/**
 * Describes how columns store stamps whose time follows a point, `20240314.083` for half past eight: the digits hhmmss,
 * whose trailing zeros may be missing. With years since 1700 it is the form of FileMan (VistA), `3240314.083`, in which
 * midnight is the 24 of the day before. In: decimals, floats, and texts of such numbers. A time of zeros counts as
 * none: the number is that of the date alone. Columns are compared as stored.
 */
import { type ColumnType, INTEGER, UNICODE } from '../../sql/column-type.ts';
import { and, call, compare, constant, glob, not, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { pad } from '../../time/calendar.ts';
import { END_OF_DAY } from '../../time/written-form.ts';
import { isPacked } from './packed-column.ts';
import { clockDigits, partsOf, positionIn, type StampColumn } from './stamp.ts';
import { trimEnd } from './text.ts';

const MILLION = 1_000_000;
const DIGIT = '[0-9]';
const LONG: ColumnType = { kind: 'integer', bits: 64 };

/** Describes a column. `since`: the year that its years count from, 0 for plain years. */
export function pointColumn(type: ColumnType, since: number): StampColumn {
  const { position, stored, ...form } = type.kind === 'text' ? inTexts(since) : inNumbers(type, since);
  return {
    ...form,
    inverse: 'indexed',
    isCoarse: true,
    position,
    sorted: position,
    stored,
    literal: at => value(stored(at), type),
    compared: column => column,
  };
}

/** The part in which columns of texts and of numbers differ. */
type StampForm = Pick<StampColumn, 'position' | 'stored' | 'raws' | 'isStamp' | 'isMoment'>;

function inNumbers(type: ColumnType, since: number): StampForm {
  const add = since * 10_000;
  /** Returns the digits yyyymmddhhmmss. */
  const digits = (column: Expression): Expression => {
    const units = call('scaled', [column, 6], LONG);
    return call('text', [call('ymd', [constant(since * MILLION, INTEGER), ZERO, units], LONG)], UNICODE);
  };
  const date = (column: Expression): Expression => call('substring', [digits(column), 1, 8], UNICODE);
  const isOne = (column: Expression, isDay: Predicate): Predicate =>
    and(
      compare(column, '>', constant(0, type)),
      or(
        and(glob(digits(column), `[1-9]${DIGIT.repeat(7)}000000`), isDay),
        and(isTime(digits(column), `[1-9]${DIGIT.repeat(7)}`, 6), ...isDayOf(date(column))),
      ),
      isPacked(date(column)),
    );
  const position = (raw: SqlValue): number | undefined => {
    const number = typeof raw === 'string' && /^\d{1,9}(?:\.\d+)?$/.test(raw) ? Number(raw) : raw;
    if (typeof number !== 'number' || !(number > 0) || number >= 1e9) return undefined;
    const units = Math.round(number * MILLION);
    return units / MILLION === number
      ? positionOfDigits(Math.floor(units / MILLION) + add, units % MILLION)
      : undefined;
  };
  const stored = (at: number): number => {
    const { packed, time } = timed(at);
    return ((packed - add) * MILLION + time) / MILLION;
  };
  return {
    position,
    stored,
    raws: packed => [packed - add],
    isStamp: column => isOne(column, and()),
    isMoment: column => isOne(column, and(...isDayOf(date(column)))),
  };
}

function inTexts(since: number): StampForm {
  const add = since * 10_000;
  const length = since === 0 ? 8 : 7;
  const most = 10 ** length - 1;
  const form = new RegExp(`^(\\d{${length}})(?:\\.(\\d{1,6}))?$`);
  const written = DIGIT.repeat(length);
  const date = (column: Expression): Expression => {
    const digits = call('substring', [column, 1, length], UNICODE);
    const give = since === 0 ? digits : call('ymd', [constant(since, INTEGER), ZERO, digits], INTEGER);
    return { kind: 'choice', of: [{ when: glob(column, `${written}*`), give }], type: give.type };
  };
  const isOne = (column: Expression, isDay: Predicate): Predicate => {
    const isReal = not(glob(column, `${'?'.repeat(length - 2)}00*`));
    const zeros = [1, 2, 3, 4, 5, 6].map(count => glob(column, `${written}.${'0'.repeat(count)}`));
    const times = [1, 2, 3, 4, 5, 6].map(count => isTime(column, `${written}.`, count, since));
    const isSome = not(glob(column, `${'0'.repeat(length)}*`));
    const isForm = or(and(or(glob(column, written), ...zeros), isDay), and(or(...times), isReal));
    return and(isSome, isForm, isPacked(date(column)));
  };
  const position = (raw: SqlValue): number | undefined => {
    const [, days = '', time = ''] = form.exec(typeof raw === 'string' ? trimEnd(raw) : '') ?? [];
    return days === '' || Number(days) === 0
      ? undefined
      : positionOfDigits(Number(days) + add, Number(time.padEnd(6, '0')));
  };
  const stored = (at: number): string => {
    const { packed, time } = timed(at);
    if (packed < add) return pad(0, length);
    if (packed - add > most) return `${most}.999999`;
    return pad(packed - add, length) + (time === 0 ? '' : `.${pad(time, 6).replace(/0+$/, '')}`);
  };
  return {
    position,
    stored,
    raws: packed => [pad(packed - add, length)],
    isStamp: column => isOne(column, and()),
    isMoment: column => isOne(column, not(glob(column, `${'?'.repeat(length - 2)}00*`))),
  };
}

const ZERO = constant(0, INTEGER);

/** Tests that the date is a day. */
function isDayOf(date: Expression): readonly Predicate[] {
  return [not(glob(date, '*00'))];
}

const HOURS = ['[01][0-9]', '2[0-3]'];
const SIXTY = ['[0-5]', DIGIT, '[0-5]', DIGIT];

/** Tests for so many digits of a time after `before`. 24 is the end of a day that has a next one. */
function isTime(text: Expression, before: string, count: number, since = 0): Predicate {
  const rest = SIXTY.slice(0, Math.max(0, count - 2)).join('');
  const hours = count === 1 ? ['[0-2]'] : HOURS;
  const last = since === 0 ? '9999*' : `${9999 - since}*`;
  return or(
    ...hours.map(hour => glob(text, before + hour + rest)),
    ...(count === 1 ? [] : [and(glob(text, before + END_OF_DAY.slice(0, count)), not(glob(text, last)))]),
  );
}

/** Returns the position. A time of zeros counts as none. */
function positionOfDigits(packed: number, time: number): number | undefined {
  return packed >= 10_000_000 ? positionIn(packed, time === 0 ? undefined : time) : undefined;
}

/** Returns the least date and time digits at or after a position. Midnight has no digits, the next second has. */
function timed(position: number): { readonly packed: number; readonly time: number } {
  const { packed, second } = partsOf(position);
  return { packed, time: second === undefined ? 0 : Math.max(1, Number(clockDigits(second))) };
}
