/**
 * Key columns compared with key values, as joins compare them: exactly, our side cast where the types differ.
 */
import type { JoinColumn } from '../mapping/model.ts';
import type { ColumnType } from '../sql/column-type.ts';
import {
  among,
  and,
  type ColumnExpression,
  type Expression,
  equals,
  FALSE,
  or,
  type Predicate,
  type SqlValue,
  value,
} from '../sql/expression.ts';

/** Values of `theirs`, in order of `on`. */
export type Key = readonly SqlValue[];

/** Of one statement: SQL Server takes 2,100 parameters, and a mapping's own conditions need some. */
const KEYS_AT_MOST = 500;
const KEY_VALUES_AT_MOST = 1500;

/** In so many at a time as one statement can list. */
export function inStatements(keys: readonly Key[]): readonly (readonly Key[])[] {
  const size = Math.min(KEYS_AT_MOST, Math.floor(KEY_VALUES_AT_MOST / Math.max(1, keys[0]?.length ?? 1)));
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, i) => keys.slice(i * size, (i + 1) * size));
}

/** Our columns hold one of these keys. */
export function oursAmong(on: readonly JoinColumn[], keys: readonly Key[]): Predicate {
  const [only, ...more] = on;
  if (only && more.length === 0 && only.ours.type.kind === only.theirs.type.kind)
    return oneOf(only.theirs.type, only.ours, keys);
  const whole = or(...keys.map(key => and(...on.map((pair, i) => oursEquals(pair, key[i] ?? null)))));
  return only && only.ours.type.kind === only.theirs.type.kind ? begunBy(only.ours, only, keys, whole) : whole;
}

/** Their columns hold one of these keys. */
export function theirsAmong(on: readonly JoinColumn[], keys: readonly Key[]): Predicate {
  const [only, ...more] = on;
  if (only && more.length === 0) return oneOf(only.theirs.type, only.theirs, keys);
  const whole = or(
    ...keys.map(key =>
      and(
        ...on.map(({ theirs }, i) =>
          key[i] === null || key[i] === undefined ? FALSE : equals(theirs, value(key[i], theirs.type)),
        ),
      ),
    ),
  );
  return only ? begunBy(only.theirs, only, keys, whole) : whole;
}

/** Beside keys of several columns, the first column alone: an index can be entered by it, seldom by a long OR. */
function begunBy(column: ColumnExpression, { theirs }: JoinColumn, keys: readonly Key[], whole: Predicate): Predicate {
  if (whole.kind !== 'or') return whole;
  const firsts = new Map(keys.map(key => [String(key[0]), key]));
  return and(oneOf(theirs.type, column, [...firsts.values()]), whole);
}

/** Our column holds this value of theirs. */
export function oursEquals({ ours, theirs }: JoinColumn, raw: SqlValue): Predicate {
  return raw === null ? FALSE : equalsOurs({ ours, theirs }, value(raw, theirs.type));
}

/** Likewise for a value of the type of theirs. */
export function equalsOurs({ ours, theirs }: JoinColumn, bound: Expression): Predicate {
  return ours.type.kind === theirs.type.kind ? equals(ours, bound) : equals(bound, ours);
}

function oneOf(type: ColumnType, column: ColumnExpression, keys: readonly Key[]): Predicate {
  return among(
    column,
    keys.flatMap(([raw]) => (raw === undefined || raw === null ? [] : [value(raw, type)])),
  );
}
