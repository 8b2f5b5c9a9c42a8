/**
 * Plans that need the keys of referenced rows first. In: a function that plans. Out: its result once every key that it
 * asked for is known. https://hl7.org/fhir/R4/search.html#reference
 */
import { resolvedKeys } from '../plan/reference.ts';
import type { Session } from './source.ts';

/** A chain of references is as deep as this at most; each level is one round of key queries. */
const ROUNDS = 8;

export async function planResolved<T>(session: Session, plan: () => T): Promise<T> {
  const { env } = session;
  for (let round = 0; round < ROUNDS; round++) {
    const planned = session.stages.time('plan', plan);
    if (env.pending.size === 0) return planned;
    const asked = [...env.pending];
    env.pending.clear();
    const answers = await Promise.all(asked.map(([, { plan: keys, mapping }]) => session.query(keys, mapping)));
    asked.forEach(([key], i) => {
      env.resolved.set(key, resolvedKeys(answers[i] ?? []));
    });
  }
  throw new RangeError('references do not resolve');
}
