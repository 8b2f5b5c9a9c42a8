/**
 * Describes how columns store stamps (stamp.ts). `ymd14`: the digits yyyymmddhhmmss in a text or a whole number; a text
 * of eight digits is the date alone.
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { and, call, glob, isNull, not, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { digits, pad } from '../../time/calendar.ts';
import { END_OF_DAY } from '../../time/written-form.ts';
import { isPacked } from './packed-column.ts';
import { clockDigits, partsOf, positionIn, type StampColumn } from './stamp.ts';
import { trimEnd } from './text.ts';

const DIGIT = '[0-9]';
const SIXTY = '[0-5][0-9]';
const CLOCKS = ['[01][0-9]', '2[0-3]'].map(hour => hour + SIXTY + SIXTY);

/** Describes digits in a text, or in a whole number, which always has a time. */
export function ymd14Column(type: ColumnType): StampColumn {
  const isText = type.kind === 'text';
  const text = (column: Expression): Expression => (isText ? column : call('text', [column], UNICODE));
  const day = (column: Expression): Expression => call('substring', [text(column), 1, 8], UNICODE);
  /** Tests for a text that ends in a time. 240000 is excluded in the year 9999. */
  const hasTime = (column: Expression): Predicate =>
    and(
      or(
        ...CLOCKS.map(clock => glob(text(column), DIGIT.repeat(8) + clock)),
        and(glob(text(column), DIGIT.repeat(8) + END_OF_DAY), not(glob(text(column), '9999*'))),
      ),
      isPacked(day(column)),
      not(glob(day(column), '*00')),
    );
  const isOne = (column: Expression, date: (column: Expression) => Predicate): Predicate => {
    // The step `written` gives a stamp or NULL.
    if (isWritten(column)) return not(isNull(column));
    return isText ? or(and(isPacked(column), date(column)), hasTime(column)) : hasTime(column);
  };
  const isDay = (column: Expression): Predicate => not(glob(column, `${'?'.repeat(6)}00`));
  const position = (raw: SqlValue): number | undefined => {
    const written = typeof raw === 'string' ? trimEnd(raw) : typeof raw === 'number' ? String(raw) : '';
    const packed = written.length < 8 ? Number.NaN : digits(written, 0, 8);
    if (isText && written.length === 8) return Number.isNaN(packed) ? undefined : positionIn(packed, undefined);
    return Number.isNaN(packed) || written.length !== 14 ? undefined : positionIn(packed, digits(written, 8, 14));
  };
  const stored = (at: number): SqlValue => {
    const { packed, second } = partsOf(at);
    if (isText) return pad(packed, 8) + (second === undefined ? '' : clockDigits(second));
    return packed * 1_000_000 + Number(clockDigits(second ?? 0));
  };
  return {
    inverse: 'indexed',
    isCoarse: !isText,
    position,
    sorted: position,
    stored,
    literal: at => value(stored(at), type),
    compared: column => column,
    isStamp: column => isOne(column, () => and()),
    isMoment: column => and(isOne(column, isDay), isWritten(column) ? isDay(column) : and()),
  };
}

function isWritten(column: Expression): boolean {
  return column.kind === 'function' && column.name === 'written';
}
