/**
 * Makes plans that compare with the present instant reusable: `before: now` of a mapping becomes comparisons with
 * placeholders (`Moment`), and each request binds the values of its own instant. In: conditions with `now`, and what is
 * made of them. Out: the same with its comparisons (`ForInstants`). It serves all instants at which the comparisons
 * have the same SQL; for others, such as an hour that is skipped when clocks change, it is made again.
 */

import { getOrInsert, memoized } from '../../common/caches.ts';
import type { Codec } from '../../mapping/codecs/codec.ts';
import type { Clock, DateEdge, Moments, NowCondition } from '../../mapping/criterion.ts';
import type { Expression, Moment, Predicate, SqlValue } from '../../sql/expression.ts';
import { predicateKey } from '../../sql/expression-key.ts';
import { valueShape } from '../../sql/statement.ts';
import { walk } from '../../sql/walk.ts';
import type { Environment } from '../environment.ts';

/** A comparison and its shape. Its SQL is the same at all instants of this shape. */
interface Check {
  readonly comparison: Comparison;
  readonly shape: string;
}

/**
 * A value that is valid at every instant at which its comparisons have these shapes; `once`: only at the instant that
 * it was made for.
 */
export interface ForInstants<T> {
  readonly made: T;
  readonly checks: readonly Check[] | 'once';
}

/** Makes a value to be cached: `make` gets an environment in which the present instant is a placeholder. */
export function forInstants<T, Env extends Environment>(env: Env, make: (env: Env) => T): ForInstants<T> {
  const checks = new Map<Comparison, Check>();
  let once = false;
  const moments: Recorder = {
    read(condition) {
      const comparison = comparisonOf(condition);
      const { shape, predicate } = comparison.at(env.now);
      checks.set(comparison, { comparison, shape });
      return predicate(condition.column);
    },
    forOnce() {
      once = true;
    },
    add(more) {
      for (const check of more) checks.set(check.comparison, check);
    },
  };
  const made = make(Object.create(env, { moments: { value: moments }, made: { value: new Map() } }));
  const found = { made, checks: once ? ('once' as const) : [...checks.values()] };
  addChecks(found, env);
  return found;
}

/**
 * True if a cached value is valid at the environment's instant. If so, adds its comparisons to what is being made
 * there.
 */
export function servesInstant(kept: ForInstants<unknown>, env: Environment): boolean {
  const { checks } = kept;
  if (checks === 'once' || !checks.every(({ comparison, shape }) => comparison.at(env.now).shape === shape))
    return false;
  addChecks(kept, env);
  return true;
}

/** True if it has no placeholders, so that it also serves environments without placeholders for the instant. */
export function isTimeless({ checks }: ForInstants<unknown>): boolean {
  return checks.length === 0;
}

/** The `Moments` in the environments of `forInstants`. */
interface Recorder extends Moments {
  add(checks: readonly Check[]): void;
}

function addChecks({ checks }: ForInstants<unknown>, { moments }: Environment): void {
  if (checks === 'once') moments?.forOnce();
  else if (checks.length > 0 && moments !== undefined) (moments as Recorder).add(checks);
}

/**
 * Returns the rows where a column is before now, or not before it. Throws a TypeError for a codec that reads no dates.
 */
export function nowPredicate(condition: NowCondition, clock: Clock): Predicate {
  return clock.moments?.read(condition) ?? matchAt(condition, clock.now);
}

function matchAt({ column, op, codec }: NowCondition, now: number): Predicate {
  const edge: DateEdge = op === 'before' ? { edge: 'start', op: '<', at: now } : { edge: 'start', op: '>=', at: now };
  const predicate = codec.match([column], { kind: 'date', any: [[edge]] }, { now });
  if (!predicate) throw new TypeError(`${codec.label} cannot be compared with now`);
  return predicate;
}

interface Reading {
  readonly shape: string;
  readonly values: readonly SqlValue[];
  predicate(column: NowCondition['column']): Predicate;
}

interface Comparison {
  /**
   * Returns the reading at an instant. Keeps only the last one, because requests arrive in the order of their instants.
   */
  at(now: number): Reading;
}

/** Conditions that read a column by the same codec share the compared values. */
const comparisons = memoized((_codec: Codec) => new Map<NowCondition['op'], Comparison>());
let made = 0;

function comparisonOf(condition: NowCondition): Comparison {
  return getOrInsert(comparisons(condition.codec), condition.op, () => createComparison(condition));
}

function createComparison(condition: NowCondition): Comparison {
  const name = `now${++made}`;
  let last: { readonly now: number; readonly reading: Reading } | undefined;
  const moments: Moment[] = [];
  const momentAt = (position: number): Moment =>
    (moments[position] ??= { name: `${name}.${position}`, at: now => at(now).values[position] ?? null });
  const read = (now: number): Reading => {
    const predicate = matchAt(condition, now);
    const values: SqlValue[] = [];
    walk({ predicates: [predicate] }, { value: of => void (of.constant || values.push(of.value)) });
    const predicateOf = (column: NowCondition['column']): Predicate => {
      let position = 0;
      return withPlaceholders(matchAt({ ...condition, column }, now), () => momentAt(position++)) as Predicate;
    };
    return { shape: `${shapeOf(predicate)} ${values.map(valueShape).join('')}`, values, predicate: predicateOf };
  };
  const at = (now: number): Reading => {
    if (last?.now !== now) last = { now, reading: read(now) };
    return last.reading;
  };
  return { at };
}

/** Returns a text of the predicate that does not depend on its values. */
function shapeOf(predicate: Predicate): string {
  return predicateKey(withPlaceholders(predicate, () => NOWHERE) as Predicate);
}

const NOWHERE: Moment = { name: '', at: () => null };

/**
 * Replaces the values in a part of a query by placeholders, which `next` returns one by one, in the order of `walk`.
 */
function withPlaceholders(part: unknown, next: () => Moment): unknown {
  if (Array.isArray(part)) return part.map(one => withPlaceholders(one, next));
  if (typeof part !== 'object' || part === null || !('kind' in part)) return part;
  const { kind } = part;
  if (kind === 'column') return part;
  if (kind === 'value') {
    const of = part as Expression & { readonly kind: 'value' };
    return of.constant ? of : { ...of, placeholder: next() };
  }
  return Object.fromEntries(
    Object.entries(part).map(([name, inner]) => [name, name === 'type' ? inner : withPlaceholders(inner, next)]),
  );
}
