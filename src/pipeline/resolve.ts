/**
 * Plans again until all keys of referenced rows are known. In: a function that plans. Out: its result once every key
 * that it asked for is fetched.
 * https://hl7.org/fhir/R4/search.html#reference
 */
import type { Awaitable } from '../common/awaitable.ts';
import type { Environment } from '../plan/environment.ts';
import { resolvedKeys } from '../plan/keys-first.ts';
import type { PlaceholderValues } from '../sql/plan.ts';
import { type KeptQuestion, planRound, type Round } from './plans.ts';
import type { Session } from './session.ts';

/** A chain of references is as deep as this at most; each level is one round of key queries. */
const ROUNDS = 8;

/** Planned for this question alone. */
export async function planResolved<T>(session: Session, plan: (env: Environment) => T): Promise<T> {
  return (await planKept(session, plan, undefined)).planned;
}

export interface Kept<T> {
  readonly planned: T;
  readonly placeholders: PlaceholderValues;
}

/**
 * What was planned for a question may serve another that is equal but for its ids: `places` are what they stand for. A
 * promise only where keys have to be asked for.
 */
export function planKept<T>(
  session: Session,
  plan: (env: Environment) => T,
  question: KeptQuestion | undefined,
): Awaitable<Kept<T>> {
  const round = (): Round<T> => session.stages.time('plan', () => planRound(question, session.env, plan));
  const first = round();
  return first.asked.length === 0 ? first : askRounds(first, round, session);
}

async function askRounds<T>(first: Round<T>, next: () => Round<T>, session: Session): Promise<Kept<T>> {
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
