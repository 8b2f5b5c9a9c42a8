/**
 * Compares key columns with key values, as joins do: exactly, with a cast on our side if the types differ; and asks for
 * the keys of rows before the statement that needs them.
 */
import type { JoinColumn } from '../mapping/model.ts';
import { amongKeys } from '../sql/alike.ts';
import { type ColumnType, isFetchedAlike } from '../sql/column-type.ts';
import { among, and, equals, FALSE, or, placeholderFor, value } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate, Relation, SqlValue } from '../sql/expression.ts';
import { walk } from '../sql/walk.ts';
import type { Environment, KeysQuestion } from './environment.ts';

/** Values of `theirs`, in order of `on`. */
export type Key = readonly SqlValue[];

/** Of one statement: SQL Server takes 2,100 parameters, and a mapping's own conditions need some. */
const KEYS_AT_MOST = 500;
const KEY_VALUES_AT_MOST = 1500;

/** A text that is equal for equal keys only. */
export function keyText(key: Key): string {
  return key.map(part => (part instanceof Uint8Array ? Buffer.from(part).toString('hex') : `${part}`)).join('\0');
}

/** In so many at a time as one statement can list. */
export function inStatements(keys: readonly Key[]): readonly (readonly Key[])[] {
  const size = Math.min(KEYS_AT_MOST, Math.floor(KEY_VALUES_AT_MOST / Math.max(1, keys[0]?.length ?? 1)));
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, i) => keys.slice(i * size, (i + 1) * size));
}

/** Keys whose values can be placeholders of a plan: the plan is the same whatever they are, as long as none is NULL. */
export function canBePlaceholders(keys: readonly Key[]): boolean {
  const [first = []] = keys;
  return keys.length <= PLACED_AT_MOST && (keys.length === 1 || first.length === 1);
}

const PLACED_AT_MOST = 8;

/** Our columns hold one of these keys. `placeholder`: that of the first value, in a plan that is used again. */
export function oursAmong(on: readonly JoinColumn[], keys: readonly Key[], placeholder?: number): Predicate {
  const [only, ...more] = on;
  const at = (row: number, column: number): number | undefined =>
    placeholder === undefined ? undefined : placeholder + row * on.length + column;
  if (only && more.length === 0 && isFetchedAlike(only.ours.type, only.theirs.type))
    return oneOf(only.theirs.type, only.ours, keys, placeholder);
  const whole = or(
    ...keys.map((key, row) => and(...on.map((pair, i) => oursEquals(pair, key[i] ?? null, at(row, i))))),
  );
  return only && isFetchedAlike(only.ours.type, only.theirs.type) ? begunBy(only.ours, only, keys, whole) : whole;
}

/** Their side of a join: a column, or what is made of it. */
interface Theirs {
  readonly theirs: Expression;
}

/**
 * Likewise for keys that were read of ids, or asked for in several ways: values of the types of theirs, in the order of
 * `on`.
 */
export function oursAmongKeys(on: readonly JoinColumn[], keys: readonly (readonly Expression[])[]): Predicate {
  if (on.every(({ ours, theirs }) => isFetchedAlike(ours.type, theirs.type)))
    return amongKeys(keys.map(key => key.flatMap((bound, i) => (on[i] ? [{ column: on[i].ours, value: bound }] : []))));
  return or(...keys.map(key => and(...on.map((pair, i) => (key[i] ? equalsOurs(pair, key[i]) : FALSE)))));
}

/** Keys without a NULL, which joins nothing, as values of the types of theirs. */
export function keyValues(
  on: readonly JoinColumn[],
  keys: readonly Key[],
  placeholder?: number,
): readonly (readonly Expression[])[] {
  return keys.flatMap((key, row) =>
    key.includes(null)
      ? []
      : [
          on.map(({ theirs }, i) =>
            cell(
              key[i] ?? null,
              theirs.type,
              placeholder === undefined ? undefined : placeholder + row * on.length + i,
            ),
          ),
        ],
  );
}

/** Their columns hold one of these keys. `placeholder`: that of the first value, in a plan that is used again. */
export function theirsAmong(on: readonly Theirs[], keys: readonly Key[], placeholder?: number): Predicate {
  const [only, ...more] = on;
  if (only && more.length === 0) return oneOf(only.theirs.type, only.theirs, keys, placeholder);
  const theirsEquals = ({ theirs }: Theirs, raw: SqlValue, at: number | undefined): Predicate =>
    raw === null ? FALSE : equals(theirs, cell(raw, theirs.type, at));
  const whole = or(
    ...keys.map((key, row) =>
      and(
        ...on.map((pair, i) =>
          theirsEquals(pair, key[i] ?? null, placeholder === undefined ? undefined : placeholder + row * on.length + i),
        ),
      ),
    ),
  );
  return only ? begunBy(only.theirs, only, keys, whole) : whole;
}

/** Beside keys of several columns, the first column alone: an index can be entered by it, seldom by a long OR. */
function begunBy(column: Expression, { theirs }: Theirs, keys: readonly Key[], whole: Predicate): Predicate {
  if (whole.kind !== 'or') return whole;
  const firsts = new Map(keys.map(key => [String(key[0]), key]));
  return and(oneOf(theirs.type, column, [...firsts.values()]), whole);
}

/** Our column holds this value of theirs. */
export function oursEquals({ ours, theirs }: JoinColumn, raw: SqlValue, placeholder?: number): Predicate {
  return raw === null ? FALSE : equalsOurs({ ours, theirs }, cell(raw, theirs.type, placeholder));
}

/** Likewise for a value of the type of theirs. */
export function equalsOurs({ ours, theirs }: JoinColumn, bound: Expression): Predicate {
  return isFetchedAlike(ours.type, theirs.type) ? equals(ours, bound) : equals(bound, ours);
}

function oneOf(type: ColumnType, column: Expression, keys: readonly Key[], placeholder?: number): Predicate {
  return among(
    column,
    keys.flatMap(([raw], i) =>
      raw === undefined || raw === null
        ? []
        : [cell(raw, type, placeholder === undefined ? undefined : placeholder + i)],
    ),
  );
}

function cell(raw: SqlValue, type: ColumnType, placeholder: number | undefined): Expression {
  return placeholder === undefined ? value(raw, type) : placeholderFor(raw, type, placeholder);
}

/** Keys that are listed in an IN. */
export const LISTED_AT_MOST = 500;

type Keys = readonly (readonly SqlValue[])[];

/**
 * Replaces a condition on rows by a list of their keys, once src/pipeline/plans.ts has fetched them; `many` where there
 * are too many for a list. `name` is equal for equal questions only, values included; `mapping` is the one that the
 * rows belong to. Undefined: the keys are not known in this round of planning, and `env.pending` asks for them.
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
      limit: LISTED_AT_MOST + 1,
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

/**
 * What is the same for every mapping that asks for it, such as the rows that a chain leads to: made once in a round of
 * planning. `name`: equal for equal questions only. `make` may depend on nothing else but what it is given.
 */
export function onceInRound<Made extends Predicate | undefined>(
  name: string,
  env: Environment,
  make: (env: Environment) => Made,
): Made {
  const known = env.made.get(name);
  if (known !== undefined) {
    env.missed.count += known.missed;
    for (const [key, question] of known.pending) env.pending.set(key, question);
    return known.made as Made;
  }
  const pending = new Map<string, KeysQuestion>();
  const before = env.missed.count;
  const made = make(Object.create(env, { pending: { value: pending } }));
  env.made.set(name, { made, pending, missed: env.missed.count - before });
  for (const [key, question] of pending) env.pending.set(key, question);
  return made;
}

/** Adds the placeholders of a predicate. */
export function addPlaceholders(of: Predicate, known: Set<number>): void {
  walk(
    { predicates: [of] },
    {
      value({ placeholder }) {
        if (typeof placeholder === 'number') known.add(placeholder);
      },
    },
  );
}

/** What a keys plan found, as `Environment.resolved` keeps it. */
export function resolvedKeys(rows: Keys): Keys | 'many' {
  return rows.length > LISTED_AT_MOST ? 'many' : rows;
}
