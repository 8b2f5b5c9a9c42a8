/**
 * The environment that predicates are made in: the mappings, the instant, and the keys of references that are known. A
 * predicate that needs unknown keys asks for them and counts as FALSE; src/pipeline/plans.ts fetches them and plans
 * again.
 */
import type { Clock } from '../mapping/criterion.ts';
import type { IdPart } from '../mapping/id-rule.ts';
import type { Registry } from '../mapping/model.ts';
import type { KeyOperand } from '../sql/alike.ts';
import { and, isNull, not, or } from '../sql/construct.ts';
import type { Predicate, SqlValue } from '../sql/expression.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { type ForInstants, forInstants, isTimeless, servesInstant } from './reuse/moments.ts';
import type { Sight } from './sight.ts';

/** Keys of rows of a mapping. */
export interface KeysQuestion {
  readonly mapping: string;
  readonly plan: SqlPlan;
}

/** Logical ids under names, read through here alone: nothing else of a plan can depend on them. */
export interface IdParameters {
  has(name: string): boolean;
  /** The readings of the id by one alternative of an id rule (src/plan/identity.ts). */
  read(parts: readonly IdPart[], name: string): readonly (readonly KeyOperand[])[];
}

export interface MadeOnce {
  readonly made: Predicate | undefined;
  /** What it asked for, and how often it missed keys. */
  readonly pending: ReadonlyMap<string, KeysQuestion>;
  readonly missed: number;
}

export interface Environment extends Clock {
  readonly registry: Registry;
  /** What the caller may see: of every row that is read, counted or asked whether it is there. */
  readonly sight: Sight;
  /** By `Resolution.key`. `many`: too many to list, so a correlated EXISTS is the better question. */
  readonly resolved: Map<string, readonly (readonly SqlValue[])[] | 'many'>;
  readonly pending: Map<string, KeysQuestion>;
  /** How often keys were missed: where it grows, what is being planned says less than it will. */
  readonly missed: { count: number };
  /** By name: what several mappings ask for, made once in a round of planning (`onceInRound` of src/plan/key.ts). */
  readonly made: Map<string, MadeOnce>;
  /** Of resolved keys that are placeholders of the plan: the number of the first one, by `Resolution.key`. */
  readonly keyPlaceholders?: ReadonlyMap<string, number>;
  /** Logical ids that stand in a question under other names, so that its plan can serve other ids too. */
  readonly ids?: IdParameters;
  /** Rules of the planner, on except in tests that prove that the law notices. */
  readonly rules: Rules;
}

/** Rules without which searches go wrong; a test turns each off and expects the law suite to notice. */
export interface Rules {
  /** NOT is an exact complement, for NULL too. */
  readonly twoValued: boolean;
  /** Absence rules hold in both directions. */
  readonly absence: boolean;
  /** `first` excludes the earlier alternatives. */
  readonly firstExcludes: boolean;
  /** An object exists only with its carrier, its needs and a child that is not constant. */
  readonly objectGuard: boolean;
  /** A reference exists only if the target's row passes the target's filter. */
  readonly targetFilter: boolean;
  /** `where` of the source holds for every search. */
  readonly sourceFilter: boolean;
  /** Several conditions on one item hold for the same item. */
  readonly sameItem: boolean;
  /** Of one-per rows only the anchor counts. */
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

export function environment(registry: Registry, now: number, sight: Sight, rules: Rules = ALL_RULES): Environment {
  const { plainIds: ids } = sight;
  return {
    registry,
    now,
    sight,
    resolved: new Map(),
    pending: new Map(),
    missed: { count: 0 },
    made: new Map(),
    ...(ids && { ids }),
    rules,
  };
}

/** The same environment, and whether anybody has looked at what only this request has: its keys, questions and ids. */
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

/** The same environment, in which keys of more values than these are too many to list. */
export function withShortLists(env: Environment, values: number): Environment {
  const isShort = (keys: readonly (readonly SqlValue[])[]): boolean => keys.length * (keys[0]?.length ?? 1) <= values;
  const short = [...env.resolved].map(
    ([name, keys]) => [name, keys !== 'many' && isShort(keys) ? keys : 'many'] as const,
  );
  return Object.create(env, { resolved: { value: new Map(short) }, made: { value: new Map() } });
}

/**
 * Keeps what depends on a part of a mapping and on the mappings that it refers to: made once per part and registry,
 * unless a test has switched a rule off. A part may stand in the registries of several checks, in which other mappings
 * have changed.
 */
export function remembered<Part extends object, Made extends object>(
  make: (part: Part, env: Environment) => Made,
): (part: Part, env: Environment) => Made {
  const keptFor = new WeakMap<Registry, WeakMap<Part, ForInstants<Made>>>();
  return (part, env) => {
    if (env.rules !== ALL_RULES) return make(part, env);
    const kept = keptFor.get(env.registry) ?? new WeakMap<Part, ForInstants<Made>>();
    keptFor.set(env.registry, kept);
    let known = kept.get(part);
    if (known === undefined || !servesInstant(known, env)) {
      known = forInstants(env, within => make(part, within));
      kept.set(part, known);
    }
    // A plan that is not kept has the instant itself.
    return env.moments === undefined && !isTimeless(known) ? make(part, env) : known.made;
  };
}

/** The complement of a predicate; without the rule, as SQL's own NOT has it: UNKNOWN stays unknown. */
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
