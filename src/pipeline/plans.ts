/**
 * Plans kept between requests: questions that are equal but for the logical ids in them, under equal access, are planned
 * once. So reads, the pages of a search and the same search of many patients share plans. Nothing that looks at the present
 * instant is kept. In: a question, its ids, the keys found so far, and how to plan. Out: what is planned, the values of its
 * places, and the keys that it asks for first.
 */
import type { Access } from '../auth/access.ts';
import { boundedCache } from '../cache/bounded.ts';
import type { Registry } from '../mapping/model.ts';
import { ALL_RULES, type Environment, type KeysQuestion, watchClock } from '../plan/environment.ts';
import { type IdReader, idReader, placesFor } from '../plan/opaque-ids.ts';
import type { Places } from '../sql/plan.ts';

/** One round of planning. */
export interface Round<T> {
  readonly planned: T;
  /** Keys that it needs first; with any, the next round plans again. */
  readonly asked: readonly (readonly [key: string, KeysQuestion])[];
  readonly places: Places;
}

/** A question as plans are kept by: equal keys for questions that differ in their ids alone. */
export interface KeptQuestion {
  readonly key: string;
  /** Those that stand in the question under `idName`. */
  readonly ids: readonly string[];
}

/** What was planned for one question, and for what readings of its ids that holds. */
interface Template {
  readonly round: Omit<Round<unknown>, 'places'>;
  readonly guards: IdReader['guards'];
}

/** Plans of a registry at most. */
const PLANS = 300;
/** Characters of question and keys; what many keys were found for is not kept. */
const KEY_LENGTH = 4000;

/** Ids of so many shapes are told apart under one key. */
const SHAPES = 8;

const created = () => boundedCache<Template[]>(PLANS);

/** Predicates belong to one registry and go with it. */
const kept = new WeakMap<Registry, ReturnType<typeof created>>();

/**
 * A text that is equal for equal questions only; question and access are data whose definitions of parameters are told by
 * their address and type. `purpose` keeps apart what different functions plan of the same.
 */
export function planKey(purpose: string, question: object): string {
  return `${purpose} ${JSON.stringify(question, told)}`;
}

/** The key of a question that is asked under an access: callers share plans where they may see the same. */
export function accessed(key: string, access: Access): string {
  return access.kind === 'all' ? key : `${key} ${JSON.stringify(access.patients)}`;
}

function told(name: string, value: unknown): unknown {
  if (name === 'parameter' && typeof value === 'object' && value !== null && 'url' in value && 'expression' in value)
    return [value.url, value.expression];
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** `plan` may depend on nothing else but what it is given. Without a question to keep it by, nothing is kept. */
export function planRound<T>(
  question: KeptQuestion | undefined,
  env: Environment,
  plan: (env: Environment) => T,
): Round<T> {
  if (question === undefined) return { ...plannedIn(env, plan), places: NO_PLACES };
  const { ids } = question;
  const templates = templatesOf(question.key, env);
  for (const { round, guards } of templates ?? []) {
    const places = placesFor(guards, ids);
    if (places) return { ...(round as Omit<Round<T>, 'places'>), places };
  }
  const reader = idReader(ids);
  const named: Environment = ids.length === 0 ? env : Object.create(env, { ids: { value: reader } });
  const clock = watchClock(named);
  const round = plannedIn(clock.env, plan);
  if (templates && !clock.looked()) {
    if (templates.length === SHAPES) templates.shift();
    templates.push({ round, guards: reader.guards });
  }
  return { ...round, places: reader.places };
}

const NO_PLACES: Places = [];

/** Undefined where nothing is to be kept. */
function templatesOf(key: string, { registry, rules, resolved }: Environment): Template[] | undefined {
  if (rules !== ALL_RULES) return undefined;
  const whole = resolved.size === 0 ? key : `${key} ${JSON.stringify([...resolved])}`;
  if (whole.length > KEY_LENGTH) return undefined;
  const plans = kept.get(registry) ?? created();
  kept.set(registry, plans);
  return plans.get(whole, () => []);
}

function plannedIn<T>(env: Environment, plan: (env: Environment) => T): Omit<Round<T>, 'places'> {
  const planned = plan(env);
  const asked = [...env.pending];
  env.pending.clear();
  return { planned, asked };
}
