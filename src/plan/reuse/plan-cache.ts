/**
 * Caches plans: queries that differ only in logical ids, under equal access, are planned once. Reads, the pages of a
 * search, and the same search for many patients share plans. In: a query, its ids, and a function that plans. Out: the
 * plan of one round, the values of its placeholders, and the keys of referenced rows that must be fetched first.
 * docs/architecture.md, "How plans are reused"
 */
import { boundedCache } from '../../common/caches.ts';
import type { Registry } from '../../mapping/model.ts';
import type { SqlValue } from '../../sql/expression.ts';
import type { PlaceholderValues } from '../../sql/plan.ts';
import { valueShape } from '../../sql/statement.ts';
import { weightOf } from '../../sql/walk.ts';
import { ALL_RULES, beginRound, type Environment, type KeysQuestion } from '../environment.ts';
import { canBePlaceholders } from '../key.ts';
import { type IdReader, idReader, legalIds, placeholdersFor, planText, withoutImplied } from './id-parameters.ts';
import { type ForInstants, forInstants, servesInstant } from './moments.ts';

/** One round of planning. */
export interface Round<T> {
  readonly planned: T;
  /** Keys to fetch first. If there are any, the next round plans again. */
  readonly asked: readonly (readonly [key: string, KeysQuestion])[];
  readonly placeholders: PlaceholderValues;
}

/** A query in the form that is cached: `key` is equal for queries that differ in their ids alone. */
export interface CacheableQuestion {
  readonly key: string;
  /** The ids that stand in the query under `idName`. */
  readonly ids: readonly string[];
}

/** A cached plan, with the readings of ids that it is valid for. */
interface Template {
  readonly round: ForInstants<Omit<Round<unknown>, 'placeholders'>>;
  readonly guards: IdReader['guards'];
  /** Bytes. */
  readonly weight: number;
}

/** Limit of plans per registry. */
const PLANS = 300;
/** Limit of characters of query and keys; plans with long lists of keys are not cached. */
const KEY_LENGTH = 4000;

/**
 * Approximate limit of bytes of all plans. For a type with hundreds of mappings one plan may take tens of megabytes.
 */
const BYTES = 64_000_000;

/** Limit of plans under one key, for ids of different shapes. The most recently used comes first. */
const SHAPES = 8;

const weights = {
  most: BYTES,
  weigh: (templates: readonly Template[]) => templates.reduce((sum, { weight }) => sum + weight, 0),
};

const created = () => boundedCache<Template[]>(PLANS, { weights });

/** Weak keys: the plans of a registry are dropped with it. */
const caches = new WeakMap<Registry, ReturnType<typeof created>>();

/** Returns the cache key of a query. `purpose` separates functions that plan the same query differently. */
export function planKey(purpose: string, question: object): string {
  return `${purpose} ${planText(question)}`;
}

/**
 * Plans one round, or returns a cached plan. `plan` may depend on nothing but its argument. Without a query nothing is
 * cached.
 */
export function planRound<T>(
  question: CacheableQuestion | undefined,
  env: Environment,
  plan: (env: Environment) => T,
): Round<T> {
  if (question === undefined) return { ...plannedIn(env, plan), placeholders: NO_PLACEHOLDERS };
  const { visibility } = env;
  const ids = legalIds(visibility.ids.length === 0 ? question.ids : [...question.ids, ...visibility.ids]);
  const known = resolvedForm(env);
  const key = question.key + visibility.key + known.key;
  const templates = templatesOf(key, env);
  for (let at = 0; templates && at < templates.length; at++) {
    const template = templates[at];
    const read = template && placeholdersFor(template.guards, ids);
    if (!read || !servesInstant(template.round, env)) continue;
    // Most ids have one shape; its plan moves to the front, so that the next search finds it first.
    if (at > 0) templates.unshift(...templates.splice(at, 1));
    const { planned, asked } = template.round.made as Omit<Round<T>, 'placeholders'>;
    return { planned, asked, placeholders: together(known.placeholders, read) };
  }
  const reader = idReader(ids, known.placeholders.length, question.ids.length);
  const parameterized: Environment = Object.create(env, {
    ...(ids.length > 0 ? { ids: { value: reader } } : {}),
    keyPlaceholders: { value: known.at },
  });
  if (templates === undefined)
    return { ...plannedIn(parameterized, plan), placeholders: together(known.placeholders, reader.placeholders) };
  const round = forInstants(parameterized, within => plannedIn(within, plan));
  if (round.checks !== 'once') {
    const { planned, asked } = round.made;
    const weight = weightOf([planned, asked], BYTES);
    const template = { round, guards: withoutImplied(reader.guards), weight };
    caches.get(env.registry)?.keep(key, [template, ...templates.slice(0, SHAPES - 1)]);
  }
  return { ...round.made, placeholders: together(known.placeholders, reader.placeholders) };
}

interface ResolvedForm {
  readonly key: string;
  readonly placeholders: PlaceholderValues;
  readonly at: ReadonlyMap<string, number>;
}

const NOTHING_RESOLVED: ResolvedForm = { key: '', placeholders: [], at: new Map() };

/**
 * Returns what references were resolved to, as a cache key: by the shapes of the values if they can be placeholders.
 */
function resolvedForm({ resolved }: Environment): ResolvedForm {
  if (resolved.size === 0) return NOTHING_RESOLVED;
  let key = '';
  const placeholders: SqlValue[] = [];
  const at = new Map<string, number>();
  for (const [name, keys] of resolved) {
    if (keys === 'many' || !canBePlaceholders(keys)) {
      key += ` ${JSON.stringify([name, keys])}`;
      continue;
    }
    at.set(name, placeholders.length);
    key += ` ${JSON.stringify(name)} ${keys.map(values => values.map(valueShape).join('')).join('/')}`;
    placeholders.push(...keys.flat());
  }
  return { key, placeholders, at };
}

function together(keys: PlaceholderValues, read: PlaceholderValues): PlaceholderValues {
  return keys.length === 0 ? read : [...keys, ...read];
}

const NO_PLACEHOLDERS: PlaceholderValues = [];

/** Returns the plans under a key; undefined if nothing is cached. */
function templatesOf(key: string, { registry, rules }: Environment): Template[] | undefined {
  if (rules !== ALL_RULES || key.length > KEY_LENGTH) return undefined;
  let plans = caches.get(registry);
  if (plans === undefined) {
    plans = created();
    caches.set(registry, plans);
  }
  return plans.get(key, () => []);
}

function plannedIn<T>(env: Environment, plan: (env: Environment) => T): Omit<Round<T>, 'placeholders'> {
  // Predicates of an earlier round were made when fewer keys were known.
  env.made.clear();
  beginRound(env);
  const planned = plan(env);
  const asked = [...env.pending];
  env.pending.clear();
  return { planned, asked };
}
