/**
 * Binds parameters for node:sqlite. SQLite compares by the type of the bound value: numbers that travel as text are
 * bound as numbers.
 * https://sqlite.org/datatype3.html#comparison_expressions
 */
import type { SQLInputValue } from 'node:sqlite';
import { holdsAnyNumber } from '../column-type.ts';
import type { SqlValue } from '../expression.ts';
import { familyOf } from '../parameter-type.ts';
import type { Parameter } from '../plan.ts';
import { filled } from '../statement.ts';

const WHOLE = /^-?\d{1,19}$/;
const LARGEST = 2n ** 63n;

export function bindable({ value, type }: Parameter): SQLInputValue {
  if (typeof value !== 'string') return value;
  if (familyOf(type) !== 'number') return value;
  return largeWhole(value) ?? (type.kind === 'integer' && !holdsAnyNumber(type) ? value : Number(value));
}

/** A whole number that SQLite can hold as such; a double would have fewer digits. */
function largeWhole(text: string): bigint | undefined {
  if (!WHOLE.test(text)) return undefined;
  const number = BigInt(text);
  return number < LARGEST && number >= -LARGEST ? number : undefined;
}

/** Likewise the value of a place. Most need not be told a type first, which SQLite knows of the value itself. */
export function bindPlaced(parameter: Parameter, value: SqlValue): SQLInputValue {
  const { place, type } = parameter;
  const family = familyOf(place?.against ?? place?.type ?? type);
  if (family === 'text' && typeof value === 'string') return value;
  if (family === 'number' && typeof value === 'number') return value;
  if (family === 'number' && typeof value === 'string') {
    const whole = largeWhole(value);
    if (whole !== undefined) return whole;
  }
  return bindable(filled(parameter, value));
}
