/**
 * How date and time columns store local times: which texts arrive from them, which literals compare with them, what they
 * can hold. DATETIME keeps 1/300 s and SMALLDATETIME minutes, and both round a parameter, so an end of a range is first
 * raised to the next time that the column can hold.
 * https://learn.microsoft.com/sql/t-sql/data-types/date-and-time-types
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { value } from '../../sql/construct.ts';
import type { Expression } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, pad, printDay } from '../../time/calendar.ts';
import { parseTimeKey, printLocal } from '../../time/local.ts';

export type TimedType = Extract<ColumnType, { kind: 'date' | 'datetime' }>;

export function isTimed(type: ColumnType | undefined): type is TimedType {
  return type?.kind === 'date' || type?.kind === 'datetime';
}

/** The lowest local time at or after `local` that a column can hold; times before its first one stay what they are. */
function raise(local: number, type: TimedType): number {
  if (type.kind === 'date') return Math.ceil(local / DAY) * DAY;
  if (type.name === 'smalldatetime') return Math.ceil(local / 60_000) * 60_000;
  if (type.name === 'datetime2') {
    const step = 10 ** Math.max(0, 3 - type.fraction);
    return Math.ceil(local / step) * step;
  }
  // Thirds of a hundredth, written with three digits: …0, …3 and …7.
  const digit = ((local % 10) + 10) % 10;
  return local + ([0, 2, 1, 0, 3, 2, 1, 0, 2, 1][digit] ?? 0);
}

/** The first local time that a column can hold, and the end of those that it can. */
export function bounds(type: TimedType): { readonly first: number; readonly end: number } {
  if (type.kind === 'datetime' && type.name === 'datetime') return { first: Date.UTC(1753, 0, 1), end: END_DAY * DAY };
  if (type.kind === 'datetime' && type.name === 'smalldatetime')
    return { first: Date.UTC(1900, 0, 1), end: Date.UTC(2079, 5, 7) };
  return { first: FIRST_DAY * DAY, end: END_DAY * DAY };
}

/** The end of a range as the column stores it. */
export function timeLiteral(local: number, type: TimedType): Expression {
  const raised = raise(local, type);
  const text = type.kind === 'date' ? printDay(raised / DAY) : printLocal(raised, type.fraction);
  return value(text, type);
}

/** The first stored text whose key is at or after a key; undefined if the column can hold none. */
export function storedFromKey(key: string, type: TimedType): string | undefined {
  const { local, rest } = parseTimeKey(key);
  const { first, end } = bounds(type);
  if (type.kind === 'datetime' && type.fraction > 3) {
    const unit = 10 ** (7 - type.fraction);
    const raised = Math.ceil(rest / unit);
    const carried = raised * unit >= 10_000;
    const held = carried ? local + 1 : local;
    return held < end ? `${printLocal(held, 3)}${pad(carried ? 0 : raised, type.fraction - 3)}` : undefined;
  }
  const held = Math.max(first, raise(rest > 0 ? local + 1 : local, type));
  if (held >= end) return undefined;
  return type.kind === 'date' ? printDay(Math.floor(held / DAY)) : printLocal(held, type.fraction);
}
