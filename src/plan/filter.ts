/**
 * Turns a filter of a search into a predicate on one mapping's rows. In: a Filter and a mapping. Out: a Predicate that
 * holds for exactly the rows whose resource passes; undefined if the mapping has no inverse for it.
 */
import { memoized } from '../common/caches.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import type { SearchParameter, SearchPath } from '../r4/search-parameters.ts';
import type { Filter, Modifier, TokenValue, TypedValue } from '../search/query.ts';
import type { Asking, Leaf } from '../search/types/search-type.ts';
import { asAskedAt } from '../search/types/token.ts';
import { alikeComposites, type CompositeParts, matching } from '../search/types/types.ts';
import { withColumnValues } from '../sql/alike.ts';
import { and, equals, every, FALSE, or, some, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { weightOf } from '../sql/walk.ts';
import { inCompartments } from './compartment.ts';
import { bareRelation } from './condition.ts';
import { withColumnBounds } from './date-bounds.ts';
import { ALL_RULES, complement, type Environment, watchRequest } from './environment.ts';
import { idsByForm, idsPredicate, readId } from './identity.ts';
import { onceInRound, onceKnown } from './key.ts';
import { presentPredicate, servedPredicate } from './presence.ts';
import { referenceLeaf, refersToRows, writtenReferenceLeaf } from './reference.ts';
import { someReferring, whereReferring } from './referring.ts';
import { type ForInstants, forInstants, isTimeless, servesInstant } from './reuse/moments.ts';
import { searchableValueLeaf } from './searchable-value.ts';
import { throughLookups } from './through-lookups.ts';
import { along, anyCaseAny, child, exactAny, primitiveAny } from './walk.ts';

export function filterPredicate(mapping: Mapping, filter: Filter, env: Environment): Predicate | undefined {
  switch (filter.kind) {
    case 'match': {
      const { parameter, modifier } = filter;
      const matched = matchPredicate(mapping, filter, env);
      if (matched === undefined) return undefined;
      if (modifier === 'not') return complement(matched, env);
      return parameter.type === 'date' ? withColumnBounds(matched) : withColumnValues(matched);
    }
    case 'missing': {
      const present = parameterPresent(mapping, filter.parameter, env);
      return present && (filter.missing ? complement(present, env) : present);
    }
    case 'chain':
      return chainPredicate(mapping, filter, env);
    case 'has':
      return hasPredicate(mapping, filter, env);
    case 'number': {
      const readings = mapping.number?.flatMap(parts => readId(parts, filter.number, env)) ?? [];
      return or(...readings.map(keys => and(...keys.map(({ column, value }) => equals(column, value)))));
    }
    case 'compartment':
      return inCompartments(mapping, [filter.id], env);
  }
}

/** Limit of cached predicates per registry; each is for one mapping, parameter, modifier and list of values. */
const PREDICATES = 2000;
/**
 * Limit of characters of modifier and values: longer lists rarely recur, and a predicate of hundreds of values may take
 * megabytes.
 */
const ASKED_LENGTH = 400;

/** Approximate limit of bytes of all cached predicates. */
const BYTES = 16_000_000;

interface PredicateCache {
  readonly made: Map<string, ForInstants<Predicate | undefined>>;
  bytes: number;
}

const cacheOf = memoized((_registry: Registry): PredicateCache => ({ made: new Map(), bytes: 0 }));

type Match = Filter & { readonly kind: 'match' };

/** Matches any of some values of a parameter. Caches predicates of tokens: codes and categories recur often. */
function matchPredicate(mapping: Mapping, match: Match, env: Environment): Predicate | undefined {
  const { parameter, modifier, values } = match;
  if (env.rules !== ALL_RULES || !values.every(({ kind }) => kind === 'token'))
    return madePredicate(mapping, match, env);
  const asked = JSON.stringify([modifier, values]);
  if (asked.length > ASKED_LENGTH) return madePredicate(mapping, match, env);
  const known = cacheOf(env.registry);
  const key = `${mapping.name} ${parameter.url} ${parameter.expression} ${asked}`;
  const before = known.made.get(key);
  if (before && (env.moments || isTimeless(before)) && servesInstant(before, env)) return before.made;
  // A plan for one use contains the instant itself instead of a placeholder.
  if (env.moments === undefined) return madePredicate(mapping, match, env);
  const watch = watchRequest(env);
  const made = forInstants(watch.env, within => madePredicate(mapping, match, within));
  if (watch.looked() || made.checks === 'once') return made.made;
  const bytes = made.made ? weightOf(made.made, BYTES) : 0;
  if (known.made.size === PREDICATES || known.bytes + bytes > BYTES) {
    known.made.clear();
    known.bytes = 0;
  }
  known.made.set(key, made);
  known.bytes += bytes;
  return made.made;
}

/** Walks a mapping once for all values. */
function madePredicate(
  mapping: Mapping,
  { parameter, modifier, values }: Match,
  env: Environment,
): Predicate | undefined {
  if (parameter.code === '_id')
    return idTokensPredicate(
      mapping,
      values.filter(value => value.kind === 'token'),
      modifier,
      env,
    );
  return some(
    (parameter.paths ?? []).map(path => {
      const before = path.slice(0, -1);
      const last = path.at(-1);
      if (last && 'exists' in last)
        return some(values.map(value => flagPredicate(mapping, before, last.exists.except, value, env)));
      const asked =
        modifier === 'identifier' ? values : values.flatMap(value => asAskedAt(mapping.resource, path, value));
      return asked.length === 0
        ? FALSE
        : along(mapping.root, path, leafOf(asked, modifier, { mapping, parameter, path }, env), env);
    }),
  );
}

/**
 * Matches `_id`. An id has no system, so a token with a system matches nothing. `|` alone means "no system" and matches
 * every id.
 */
function idTokensPredicate(
  mapping: Mapping,
  tokens: readonly TokenValue[],
  modifier: Modifier | undefined,
  env: Environment,
): Predicate {
  const asked = tokens.filter(({ system }) => !system);
  const ids = asked.flatMap(({ code }) => code ?? []);
  if (ids.length < asked.length) return TRUE;
  // `:not` reads nearly all rows, so the keys are not fetched first.
  return modifier === 'not' ? or(...idsByForm(mapping, ids, env)) : idsPredicate(mapping, ids, env);
}

/** Where the values are compared: the parameter, and one of its paths. */
interface Place {
  readonly mapping: Mapping;
  readonly parameter: SearchParameter;
  readonly path: SearchPath;
}

function leafOf(values: readonly TypedValue[], modifier: Modifier | undefined, place: Place, env: Environment): Leaf {
  const composites = values.filter(value => value.kind === 'composite');
  if (composites.length === 0) return leafForAny(values, modifier, env);
  const leaves = alikeComposites(composites).map(parts => compositeLeaf(parts, place, env));
  return node => some(leaves.map(leaf => leaf(node)));
}

/** Returns the rows that have some value for the parameter. */
function parameterPresent(mapping: Mapping, parameter: SearchParameter, env: Environment): Predicate | undefined {
  if (parameter.code === '_id') return TRUE;
  return some(
    (parameter.paths ?? []).map(path => {
      const last = path.at(-1);
      return last && 'exists' in last ? TRUE : along(mapping.root, path, searchableValueLeaf(parameter.type, env), env);
    }),
  );
}

/** Matches a boolean that depends on an element's presence: `deceased.exists() and deceased != false`. */
function flagPredicate(
  mapping: Mapping,
  path: SearchPath,
  except: string,
  value: TypedValue,
  env: Environment,
): Predicate | undefined {
  if (value.kind !== 'token') return undefined;
  const leaf: Leaf = node => {
    if (node.type !== 'boolean') return presentPredicate(node, env);
    if (node.kind === 'constant') return String(node.json) === except ? FALSE : TRUE;
    if (node.kind !== 'value') return undefined;
    const excepted = node.codec.match(node.from, { kind: 'exact', text: except }, env);
    return excepted && and(presentPredicate(node, env), complement(excepted, env));
  };
  const holds = along(mapping.root, path, leaf, env);
  if (value.code === 'true') return holds;
  return value.code === 'false' ? holds && complement(holds, env) : FALSE;
}

/** Matches a composite: all parts hold within one item. */
function compositeLeaf(values: CompositeParts, { mapping, parameter, path }: Place, env: Environment): Leaf {
  const { components = [] } = parameter;
  return node => {
    const held: (Predicate | undefined)[] = [];
    for (const [i, { paths }] of components.entries()) {
      const within = (inner: SearchPath): Predicate | undefined => {
        const asked = (values[i] ?? []).flatMap(part => asAskedAt(mapping.resource, [...path, ...inner], part));
        return asked.length === 0 ? FALSE : along(node, inner, leafForAny(asked, undefined, env), env);
      };
      const part = paths && some(paths.map(within));
      // What the others are does not matter: most mappings know few codes.
      if (part?.kind === 'false') return FALSE;
      held.push(part);
    }
    return every(held);
  };
}

function chainPredicate(
  mapping: Mapping,
  filter: Filter & { readonly kind: 'chain' },
  env: Environment,
): Predicate | undefined {
  const leaf: Leaf = node => {
    if (node.kind !== 'ref') return FALSE;
    const target = env.registry.mapping(node.target);
    const to = filter.to.find(({ type }) => type === target.resource);
    if (!to) return FALSE;
    const name = `${target.name}|${JSON.stringify(to.filter)}${env.visibility.key}`;
    const wanted = onceInRound(name, env, within =>
      onceKnown(within, () => {
        const asked = filterPredicate(target, to.filter, within);
        const seen = asked && and(env.visibility.rules.chains ? searchable(target, within) : TRUE, asked);
        return seen && throughLookups(bareRelation(target.source, seen, within), target.name, within);
      }),
    );
    return wanted && refersToRows(node, target, name, wanted, env);
  };
  return some((filter.parameter.paths ?? []).map(path => along(mapping.root, path, leaf, env)));
}

/** Returns the rows of a mapping that the caller may search. Cached, because many filters may lead to one mapping. */
function searchable(mapping: Mapping, env: Environment): Predicate {
  const name = `seen ${mapping.name}|${env.visibility.key}`;
  return onceInRound(name, env, within => within.visibility.allows(mapping, 'search', within));
}

/** Matches if some row of a mapping of the filter's type refers to our row and passes the filter. */
function hasPredicate(
  mapping: Mapping,
  filter: Filter & { readonly kind: 'has' },
  env: Environment,
): Predicate | undefined {
  const paths = filter.parameter.paths ?? [];
  return some(
    env.registry.ofType(filter.type).map(source => {
      const refers = whereReferring(mapping, source, { paths }, env);
      if (!refers || refers.kind === 'false') return refers;
      const asked = filterPredicate(source, filter.filter, env);
      const seen = asked && and(env.visibility.rules.has ? searchable(source, env) : TRUE, asked);
      const passes = seen && throughLookups(bareRelation(source.source, seen, env), source.name, env);
      if (!passes || passes.kind === 'false') return passes;
      return someReferring(mapping, source, { paths, where: and(servedPredicate(source, env), passes) }, env);
    }),
  );
}

/** Returns a leaf that matches any of some values; it gives search types (src/search/types) what they need to ask. */
export function leafForAny(values: readonly TypedValue[], modifier: Modifier | undefined, env: Environment): Leaf {
  return matching(values, modifier, askingIn(env));
}

function askingIn(env: Environment): Asking {
  return {
    primitive: (...criteria) => primitiveAny(criteria, env),
    exact: (...texts) => exactAny(texts, env),
    anyCase: (...texts) => anyCaseAny(texts, env),
    present: node => presentPredicate(node, env),
    hasSearchable: type => searchableValueLeaf(type, env),
    along: (node, path, leaf) => along(node, path, leaf, env),
    child: (node, element, leaf) => child(node, element, leaf, env),
    refersTo: references => referenceLeaf(references, env),
    names: references => writtenReferenceLeaf(references, env),
    clock: env,
    sameItem: env.rules.sameItem,
  };
}
