/**
 * Describes how date and time columns store local times: the texts that they return, the literals to compare with them,
 * and their range. DATETIME keeps 1/300 s and SMALLDATETIME minutes, and both round a parameter. So an end of a range
 * is first raised to the next time that the column can hold.
 * https://learn.microsoft.com/sql/t-sql/data-types/date-and-time-types
 */
import type { ColumnType, TimeForm } from '../../sql/column-type.ts';
import { value } from '../../sql/construct.ts';
import type { Expression, SqlValue } from '../../sql/expression.ts';
import { DAY, END_DAY, FIRST_DAY, pad, printDay } from '../../time/calendar.ts';
import { parseLocal, parseTimeKey, printLocal, timeKey } from '../../time/zone.ts';

export type TimedType = Extract<ColumnType, { kind: 'date' | 'datetime' }>;
export type DatetimeType = Extract<ColumnType, { kind: 'datetime' }>;

export function isTimed(type: ColumnType | undefined): type is TimedType {
  return type?.kind === 'date' || type?.kind === 'datetime';
}

/** Returns the lowest time at or after `local` that a column can hold. Times before its first one stay unchanged. */
export function raise(local: number, type: TimedType): number {
  if (type.kind === 'date') return Math.ceil(local / DAY) * DAY;
  if (type.form?.kind === 'layout' && type.form.length < 19) {
    const step = type.form.length === 10 ? DAY : 60_000;
    return Math.ceil(local / step) * step;
  }
  if (type.name === 'smalldatetime') return Math.ceil(local / 60_000) * 60_000;
  if (type.name === 'datetime2') {
    const step = 10 ** Math.max(0, 3 - type.fraction);
    return Math.ceil(local / step) * step;
  }
  // DATETIME counts thirds of a hundredth of a second, written with three digits: …0, …3 and …7.
  const digit = ((local % 10) + 10) % 10;
  return local + ([0, 2, 1, 0, 3, 2, 1, 0, 2, 1][digit] ?? 0);
}

/** Returns the first local time that a column can hold, and the end (exclusive). */
export function bounds(type: TimedType): { readonly first: number; readonly end: number } {
  if (type.kind === 'datetime' && type.name === 'datetime') return { first: Date.UTC(1753, 0, 1), end: END_DAY * DAY };
  if (type.kind === 'datetime' && type.name === 'smalldatetime')
    return { first: Date.UTC(1900, 0, 1), end: Date.UTC(2079, 5, 7) };
  return { first: FIRST_DAY * DAY, end: END_DAY * DAY };
}

/** Returns the literal of the end of a range as the column stores it. */
export function timeLiteral(local: number, type: TimedType): Expression {
  return value(printStored(raise(local, type), type), type);
}

/** Prints a local time that the column can hold, in the layout of its rows. */
export function printStored(local: number, type: TimedType): string {
  if (type.kind === 'date') return printDay(Math.floor(local / DAY));
  return inLayout(printLocal(local, type.fraction), type.form);
}

/**
 * Writes a stored time for an id: `20240310T023000`, with the digits of a second without trailing zeros. It is the same
 * in every layout of the rows. `b` begins the position within the second pass of a repeated hour.
 */
export function timeInId(raw: SqlValue, type: DatetimeType): string | undefined {
  const text = storedReader(type)(raw);
  if (text === undefined) return undefined;
  const { prefix = text, second } = REPEATED_HOUR.exec(text)?.groups ?? {};
  if (parseLocal(prefix) === undefined) return undefined;
  const seconds = prefix.slice(0, 19).replace(/[-:]/g, '').replace(' ', 'T');
  if (second !== undefined) return `${seconds}b${second}`;
  const fraction = prefix.slice(20).replace(/0+$/, '');
  return fraction === '' ? seconds : `${seconds}.${fraction}`;
}

/** Returns the stored time of such a text; undefined if the column cannot hold it, or for any other text. */
export function timeOfId(part: string, type: DatetimeType): string | undefined {
  const { year, month, day, hour, minute, seconds, fraction = '', second } = TIME_IN_ID.exec(part)?.groups ?? {};
  if (year === undefined) return undefined;
  const text = `${year}-${month}-${day} ${hour}:${minute}:${seconds}`;
  if (isComputed(type)) return second === undefined ? timeKey(`${text}.${fraction}`) : `${text}.9999999~${second}`;
  const local = parseLocal(fraction === '' ? text : `${text}.${fraction}`);
  const { first, end } = bounds(type);
  if (local === undefined || local < first || local >= end || raise(local, type) !== local) return undefined;
  return inLayout(type.fraction === 0 ? text : `${text}.${fraction.padEnd(type.fraction, '0')}`, type.form);
}

const REPEATED_HOUR = /^(?<prefix>.{19}\.\d{3})9999~(?<second>\d{8}(?:\d{4})?)$/;
const TIME_IN_ID =
  /^(?<year>\d{4})(?<month>\d\d)(?<day>\d\d)T(?<hour>\d\d)(?<minute>\d\d)(?<seconds>\d\d)(?:\.(?<fraction>\d{1,7})|b(?<second>\d+))?$/;

/** Converts a text `2024-03-10 02:30:00.123` to the layout of the rows. */
export function inLayout(text: string, form: TimeForm | undefined): string {
  if (form?.kind !== 'layout') return text;
  const cut = text.slice(0, form.length);
  return form.separator === ' ' ? cut : cut.replace(' ', form.separator);
}

/**
 * Returns the reader of a row's value: it gives `2024-03-10 02:30:00.123`, `2024-03-10` for a DATE column, or a key if
 * rows have different layouts. A text of another layout than the column's is undefined, as in SQL comparisons.
 */
export function storedReader(type: TimedType): (raw: SqlValue | undefined) => string | undefined {
  if (type.form?.kind === 'any') return raw => (typeof raw === 'string' ? raw : undefined);
  const { separator, length } = layoutOf(type);
  const code = separator.charCodeAt(0);
  const fits = (raw: string): boolean => raw.length === length && (length === 10 || raw.charCodeAt(10) === code);
  if (type.kind === 'date' || (separator === ' ' && length >= 19))
    return raw => (typeof raw === 'string' && fits(raw) ? raw : undefined);
  return raw =>
    typeof raw === 'string' && fits(raw)
      ? `${raw.slice(0, 10)} ${raw.slice(11)}${'00:00:00'.slice(Math.max(0, length - 11))}`
      : undefined;
}

/** Returns the layout of values in rows that are no keys. */
export function layoutOf(type: TimedType): { readonly separator: string; readonly length: number } {
  if (type.form?.kind === 'layout') return type.form;
  return { separator: ' ', length: type.kind === 'date' ? 10 : type.fraction === 0 ? 19 : 20 + type.fraction };
}

/** True if each use of the column in SQL is an expression, so that no index on it serves. */
export function isComputed(type: ColumnType): boolean {
  return 'form' in type && type.form?.kind === 'any';
}

/** Returns the first stored text whose key is at or after a key; undefined if the column can hold none. */
export function storedFromKey(key: string, type: TimedType): string | undefined {
  // The canonical texts of such a column are keys.
  if (type.kind === 'datetime' && type.form?.kind === 'any') return key;
  const { local, rest } = parseTimeKey(key);
  const { first, end } = bounds(type);
  if (type.kind === 'datetime' && type.fraction > 3) {
    const unit = 10 ** (7 - type.fraction);
    const raised = Math.ceil(rest / unit);
    const carried = raised * unit >= 10_000;
    const held = carried ? local + 1 : local;
    if (held >= end) return undefined;
    return inLayout(`${printLocal(held, 3)}${pad(carried ? 0 : raised, type.fraction - 3)}`, type.form);
  }
  const held = Math.max(first, raise(rest > 0 ? local + 1 : local, type));
  if (held >= end) return undefined;
  return printStored(held, type);
}
