/**
 * Defines the environment of planning: the mappings, the instant, and the keys of references that are known. A
 * predicate that needs unknown keys requests them and counts as FALSE; src/pipeline/plans.ts fetches them and plans
 * again.
 */
import { memoized } from '../common/caches.ts';
import type { Clock } from '../mapping/criterion.ts';
import type { IdPart } from '../mapping/id-rule.ts';
import type { Registry } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import type { KeyOperand } from '../sql/alike.ts';
import { and, isNull, not, or } from '../sql/construct.ts';
import type { Predicate, SqlValue } from '../sql/expression.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { type ForInstants, forInstants, isTimeless, servesInstant } from './reuse/moments.ts';
import type { Visibility } from './visibility.ts';

/** A query for keys of a mapping's rows. */
export interface KeysQuestion {
  readonly mapping: string;
  readonly plan: SqlPlan;
}

/** Logical ids under placeholder names. Plans read ids only through this, so nothing else in a plan depends on them. */
export interface IdParameters {
  has(name: string): boolean;
  /** Returns the readings of the id by one alternative of an id rule (src/plan/identity.ts). */
  read(parts: readonly IdPart[], name: string): readonly (readonly KeyOperand[])[];
}

export interface MadeOnce {
  readonly made: Predicate | undefined;
  /** The keys that it requested, and how often keys were missing. */
  readonly pending: ReadonlyMap<string, KeysQuestion>;
  readonly missedCount: number;
}

export interface Environment extends Clock {
  readonly registry: Registry;
  /** What the caller may see; it applies to every row that is read, counted or checked for existence. */
  readonly visibility: Visibility;
  /** By the name of the query. `many`: too many keys to list, so a correlated EXISTS is better. */
  readonly resolved: Map<string, readonly (readonly SqlValue[])[] | 'many'>;
  readonly pending: Map<string, KeysQuestion>;
  /** How often keys were missing. If it grows, the predicate that is being planned is incomplete. */
  readonly missed: { count: number };
  /**
   * By name: predicates that several mappings need, made once per round of planning (`onceInRound` of src/plan/key.ts).
   */
  readonly made: Map<string, MadeOnce>;
  /**
   * For resolved keys that are placeholders of the plan: the number of the first placeholder, by the name of the query.
   */
  readonly keyPlaceholders?: ReadonlyMap<string, number>;
  /** Logical ids that stand under other names in a query, so that its plan serves other ids too. */
  readonly ids?: IdParameters;
  /** How long one round of planning may take; absent: as long as it needs. */
  readonly budget?: PlanningBudget;
  /** Rules of the planner. All are on, except in tests which prove that the law suite notices when one is off. */
  readonly rules: Rules;
}

/** Planning runs on the main thread in one piece: nobody else is answered meanwhile. */
export interface PlanningBudget {
  /** Milliseconds of CPU: a busy machine does not shorten it. */
  readonly most: number;
  /** When the round began. */
  begun: number;
}

/** Starts the budget of a round of planning. */
export function beginRound({ budget }: Environment): void {
  if (budget !== undefined) budget.begun = threadTime();
}

/** Throws FhirError `too-costly` once a round of planning has used up its budget. */
export function checkBudget({ budget }: Environment): void {
  if (budget !== undefined && threadTime() - budget.begun > budget.most)
    throw new FhirError('too-costly', 'this search takes too long to plan; give fewer values, or fewer types');
}

/** Returns milliseconds of CPU that this thread has used. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Rules that searches need to be correct. A test turns each off and expects the law suite to notice. */
export interface Rules {
  /** NOT is an exact complement, for NULL too. */
  readonly twoValued: boolean;
  /** Absence rules apply in both directions. */
  readonly absence: boolean;
  /** `first` excludes the earlier alternatives. */
  readonly firstExcludes: boolean;
  /** An object exists only with its carrier, its needs and a child that is not constant. */
  readonly objectGuard: boolean;
  /** A reference exists only if the target's row passes the target's filter. */
  readonly targetFilter: boolean;
  /** The source's `where` applies to every search. */
  readonly sourceFilter: boolean;
  /** Several conditions on one item must hold for the same item. */
  readonly sameItem: boolean;
  /** Of the rows that share a `one-per` value only the anchor counts. */
  readonly anchor: boolean;
}

export const ALL_RULES: Rules = {
  twoValued: true,
  absence: true,
  firstExcludes: true,
  objectGuard: true,
  targetFilter: true,
  sourceFilter: true,
  sameItem: true,
  anchor: true,
};

export function environment(
  registry: Registry,
  now: number,
  visibility: Visibility,
  rules: Rules = ALL_RULES,
): Environment {
  const { plainIds: ids } = visibility;
  return {
    registry,
    now,
    visibility,
    resolved: new Map(),
    pending: new Map(),
    missed: { count: 0 },
    made: new Map(),
    ...(ids && { ids }),
    rules,
  };
}

/**
 * Wraps an environment to record whether anything reads what belongs to this request alone: its keys, queries and ids.
 */
export function watchRequest(env: Environment): { readonly env: Environment; readonly looked: () => boolean } {
  let looked = false;
  const seen = <Name extends 'resolved' | 'pending' | 'ids'>(name: Name) => ({
    get() {
      looked = true;
      return env[name];
    },
  });
  const watched: Environment = Object.create(env, {
    resolved: seen('resolved'),
    pending: seen('pending'),
    ids: seen('ids'),
    made: { value: new Map() },
  });
  return { env: watched, looked: () => looked };
}

/** Returns the same environment, in which lists of keys with more than `values` values count as `many`. */
export function withShortLists(env: Environment, values: number): Environment {
  const isShort = (keys: readonly (readonly SqlValue[])[]): boolean => keys.length * (keys[0]?.length ?? 1) <= values;
  const short = [...env.resolved].map(
    ([name, keys]) => [name, keys !== 'many' && isShort(keys) ? keys : 'many'] as const,
  );
  return Object.create(env, { resolved: { value: new Map(short) }, made: { value: new Map() } });
}

/**
 * Caches what depends on a part of a mapping and on the mappings that it refers to: once per part and registry, unless
 * a test has turned off a rule. A part may be in the registries of several checks, whose other mappings differ.
 */
export function remembered<Part extends object, Made extends object>(
  make: (part: Part, env: Environment) => Made,
): (part: Part, env: Environment) => Made {
  const keptFor = memoized((_registry: Registry) => new WeakMap<Part, ForInstants<Made>>());
  return (part, env) => {
    if (env.rules !== ALL_RULES) return make(part, env);
    const kept = keptFor(env.registry);
    let known = kept.get(part);
    if (known === undefined || !servesInstant(known, env)) {
      known = forInstants(env, within => make(part, within));
      kept.set(part, known);
    }
    // A plan for one use contains the instant itself instead of a placeholder.
    return env.moments === undefined && !isTimeless(known) ? make(part, env) : known.made;
  };
}

/** Returns the complement of a predicate. With the rule off, it is SQL's own NOT: UNKNOWN stays unknown. */
export function complement(predicate: Predicate, env: Environment): Predicate {
  return env.rules.twoValued ? not(predicate) : plainNot(predicate);
}

function plainNot(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'and':
      return or(...predicate.of.map(plainNot));
    case 'or':
      return and(...predicate.of.map(plainNot));
    case 'equals':
    case 'compare':
    case 'in':
      return and(not(predicate), not(isNull(predicate.left)));
    case 'filled':
    case 'contains':
    case 'glob':
    case 'packed-date':
      return and(not(predicate), not(isNull(predicate.of)));
    default:
      return not(predicate);
  }
}
