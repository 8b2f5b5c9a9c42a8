/**
 * Rows that the caller may see and that change with the present instant, by their keys. A plan that looks at the time is made
 * anew for each request, and one that holds all that refers to a resource is long: so the keys of such rows are asked for by a
 * statement of their own, and the long one is kept.
 */
import type { Mapping } from '../mapping/model.ts';
import { and } from '../sql/construct.ts';
import type { Predicate, Relation } from '../sql/expression.ts';
import { bareRelation } from './condition.ts';
import { type Environment, watchClock } from './environment.ts';
import { theirsAmong } from './key.ts';
import { keysFirst } from './keys-first.ts';
import { servedPredicate } from './presence.ts';

type Seen = (env: Environment) => Predicate;

/**
 * `seen`: what the caller may see of the source's rows; `asked`: its name, equal for equal questions under one sight. Out: the
 * rows by their keys; `asked`: these are not known yet; undefined: the rows do not change with time, or are many.
 */
export function timedRows(
  source: Mapping,
  asked: string,
  seen: Seen,
  env: Environment,
): Predicate | 'asked' | undefined {
  const { key, onePer } = source.source;
  if (!source.usesNow || onePer.length > 0) return undefined;
  if (!isTimed(source, `${asked}|${env.sight.key}`, seen, env)) return undefined;
  const name = `${source.name}|seen ${asked}`;
  const from = (): Relation => bareRelation(source.source, and(servedPredicate(source, env), seen(env)), env, key);
  const keys = keysFirst(name, { mapping: source.name, from, columns: key }, env);
  if (keys === undefined) return 'asked';
  if (keys === 'many') return undefined;
  return theirsAmong(
    key.map(theirs => ({ theirs })),
    keys,
    env.keyPlaces?.get(name),
  );
}

/** Of a source and what is asked of it; a few callers at a time ask the same of it. */
const known = new WeakMap<Mapping, Map<string, boolean>>();
const KNOWN_AT_MOST = 100;

/** Keys are unique among the rows that are served: which these are must not change with time. */
function isTimed(source: Mapping, asked: string, seen: Seen, env: Environment): boolean {
  const answers = known.get(source) ?? new Map<string, boolean>();
  known.set(source, answers);
  const before = answers.get(asked);
  if (before !== undefined) return before;
  const [rows, served] = [watchClock(env), watchClock(env)];
  seen(rows.env);
  servedPredicate(source, served.env);
  const made = rows.looked() && !served.looked();
  if (answers.size >= KNOWN_AT_MOST) answers.clear();
  // What waits for keys has not been planned to its end.
  if (env.pending.size === 0) answers.set(asked, made);
  return made;
}
