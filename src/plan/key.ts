/**
 * Compares key columns with key values, as joins do: exactly, with a cast on our side if the types differ. Also
 * requests the keys of rows before the statement that needs them.
 */
import type { JoinColumn } from '../mapping/model.ts';
import { amongKeys } from '../sql/alike.ts';
import { type ColumnType, isFetchedAlike } from '../sql/column-type.ts';
import { among, and, equals, FALSE, or, placeholderFor, TRUE, value } from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate, Relation, SqlValue } from '../sql/expression.ts';
import { valueShape } from '../sql/statement.ts';
import { walk } from '../sql/walk.ts';
import type { Environment, KeysQuestion } from './environment.ts';

/** Values of `theirs`, in the order of `on`. */
export type Key = readonly SqlValue[];

/** Limits per statement: SQL Server takes 2,100 parameters, and a mapping's own conditions need some. */
const KEYS_AT_MOST = 500;
const KEY_VALUES_AT_MOST = 1500;

/** Returns a text that is equal for equal keys only. */
export function keyText(key: Key): string {
  return key.map(part => (part instanceof Uint8Array ? Buffer.from(part).toString('hex') : `${part}`)).join('\0');
}

/** Splits keys into lists that one statement each can take. */
export function inStatements(keys: readonly Key[]): readonly (readonly Key[])[] {
  const size = Math.min(KEYS_AT_MOST, Math.floor(KEY_VALUES_AT_MOST / Math.max(1, keys[0]?.length ?? 1)));
  return Array.from({ length: Math.ceil(keys.length / size) }, (_, i) => keys.slice(i * size, (i + 1) * size));
}

/** True if the keys can be placeholders: the plan is then the same for all values except NULL. */
export function canBePlaceholders(keys: readonly Key[]): boolean {
  const [first = []] = keys;
  return keys.length <= PLACED_AT_MOST && (keys.length === 1 || first.length === 1);
}

const PLACED_AT_MOST = 8;

/**
 * Matches our rows whose columns equal one of these keys. `placeholder`: number of the first value's placeholder, in a
 * plan that is reused.
 */
export function oursAmong(on: readonly JoinColumn[], keys: readonly Key[], placeholder?: number): Predicate {
  const [only, ...more] = on;
  const at = (row: number, column: number): number | undefined =>
    placeholder === undefined ? undefined : placeholder + row * on.length + column;
  if (only && more.length === 0 && isFetchedAlike(only.ours.type, only.theirs.type))
    return oneOf(only.theirs.type, only.ours, keys, placeholder);
  const whole = or(
    ...keys.map((key, row) => and(...on.map((pair, i) => oursEquals(pair, key[i] ?? null, at(row, i))))),
  );
  const begun =
    only && isFetchedAlike(only.ours.type, only.theirs.type) ? begunBy(only.ours, only, keys, whole) : whole;
  if (begun.kind !== 'and' || keys.length < 2 || keys.length > NUMBERED_AT_MOST) return begun;
  return and(
    begun,
    ...on.map((pair, i) =>
      amongNumbers(
        pair,
        keys.map(key => key[i] ?? null),
      ),
    ),
  );
}

/** The most keys whose numbers are listed beside them. */
const NUMBERED_AT_MOST = 200;

/**
 * Matches our whole numbers among texts of theirs, so that the index of our column serves: the texts are compared with
 * the digits of our column, which no index has. TRUE if our column is no number, or if a text is not digits alone.
 */
function amongNumbers({ ours, theirs }: JoinColumn, raws: readonly SqlValue[]): Predicate {
  if (!isNumberOfText({ ours, theirs }) || !raws.every(raw => valueShape(raw) === 'd')) return TRUE;
  return among(
    ours,
    [...new Set(raws)].map(raw => value(raw, theirs.type)),
  );
}

function isNumberOfText({ ours, theirs }: JoinColumn): boolean {
  return ours.type.kind === 'integer' && theirs.type.kind === 'text';
}

/** Their side of a join: a column, or an expression of columns. */
interface Theirs {
  readonly theirs: Expression;
}

/**
 * Likewise for keys that were read from ids or fetched in several ways: values of their types, in the order of `on`.
 */
export function oursAmongKeys(on: readonly JoinColumn[], keys: readonly (readonly Expression[])[]): Predicate {
  if (on.every(({ ours, theirs }) => isFetchedAlike(ours.type, theirs.type)))
    return amongKeys(keys.map(key => key.flatMap((bound, i) => (on[i] ? [{ column: on[i].ours, value: bound }] : []))));
  return or(...keys.map(key => and(...on.map((pair, i) => (key[i] ? equalsOurs(pair, key[i]) : FALSE)))));
}

/** Returns keys as values of their types. Leaves out keys with a NULL, which joins nothing. */
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

/**
 * Matches their rows whose columns equal one of these keys. `placeholder`: number of the first value's placeholder, in
 * a plan that is reused.
 */
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

/** Adds a condition on the first column to keys of several columns: an index can use that, but rarely a long OR. */
function begunBy(column: Expression, { theirs }: Theirs, keys: readonly Key[], whole: Predicate): Predicate {
  if (whole.kind !== 'or') return whole;
  const firsts = new Map(keys.map(key => [String(key[0]), key]));
  return and(oneOf(theirs.type, column, [...firsts.values()]), whole);
}

/** Matches our rows whose column equals this value of theirs. */
export function oursEquals({ ours, theirs }: JoinColumn, raw: SqlValue, placeholder?: number): Predicate {
  return raw === null ? FALSE : equalsOurs({ ours, theirs }, cell(raw, theirs.type, placeholder));
}

/** Likewise for a value of their type. */
export function equalsOurs({ ours, theirs }: JoinColumn, bound: Expression): Predicate {
  if (isFetchedAlike(ours.type, theirs.type)) return equals(ours, bound);
  const asText = equals(bound, ours);
  const isDigits = bound.kind === 'value' && valueShape(bound.value) === 'd';
  // Our index has the number, and the text tells `7` from `007`.
  return isDigits && isNumberOfText({ ours, theirs }) ? and(equals(ours, bound), asText) : asText;
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

/** The most keys that an IN lists. */
export const LISTED_AT_MOST = 500;

type Keys = readonly (readonly SqlValue[])[];

/**
 * Replaces a condition on rows by a list of their keys, once src/pipeline/plans.ts has fetched them; `many` if they are
 * too many for a list. `name` is equal for equal queries only, values included. `mapping` is the one that the rows
 * belong to. Undefined: the keys are not known in this round of planning, and `env.pending` requests them.
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
 * Makes a condition that further keys are fetched by. Returns FALSE while keys of its own are missing, so that no query
 * uses an incomplete condition under the name of the complete one.
 */
export function onceKnown<Made extends Predicate | undefined>(env: Environment, make: () => Made): Made | Predicate {
  const before = env.missed.count;
  const made = make();
  return env.missed.count > before ? FALSE : made;
}

/**
 * Makes a predicate once per round of planning, for all mappings that need it, such as the rows that a chain leads to.
 * `name`: equal for equal queries only. `make` may depend on nothing but its argument.
 */
export function onceInRound<Made extends Predicate | undefined>(
  name: string,
  env: Environment,
  make: (env: Environment) => Made,
): Made {
  const known = env.made.get(name);
  if (known !== undefined) {
    env.missed.count += known.missedCount;
    for (const [key, question] of known.pending) env.pending.set(key, question);
    return known.made as Made;
  }
  const pending = new Map<string, KeysQuestion>();
  const before = env.missed.count;
  const made = make(Object.create(env, { pending: { value: pending } }));
  env.made.set(name, { made, pending, missedCount: env.missed.count - before });
  for (const [key, question] of pending) env.pending.set(key, question);
  return made;
}

/** Adds the placeholders of a predicate to a set. */
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

/** Returns the rows of a query for keys in the form that `Environment.resolved` holds. */
export function resolvedKeys(rows: Keys): Keys | 'many' {
  return rows.length > LISTED_AT_MOST ? 'many' : rows;
}
