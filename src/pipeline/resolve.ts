/**
 * Plans that need the keys of referenced rows first. In: a function that plans. Out: its result once every key that it
 * asked for is known. https://hl7.org/fhir/R4/search.html#reference
 */
import type { Environment } from '../plan/environment.ts';
import { resolvedKeys } from '../plan/reference.ts';
import type { Places } from '../sql/plan.ts';
import { type KeptQuestion, planRound } from './plans.ts';
import type { Session } from './source.ts';

/** A chain of references is as deep as this at most; each level is one round of key queries. */
const ROUNDS = 8;

/** Planned for this question alone. */
export async function planResolved<T>(session: Session, plan: (env: Environment) => T): Promise<T> {
  return (await planKept(session, plan, undefined)).planned;
}

/** What was planned for a question may serve another that is equal but for its ids: `places` are what they stand for. */
export async function planKept<T>(
  session: Session,
  plan: (env: Environment) => T,
  question: KeptQuestion | undefined,
): Promise<{ readonly planned: T; readonly places: Places }> {
  const { env } = session;
  for (let round = 0; round < ROUNDS; round++) {
    const { planned, asked, places } = session.stages.time('plan', () => planRound(question, env, plan));
    if (asked.length === 0) return { planned, places };
    const answers = await Promise.all(asked.map(([, { plan: keys, mapping }]) => session.query(keys, mapping, places)));
    asked.forEach(([name], i) => {
      env.resolved.set(name, resolvedKeys(answers[i] ?? []));
    });
  }
  throw new RangeError('references do not resolve');
}
