/**
 * Writes constants of mappings and codecs as SQL literals, so that the engine can plan with them. In: a constant,
 * never a value of a request. Out: a literal; undefined if the constant is better bound.
 */
import type { ColumnType } from './column-type.ts';
import type { SqlValue } from './expression.ts';

/** Printed alike in every code page, and legible. */
const PRINTABLE = /^[ -~]{0,200}$/;
const WHOLE = /^-?\d{1,15}$/;

/** `prefix`: what stands before the quotes of a text. */
export function literal(value: SqlValue, type: ColumnType, prefix: string): string | undefined {
  if (value === null || value instanceof Uint8Array) return undefined;
  if (type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float')
    return WHOLE.test(String(value)) ? String(Number(value)) : undefined;
  if (type.kind !== 'text' || typeof value !== 'string' || !PRINTABLE.test(value)) return undefined;
  return `${prefix}'${value.replaceAll("'", "''")}'`;
}
