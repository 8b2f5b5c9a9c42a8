/**
 * Parameters as node:sqlite takes them. SQLite compares by the type of what is bound: numbers that travel as text are bound
 * as numbers. https://sqlite.org/datatype3.html#comparison_expressions
 */
import type { SQLInputValue } from 'node:sqlite';
import type { SqlValue } from '../expression.ts';
import { familyOf } from '../parameter-type.ts';
import type { Parameter } from '../plan.ts';
import { filled } from '../statement.ts';

const WHOLE = /^-?\d{1,18}$/;

export function bindable({ value, type }: Parameter): SQLInputValue {
  if (typeof value !== 'string') return value;
  if (type.kind === 'integer') return WHOLE.test(value) ? BigInt(value) : value;
  if (type.kind === 'decimal' || type.kind === 'float' || type.kind === 'bit') return Number(value);
  return value;
}

/** Likewise the value of a place. Most need not be told a type first, which SQLite knows of the value itself. */
export function bindPlaced(parameter: Parameter, value: SqlValue): SQLInputValue {
  const { place, type } = parameter;
  const family = familyOf(place?.against ?? place?.type ?? type);
  if (family === 'text' && typeof value === 'string') return value;
  if (family === 'number' && typeof value === 'number') return value;
  if (family === 'number' && typeof value === 'string' && WHOLE.test(value)) return BigInt(value);
  return bindable(filled(parameter, value));
}
