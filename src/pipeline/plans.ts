/**
 * Plans a question in rounds: fetches what a plan needs from other rows first, such as the keys of referenced rows, and
 * plans the next round with it. In: a question and a function that plans. Out: the plan, and the values of its
 * placeholders, once nothing is missing.
 */
import type { Awaitable } from '../common/awaitable.ts';
import type { Environment } from '../plan/environment.ts';
import { resolvedKeys } from '../plan/key.ts';
import { type CacheableQuestion, planRound, type Round } from '../plan/reuse/plan-cache.ts';
import type { PlaceholderValues } from '../sql/plan.ts';
import type { Session } from './session.ts';

/** Limit of the depth of reference chains; each level takes one round of key queries. */
const ROUNDS = 8;

/**
 * Plans until all keys of referenced rows are known; the plan is for this question alone.
 * https://hl7.org/fhir/R4/search.html#reference
 */
export async function planResolved<T>(session: Session, plan: (env: Environment) => T): Promise<T> {
  return (await planCached(session, plan, undefined)).planned;
}

export interface Planned<T> {
  readonly planned: T;
  readonly placeholders: PlaceholderValues;
}

/**
 * Plans a question, or returns the plan of one that differs only in its ids, which are in `placeholders`. Returns a
 * promise only if keys must be fetched.
 */
export function planCached<T>(
  session: Session,
  plan: (env: Environment) => T,
  question: CacheableQuestion | undefined,
): Awaitable<Planned<T>> {
  const round = (): Round<T> => session.stages.time('plan', () => planRound(question, session.env, plan));
  const first = round();
  return first.asked.length === 0 ? first : askRounds(first, round, session);
}

async function askRounds<T>(first: Round<T>, next: () => Round<T>, session: Session): Promise<Planned<T>> {
  const { env } = session;
  let round = first;
  for (let rounds = 1; rounds < ROUNDS; rounds++) {
    const { asked, placeholders } = round;
    const answers = await Promise.all(
      asked.map(([, { plan: keys, mapping }]) => session.query(keys, mapping, placeholders)),
    );
    asked.forEach(([name], i) => {
      env.resolved.set(name, resolvedKeys(answers[i] ?? []));
    });
    round = next();
    if (round.asked.length === 0) return round;
  }
  throw new RangeError('references do not resolve');
}
