/**
 * Binds parameters for the driver. In: a Parameter with its column's type. Out: the driver's type and value, so that
 * the server compares equal types and no digit is lost.
 * https://learn.microsoft.com/sql/t-sql/data-types/data-type-precedence-transact-sql
 */
import sql, { type ISqlType } from 'mssql';
import type { ColumnType } from '../column-type.ts';
import type { SqlValue } from '../expression.ts';
import type { Parameter } from '../plan.ts';
import { exactDecimal } from './exact-decimal.ts';

export interface Bound {
  readonly type: ISqlType;
  readonly value: string | number | Date | Buffer | null;
}

/**
 * Returns the driver's type and value. Throws a TypeError, without the value, for a text that is no date or time where
 * one is needed.
 */
export function bindParameter({ value, type }: Parameter): Bound {
  switch (type.kind) {
    case 'text': {
      const length = type.length === 'max' ? sql.MAX : type.length;
      // A fixed type would be padded; without padding the comparison has the same result.
      return { type: type.unicode ? sql.NVarChar(length) : sql.VarChar(length), value: textOf(value) };
    }
    case 'bit':
      return { type: sql.Bit(), value: numberOf(value) };
    case 'integer':
      if (type.bits !== 64) return { type: sql.Int(), value: numberOf(value) };
      // As text, a 64-bit integer keeps all its digits.
      return beyondBigint(value) ?? { type: sql.BigInt(), value: textOf(value) };
    case 'decimal':
      return exactDecimal(textOf(value), type.precision, type.scale);
    case 'float':
      return { type: type.single ? sql.Real() : sql.Float(), value: numberOf(value) };
    case 'uuid':
      return { type: sql.UniqueIdentifier(), value: textOf(value) };
    case 'binary': {
      if (value !== null && !(value instanceof Uint8Array)) throw new TypeError('a binary parameter needs bytes');
      const bytes = value === null ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return { type: sql.VarBinary(type.length === 'max' ? sql.MAX : type.length), value: bytes };
    }
    case 'date':
    case 'datetime':
    case 'instant':
    case 'time':
      return bindMoment(textOf(value), type);
  }
}

const LONG_INTEGER = /^-?\d+$/;

/**
 * Returns a whole number beyond bigint as a decimal, so that every integer column can be compared with it. Undefined
 * for any other.
 */
function beyondBigint(value: SqlValue): Bound | undefined {
  const text = textOf(value);
  if (text === null || !LONG_INTEGER.test(text)) return undefined;
  const whole = BigInt(text);
  return BigInt.asIntN(64, whole) === whole ? undefined : exactDecimal(text, 38, 0);
}

type Moment = Extract<ColumnType, { kind: 'date' | 'datetime' | 'instant' | 'time' }>;

function bindMoment(text: string | null, type: Moment): Bound {
  const value = text === null ? null : momentOf(text);
  switch (type.kind) {
    case 'date':
      return { type: sql.Date(), value };
    case 'instant':
      return { type: type.utc ? sql.DateTime2(type.fraction) : sql.DateTimeOffset(type.fraction), value };
    case 'time':
      return { type: sql.Time(type.fraction), value };
    case 'datetime': {
      const year = value?.getUTCFullYear();
      if (type.name === 'datetime2') return { type: sql.DateTime2(type.fraction), value };
      if (type.name === 'datetime' && (year === undefined || year >= 1753)) return { type: sql.DateTime(), value };
      const small = year === undefined || (year >= 1900 && year < 2079);
      if (type.name === 'smalldatetime' && small) return { type: sql.SmallDateTime(), value };
      // The value is beyond the column's range, so only a wider type can express it.
      return { type: sql.DateTime2(3), value };
    }
  }
}

const MOMENT =
  /^(?:(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,7}))?)?|(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,7}))?)$/;

/**
 * Returns a Date whose UTC fields are the local time, because the driver writes UTC. The driver reads digits beyond the
 * millisecond from `nanosecondDelta`.
 */
function momentOf(text: string): Date {
  const match = MOMENT.exec(text);
  if (!match) throw new TypeError('a parameter is no date or time');
  const fraction = (match[3] ?? match[5] ?? '').padEnd(7, '0');
  const clock = match[2] ?? match[4] ?? '00:00:00';
  const seconds = clock.length === 5 ? `${clock}:00` : clock;
  const moment = new Date(`${match[1] ?? '1970-01-01'}T${seconds}.${fraction.slice(0, 3)}Z`);
  if (Number.isNaN(moment.getTime())) throw new TypeError('a parameter is no date or time');
  return Object.assign(moment, { nanosecondDelta: Number(fraction.slice(3)) / 1e7 });
}

function textOf(value: SqlValue): string | null {
  if (value instanceof Uint8Array) throw new TypeError('a parameter that is no binary has bytes');
  return value === null ? null : String(value);
}

function numberOf(value: SqlValue): number | null {
  const text = textOf(value);
  return text === null ? null : Number(text);
}
