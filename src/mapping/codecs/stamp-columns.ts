/**
 * How columns hold stamps (stamp.ts). `ymd14`: the digits yyyymmddhhmmss in a text or a whole number; a text of eight
 * digits is the date alone.
 */
import { type ColumnType, UNICODE } from '../../sql/column-type.ts';
import { and, call, glob, isNull, not, or, value } from '../../sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../sql/expression.ts';
import { digits, pad, parseClock, printTime } from '../../time/calendar.ts';
import { END_OF_DAY } from '../../time/written-form.ts';
import { isPacked } from './packed-column.ts';
import { printPacked } from './packed-date.ts';
import { partsOf, positionOf, type StampColumn } from './stamp.ts';
import { trimEnd } from './text.ts';

const DIGIT = '[0-9]';
const SIXTY = '[0-5][0-9]';
const CLOCKS = ['[01][0-9]', '2[0-3]'].map(hour => hour + SIXTY + SIXTY);

/** Digits in a text, or in a whole number, which has a time always. */
export function ymd14Column(type: ColumnType): StampColumn {
  const isText = type.kind === 'text';
  const text = (column: Expression): Expression => (isText ? column : call('text', [column], UNICODE));
  const day = (column: Expression): Expression => call('substring', [text(column), 1, 8], UNICODE);
  /** A text that ends in a time, which no year after 9999 is for. */
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
    // What `written` gives is a stamp.
    if (isWritten(column)) return not(isNull(column));
    return isText ? or(and(isPacked(column), date(column)), hasTime(column)) : hasTime(column);
  };
  const isDay = (column: Expression): Predicate => not(glob(column, `${'?'.repeat(6)}00`));
  const position = (raw: SqlValue): number | undefined => {
    const written = typeof raw === 'string' ? trimEnd(raw) : typeof raw === 'number' ? String(raw) : '';
    return positionIn(written.slice(0, 8), isText && written.length === 8 ? undefined : written.slice(8));
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

/** Of a date and its time in digits; undefined: they are none. */
function positionIn(date: string, clock: string | undefined): number | undefined {
  const packed = date.length === 8 ? digits(date, 0, 8) : Number.NaN;
  const printed = Number.isNaN(packed) ? undefined : printPacked(packed);
  if (printed === undefined) return undefined;
  if (clock === undefined) return positionOf(packed);
  if (clock.length !== 6 || printed.length !== 10) return undefined;
  if (clock === END_OF_DAY) return printed.startsWith('9999') ? undefined : positionOf(packed, SECONDS);
  const time = parseClock(digits(clock, 0, 2), digits(clock, 2, 4), digits(clock, 4, 6));
  return time === undefined ? undefined : positionOf(packed, time / 1000);
}

const SECONDS = 86_400;

function clockDigits(second: number): string {
  return second === SECONDS ? END_OF_DAY : printTime(second * 1000).replaceAll(':', '');
}
