/**
 * Reads literals of a mapping. In: text and the type of the column that it is compared with. Out: the value in the form
 * of rows (src/sql/plan.ts), so that equal values are identical.
 */
import { type ColumnType, holdsAnyNumber, type TimeForm } from '../../../sql/column-type.ts';
import { engineNamed } from '../../../sql/engines.ts';
import { UUID } from '../../../sql/shared-functions.ts';
import { readMoment as readStored } from '../../../time/written.ts';
import { zoneOf } from '../../../time/zone.ts';
import { instantOfLocal } from '../../codecs/instant.ts';
import { bounds, inLayout, isTimed, type TimedType } from '../../codecs/stored-time.ts';

const BITS: Readonly<Record<8 | 16 | 32 | 64, readonly [bigint, bigint]>> = {
  8: [0n, 255n],
  16: [-(2n ** 15n), 2n ** 15n - 1n],
  32: [-(2n ** 31n), 2n ** 31n - 1n],
  64: [-(2n ** 63n), 2n ** 63n - 1n],
};

const DAY = /^(\d{4})-?(\d{2})-?(\d{2})$/;
const MOMENT = /^(\d{4}-?\d{2}-?\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7}))?)?)?$/;

/** Returns the value of a text for a column; undefined if no row can hold it in that engine. */
export function readLiteral(text: string, type: ColumnType, engine: string): string | number | undefined {
  // A time out of the type's range would make the engine reject the whole statement.
  if (isTimed(type) && !engineNamed(engine).holdsAnything && !isWithin(text, type)) return undefined;
  return readTyped(text, type);
}

function readTyped(text: string, type: ColumnType): string | number | undefined {
  switch (type.kind) {
    case 'text':
      return text;
    case 'integer':
      return readInteger(text, type.bits);
    case 'bit':
      return { '0': 0, '1': 1, false: 0, true: 1 }[text.toLowerCase()];
    case 'decimal':
      return readDecimal(text, type.scale, holdsAnyNumber(type));
    case 'float':
      return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
    case 'date':
      return readDay(text);
    case 'datetime':
      return inForm(readMoment(text, type.fraction), type.form);
    case 'instant': {
      const moment = readMoment(text, 7);
      return moment === undefined ? undefined : instantOfLocal(moment, type);
    }
    case 'time':
      return /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,7})?)?$/.test(text) ? text : undefined;
    case 'uuid':
      return UUID.test(text) ? text.toUpperCase() : undefined;
    case 'binary':
      return undefined;
  }
}

function readInteger(text: string, bits: 8 | 16 | 32 | 64): string | number | undefined {
  if (!/^-?\d{1,20}$/.test(text)) return undefined;
  const value = BigInt(text);
  const [least, greatest] = BITS[bits];
  if (value < least || value > greatest) return undefined;
  return bits === 64 ? value.toString() : Number(value);
}

function readDecimal(text: string, scale: number, more: boolean): string | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) return undefined;
  const [, sign = '', whole = '', fraction = ''] = match;
  const digits = fraction.replace(/0+$/, '');
  if (digits.length > scale && !more) return undefined;
  const integer = whole.replace(/^0+(?=\d)/, '');
  return `${sign}${integer}${scale > 0 || digits !== '' ? `.${digits.padEnd(scale, '0')}` : ''}`;
}

function readDay(text: string): string | undefined {
  const match = DAY.exec(text);
  if (!match) return undefined;
  const day = `${match[1]}-${match[2]}-${match[3]}`;
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) ? day : undefined;
}

function isWithin(text: string, type: TimedType): boolean {
  const moment = readMoment(text, 0);
  if (moment === undefined) return true;
  const { first, end } = bounds(type);
  const at = Date.parse(`${moment.replace(' ', 'T')}Z`);
  return at >= first && at < end;
}

/** Returns the type without the form that its rows have now, which may change. */
export function declaredType(type: ColumnType): ColumnType {
  if (!('form' in type)) return type;
  const { form: _, ...declared } = type;
  return declared;
}

/** Returns the day of `1753-01-01`, `17530101` or a moment, even if no calendar has it (`0000-00-00`). */
export function dayOf(text: string): string | undefined {
  const written = MOMENT.exec(text)?.[1];
  return written?.replace(DAY, '$1-$2-$3');
}

function readMoment(text: string, fraction: number): string | undefined {
  const match = MOMENT.exec(text);
  const day = match?.[1] === undefined ? undefined : readDay(match[1]);
  if (!match || day === undefined) return undefined;
  const [, , hour = '00', minute = '00', second = '00', part = ''] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const digits = part.slice(0, fraction).padEnd(fraction, '0');
  return `${day} ${hour}:${minute}:${second}${fraction > 0 ? `.${digits}` : ''}`;
}

/** Returns the value of a text as UTC time, for a column whose rows may be instants. */
export function instantLiteral(text: string, type: ColumnType): string | undefined {
  const moment = readMoment(text, 7);
  if (moment === undefined) return undefined;
  if (type.kind === 'instant') return instantOfLocal(moment, { ...type, zone: 'UTC' });
  const isAny = type.kind === 'datetime' && type.form?.kind === 'any';
  return isAny ? readStored(`${moment}Z`, zoneOf(type.form.zone)) : undefined;
}

/**
 * Writes a literal in the layout of the rows. Nonzero digits beyond the layout stay: no row is equal, and the order
 * holds.
 */
function inForm(text: string | undefined, form: TimeForm | undefined): string | undefined {
  if (text === undefined || form?.kind !== 'layout') return text;
  const says = /[^0:. ]/.test(text.slice(form.length));
  return inLayout(text, says ? { ...form, length: text.length } : form);
}

/** Describes what `readLiteral` accepts. */
export function literalForm(type: ColumnType): string {
  switch (type.kind) {
    case 'text':
      return 'text';
    case 'integer':
      return 'a whole number';
    case 'bit':
      return '0 or 1';
    case 'decimal':
      return `a decimal with at most ${type.scale} places`;
    case 'float':
      return 'a number';
    case 'date':
      return 'a date, 2024-01-31';
    case 'datetime':
    case 'instant':
      return 'a date and time, 2024-01-31 or 2024-01-31 08:30:00';
    case 'time':
      return 'a time, 08:30:00';
    case 'uuid':
      return 'a UUID';
    case 'binary':
      return 'no literal: the column is binary';
  }
}
