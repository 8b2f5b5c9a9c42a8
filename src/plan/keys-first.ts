/**
 * Keys that are asked for before the rows that have them. In: the rows that are looked for and their key columns. Out: the
 * keys, once src/pipeline/resolve.ts has fetched them; many are not listed.
 */
import type { ColumnExpression, Relation, SqlValue } from '../sql/expression.ts';
import type { Environment } from './environment.ts';

/** Keys that are listed in an IN. */
const KEYS_AT_MOST = 500;

type Keys = readonly (readonly SqlValue[])[];

/**
 * `name` is equal for equal questions only, values included; `mapping` is the one that the rows belong to. Undefined: the keys
 * are not known in this round of planning, and `env.pending` asks for them.
 */
export function keysFirst(
  name: string,
  { mapping, from, columns }: { mapping: string; from: () => Relation; columns: readonly ColumnExpression[] },
  env: Environment,
): Keys | 'many' | undefined {
  const keys = env.resolved.get(name);
  if (keys === undefined) {
    const plan = {
      from: from(),
      columns,
      orderBy: [],
      limit: KEYS_AT_MOST + 1,
      shape: 'rows',
      searches: true,
    } as const;
    env.pending.set(name, { mapping, plan });
  }
  return keys;
}

/** What a keys plan found, as `Environment.resolved` keeps it. */
export function resolvedKeys(rows: Keys): Keys | 'many' {
  return rows.length > KEYS_AT_MOST ? 'many' : rows;
}
