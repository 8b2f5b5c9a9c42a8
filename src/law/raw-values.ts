/**
 * Compares raw values as conditions of mappings do (equality, order, patterns), as a reference implementation. It
 * shares no code with src/resource/raw.ts, so that the law notices a fault there.
 */
import type { ColumnType } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';

type Key = string | number | bigint | undefined;

export function inOrder(a: Key, op: '<' | '<=' | '>' | '>=', b: Key): boolean {
  if (a === undefined || b === undefined) return false;
  return { '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b }[op];
}

/** Matches `*`, `?` and classes by plain backtracking. */
export function globMatches(pattern: readonly string[], given: readonly string[]): boolean {
  const [head, ...rest] = pattern;
  if (head === undefined) return given.length === 0;
  if (head === '*') return globMatches(rest, given) || (given.length > 0 && globMatches(pattern, given.slice(1)));
  const [char, ...others] = given;
  if (char === undefined) return false;
  if (head === '?') return globMatches(rest, others);
  if (head !== '[') return head === char && globMatches(rest, others);
  const negated = rest[0] === '^';
  const close = rest.indexOf(']');
  const inside = rest.slice(negated ? 1 : 0, close);
  let found = false;
  for (let i = 0; i < inside.length; i++) {
    const [from = '', dash, to] = inside.slice(i, i + 3);
    if (dash === '-' && to !== undefined) {
      found ||= char >= from && char <= to;
      i += 2;
    } else found ||= char === from;
  }
  return found !== negated && globMatches(rest.slice(close + 1), others);
}

export function equal(a: SqlValue, ofA: ColumnType, b: SqlValue, ofB: ColumnType): boolean {
  if (a === null || b === null) return false;
  if (ofA.kind === 'text' && ofB.kind === 'text') return rtrim(a) === rtrim(b);
  if (ofA.kind === 'uuid') return String(a).toUpperCase() === String(b).toUpperCase();
  if (ofA.kind === 'date' || ofA.kind === 'datetime' || ofA.kind === 'instant') return moment(a) === moment(b);
  const [left, right] = [numberOf(a), numberOf(b)];
  return left === right && left !== undefined;
}

/** Returns the number, exactly for 64 bits; undefined for text that is no plain number. */
export function numberOf(raw: SqlValue): number | bigint | undefined {
  if (typeof raw === 'number') return Number.isInteger(raw) ? BigInt(raw) : raw;
  const text = String(raw).trim();
  if (!/^[+-]?\d+(\.\d*)?(e[+-]?\d+)?$/.test(text)) return undefined;
  if (text.includes('e')) return Number(text);
  return Number.isInteger(Number(text)) ? BigInt(text.replace(/\..*/, '').replace('+', '')) : Number(text);
}

export function moment(raw: SqlValue): string {
  const digits = String(raw).replace(/\D/g, '');
  return digits.padEnd(24, '0');
}

export function rtrim(raw: SqlValue): string {
  return String(raw).replace(/ +$/, '');
}
