/**
 * Makes plans reusable that compare with the present instant: `before: now` of a mapping becomes comparisons with
 * placeholders (`Moment`), and each request binds the values of its own instant.
 * In: conditions with `now`, and what is made of them. Out: the same with its comparisons (`ForInstants`). It serves
 * all instants at which the comparisons have the same SQL; for others, such as an hour that is skipped when clocks
 * change, it is made again.
 */

import type { Codec } from '../../mapping/codecs/codec.ts';
import type { Clock, DateEdge, Moments, NowCondition } from '../../mapping/criterion.ts';
import type { Expression, Moment, Predicate, SqlValue } from '../../sql/expression.ts';
import { predicateKey } from '../../sql/expression-key.ts';
import { valueShape } from '../../sql/statement.ts';
import { walk } from '../../sql/walk.ts';
import type { Environment } from '../environment.ts';

/** A comparison, and the shape that it had: its SQL is the same at all instants of this shape. */
interface Check {
  readonly comparison: Comparison;
  readonly shape: string;
}

/**
 * What serves every instant at which its comparisons have these shapes; `once`: the instant alone for which it was
 * made.
 */
export interface ForInstants<T> {
  readonly made: T;
  readonly checks: readonly Check[] | 'once';
}

/** Makes something to be kept: `make` gets an environment in which the present instant is a placeholder. */
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
  tell(found, env);
  return found;
}

/**
 * Whether what is kept serves the instant of an environment. If so, what is being made there has the same comparisons.
 */
export function servesInstant(kept: ForInstants<unknown>, env: Environment): boolean {
  const { checks } = kept;
  if (checks === 'once' || !checks.every(({ comparison, shape }) => comparison.at(env.now).shape === shape))
    return false;
  tell(kept, env);
  return true;
}

/** Whether it has no placeholders: it serves uses without an instant as well. */
export function isTimeless({ checks }: ForInstants<unknown>): boolean {
  return checks.length === 0;
}

/** As the environments of `forInstants` have them. */
interface Recorder extends Moments {
  add(checks: readonly Check[]): void;
}

function tell({ checks }: ForInstants<unknown>, { moments }: Environment): void {
  if (checks === 'once') moments?.forOnce();
  else if (checks.length > 0 && moments !== undefined) (moments as Recorder).add(checks);
}

/** The rows where a column is before now, or not. Throws a TypeError for a codec that reads no dates. */
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
  /** Requests come in the order of their instants: the last one is kept. */
  at(now: number): Reading;
}

/** Conditions that read a column by one codec compare it with the same values. */
const comparisons = new WeakMap<Codec, Map<NowCondition['op'], Comparison>>();
let made = 0;

function comparisonOf(condition: NowCondition): Comparison {
  const { codec, op } = condition;
  const ofCodec = comparisons.get(codec) ?? new Map<NowCondition['op'], Comparison>();
  comparisons.set(codec, ofCodec);
  const known = ofCodec.get(op) ?? createComparison(condition);
  ofCodec.set(op, known);
  return known;
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

/** A predicate in words that do not depend on its values. */
function shapeOf(predicate: Predicate): string {
  return predicateKey(withPlaceholders(predicate, () => NOWHERE) as Predicate);
}

const NOWHERE: Moment = { name: '', at: () => null };

/**
 * The same part of a query, its values as placeholders: `next` gives those of one after the other, in the order of
 * `walk`.
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
