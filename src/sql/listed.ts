/**
 * Writes lists of multi-column keys so that an index is used. In: the operands of each key. Out: a Predicate that
 * holds for exactly the rows with one of the keys. SQLite uses no index for a long OR of text conjunctions, so the
 * values of each column are added as a list.
 */
import { among, and, equals, or } from './construct.ts';
import type { Expression, Predicate } from './expression.ts';
import { expressionKey } from './expression-key.ts';

/** A key column (or what is made of it), and what it is compared with. */
export interface KeyOperand {
  readonly column: Expression;
  readonly value: Expression;
}

/** An engine may seek each combination of the lists: no more of them than this. */
const SEEKS_AT_MOST = 2000;
/** Of the lists beside the OR together: SQL Server takes 2,100 parameters. */
const LISTED_AT_MOST = 500;

/** Rows with one of these keys; all keys are of the same columns, in the same order. */
export function amongKeys(keys: readonly (readonly KeyOperand[])[]): Predicate {
  const [first = []] = keys;
  if (first.length === 1) return listOf(keys, 0);
  const whole = or(...keys.map(key => and(...key.map(({ column, value }) => equals(column, value)))));
  return whole.kind === 'or' ? and(...listsBeside(keys), whole) : whole;
}

/** The columns' own lists, the first column's always; further ones as long as their combinations are few. */
function listsBeside(keys: readonly (readonly KeyOperand[])[]): readonly Predicate[] {
  const lists: Predicate[] = [];
  let seeks = 1;
  let listed = 0;
  for (const at of (keys[0] ?? []).keys()) {
    const values = distinct(keys, at).size;
    if (lists.length > 0 && (seeks * values > SEEKS_AT_MOST || listed + values > LISTED_AT_MOST)) continue;
    seeks *= values;
    listed += values;
    lists.push(listOf(keys, at));
  }
  return lists;
}

function listOf(keys: readonly (readonly KeyOperand[])[], at: number): Predicate {
  const values = distinct(keys, at);
  const [first] = values.values();
  return first
    ? among(
        first.column,
        [...values.values()].map(({ value }) => value),
      )
    : or();
}

function distinct(keys: readonly (readonly KeyOperand[])[], at: number): ReadonlyMap<string, KeyOperand> {
  return new Map(
    keys.flatMap(key => {
      const one = key[at];
      return one ? [[expressionKey(one.value), one] as const] : [];
    }),
  );
}
