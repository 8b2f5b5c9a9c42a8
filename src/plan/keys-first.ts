/**
 * Replaces a condition on rows by a list of their keys. In: the rows that are looked for, and their key columns. Out:
 * the keys, once src/pipeline/resolve.ts has fetched them; undefined if there are too many for a list.
 */
import { FALSE } from '../sql/construct.ts';
import type { ColumnExpression, Predicate, Relation, SqlValue } from '../sql/expression.ts';
import { walk } from '../sql/walk.ts';
import type { Environment } from './environment.ts';

/** Keys that are listed in an IN. */
export const KEYS_AT_MOST = 500;

type Keys = readonly (readonly SqlValue[])[];

/**
 * `name` is equal for equal questions only, values included; `mapping` is the one that the rows belong to. Undefined:
 * the keys are not known in this round of planning, and `env.pending` asks for them.
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
    env.missed.count++;
  }
  return keys;
}

/**
 * A condition that other keys are asked by, under a name that says what it will be in the end: FALSE as long as keys of
 * its own are missed, so that nobody asks by a part of it.
 */
export function onceKnown<Made extends Predicate | undefined>(env: Environment, make: () => Made): Made | Predicate {
  const before = env.missed.count;
  const made = make();
  return env.missed.count > before ? FALSE : made;
}

/** Adds the places that values of a predicate stand in. */
export function addPlaces(of: Predicate, known: Set<number>): void {
  walk(
    { predicates: [of] },
    {
      value({ place }) {
        if (typeof place === 'number') known.add(place);
      },
    },
  );
}

/** What a keys plan found, as `Environment.resolved` keeps it. */
export function resolvedKeys(rows: Keys): Keys | 'many' {
  return rows.length > KEYS_AT_MOST ? 'many' : rows;
}
