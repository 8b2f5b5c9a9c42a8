/**
 * Plans kept between requests: equal questions, under equal access, are planned once. So the pages of a search share one
 * plan, and what is asked again is not planned again. Nothing that looks at the present instant is kept. In: a question,
 * the keys found so far, and how to plan. Out: what is planned, and the keys that it asks for first.
 */
import { boundedCache } from '../cache/bounded.ts';
import type { Registry } from '../mapping/model.ts';
import { ALL_RULES, type Environment, type KeysQuestion, watchClock } from '../plan/environment.ts';

/** One round of planning. */
export interface Round<T> {
  readonly planned: T;
  /** Keys that it needs first; with any, the next round plans again. */
  readonly asked: readonly (readonly [key: string, KeysQuestion])[];
}

/** Plans of a registry at most. */
const PLANS = 300;
/** Characters of question and keys; what many keys were found for is not kept. */
const KEY_LENGTH = 4000;

const created = () => boundedCache<{ round: Round<unknown> | undefined }>(PLANS);

/** Predicates belong to one registry and go with it. */
const kept = new WeakMap<Registry, ReturnType<typeof created>>();

/**
 * A text that is equal for equal questions only; question and access are data whose definitions of parameters are told by
 * their address and type. `purpose` keeps apart what different functions plan of the same.
 */
export function planKey(purpose: string, question: object): string {
  return `${purpose} ${JSON.stringify(question, told)}`;
}

function told(name: string, value: unknown): unknown {
  if (name === 'parameter' && typeof value === 'object' && value !== null && 'url' in value && 'expression' in value)
    return [value.url, value.expression];
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** `key`: of the question; undefined where nothing is to be kept. `plan` may depend on nothing else but what it is given. */
export function planRound<T>(key: string | undefined, env: Environment, plan: (env: Environment) => T): Round<T> {
  const whole = key === undefined || env.rules !== ALL_RULES ? '' : `${key} ${JSON.stringify([...env.resolved])}`;
  if (whole === '' || whole.length > KEY_LENGTH) return plannedIn(env, plan);
  const plans = kept.get(env.registry) ?? created();
  kept.set(env.registry, plans);
  const place = plans.get(whole, () => ({ round: undefined }));
  if (place.round !== undefined) return place.round as Round<T>;
  const clock = watchClock(env);
  const round = plannedIn(clock.env, plan);
  if (!clock.looked()) place.round = round;
  return round;
}

function plannedIn<T>(env: Environment, plan: (env: Environment) => T): Round<T> {
  const planned = plan(env);
  const asked = [...env.pending];
  env.pending.clear();
  return { planned, asked };
}
