/**
 * Plans that need the keys of referenced rows first. In: a function that plans. Out: its result once every key that it
 * asked for is known. https://hl7.org/fhir/R4/search.html#reference
 */
import type { Environment } from '../plan/environment.ts';
import { resolvedKeys } from '../plan/reference.ts';
import { planRound } from './plans.ts';
import type { Session } from './source.ts';

/** A chain of references is as deep as this at most; each level is one round of key queries. */
const ROUNDS = 8;

/** `key`: of what is planned (`planKey`); with one, what was planned for an equal question may serve. */
export async function planResolved<T>(session: Session, plan: (env: Environment) => T, key?: string): Promise<T> {
  const { env } = session;
  for (let round = 0; round < ROUNDS; round++) {
    const { planned, asked } = session.stages.time('plan', () => planRound(key, env, plan));
    if (asked.length === 0) return planned;
    const answers = await Promise.all(asked.map(([, { plan: keys, mapping }]) => session.query(keys, mapping)));
    asked.forEach(([name], i) => {
      env.resolved.set(name, resolvedKeys(answers[i] ?? []));
    });
  }
  throw new RangeError('references do not resolve');
}
