/**
 * Derives the search parameters that a server offers from its mappings. In: a registry. Out: per type the search
 * parameters of FHIR and US Core that it offers. Each is decided on first use, by trying a probe value on each mapping
 * of the type. One mapping without an inverse withholds the parameter for the whole type. A parameter whose element no
 * mapping emits is not offered, except for those that every type has.
 */
import { getOrInsert, memoized } from '../common/caches.ts';
import { namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Node, Registry } from '../mapping/model.ts';
import {
  type SearchParameter,
  type SearchParameterType,
  searchParameterOf,
  searchParametersOf,
} from '../r4/search-parameters.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import type { Offered, Offers } from '../search/offers.ts';
import type { Modifier, NumberValue, TypedValue } from '../search/query.ts';
import { TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { type Environment, environment } from './environment.ts';
import { filterPredicate } from './filter.ts';
import { sortParts } from './sort.ts';
import { FULL_VISIBILITY } from './visibility.ts';
import { along } from './walk.ts';

/** Makes the offers. `own`: constant mappings of types that are the server's own; `valueSets`: its own value sets. */
export function makeOffers(
  registry: Registry,
  own: readonly Mapping[] = [],
  valueSets: ReadonlyMap<string, CodesBySystem> = new Map(),
): Offers {
  const types = [...new Set([...registry.types, ...own.map(({ resource }) => resource)])];
  const mapped = offersOf(registry);
  const byType = new Map(
    types.map(type => {
      const added = own.filter(({ resource }) => resource === type);
      const offered = added.length === 0 ? mapped.get(type) : undefined;
      return [
        type,
        offered ?? offersOfType(type, [...registry.ofType(type), ...added], environment(registry, 0, FULL_VISIBILITY)),
      ];
    }),
  );
  return {
    types,
    find: (type, code) => byType.get(type)?.find(code),
    isNeverGiven: (type, code) => byType.get(type)?.isNeverGiven(code) ?? searchParameterOf(type, code) !== undefined,
    of: type => byType.get(type)?.all() ?? [],
    valueSet: url => valueSets.get(url),
    hierarchies: registry.pack.hierarchies,
  };
}

/**
 * Computes all offers in advance, one parameter per round of the event loop, as long as `isWanted()`. The first request
 * that needs all of them, such as `[base]/metadata`, then blocks no other request.
 */
export async function lookAhead(offers: Offers, isWanted: () => boolean): Promise<void> {
  for (const type of offers.types) {
    for (const { code } of searchParametersOf(type)) {
      await new Promise(resolve => setImmediate(resolve));
      if (!isWanted()) return;
      offers.find(type, code);
    }
  }
}

/** What a type offers. Each parameter is tried on first use, so that a start does not wait for all of them. */
interface OffersOfType {
  find(code: string): Offered | undefined;
  isNeverGiven(code: string): boolean;
  /** Returns all of them in the order of their codes. */
  all(): readonly Offered[];
}

/** Cache of mapped types: a start needs them to try out documents, and again to serve. */
const offersOf = memoized((registry: Registry): ReadonlyMap<string, OffersOfType> => {
  const env = environment(registry, 0, FULL_VISIBILITY);
  return new Map(registry.types.map(type => [type, offersOfType(type, registry.ofType(type), env)]));
});

function offersOfType(type: string, mappings: readonly Mapping[], env: Environment): OffersOfType {
  const tried = new Map<string, Offered | undefined>();
  const find = (code: string): Offered | undefined => {
    const offered = tried.get(code);
    if (offered !== undefined || tried.has(code)) return offered;
    const parameter = searchParameterOf(type, code);
    if (parameter === undefined) return undefined;
    const made = offer(parameter, mappings, env);
    tried.set(code, made);
    return made;
  };
  let all: readonly Offered[] | undefined;
  return {
    find,
    isNeverGiven(code) {
      const parameter = searchParameterOf(type, code);
      return parameter !== undefined && isNeverGiven(parameter, mappings, env);
    },
    all() {
      all ??= searchParametersOf(type)
        .flatMap(({ code }) => find(code) ?? [])
        .sort((a, b) => (a.parameter.code < b.parameter.code ? -1 : 1));
      return all;
    },
  };
}

const PROBE_NUMBER: NumberValue = { kind: 'number', prefix: 'eq', value: '1', low: '0.5', high: '1.5' };

const TOKEN = { kind: 'token', system: 'urn:probe', code: 'probe' } as const;

const DIGITS: TypedValue = { kind: 'digits', any: [{ digits: '0', where: 'whole' }] };

/**
 * Values that every mapping of a parameter must be able to answer. A mapping with a constant system or unit can answer
 * any probe that names another one, without looking at the value; so each is probed without system and unit too.
 */
const PROBES: Readonly<Record<SearchParameterType, readonly TypedValue[]>> = {
  token: [TOKEN, { ...TOKEN, system: undefined }],
  string: [{ kind: 'string', text: 'probe' }],
  uri: [{ kind: 'uri', uri: 'urn:probe' }],
  date: [{ kind: 'date', prefix: 'ge', low: 0, high: 86_400_000 }],
  number: [PROBE_NUMBER],
  quantity: [
    { kind: 'quantity', number: PROBE_NUMBER, system: undefined, code: 'probe' },
    { kind: 'quantity', number: PROBE_NUMBER, system: undefined, code: undefined },
  ],
  reference: [{ kind: 'reference', type: undefined, id: '1' }],
  composite: [],
  special: [],
};

/** Each modifier with its probe value; without one, the parameter's own probe is used. */
const MODIFIER_PROBES: Readonly<Partial<Record<SearchParameterType, readonly (readonly [Modifier, TypedValue?])[]>>> = {
  token: [
    ['not'],
    ['text', { kind: 'string', text: 'probe' }],
    ['of-type', { kind: 'typed-identifier', type: TOKEN, value: 'probe' }],
  ],
  reference: [['identifier', TOKEN]],
  string: [['exact'], ['contains']],
  uri: [['below'], ['above']],
};

/** Modifiers that are useful only if an element below the value is emitted. */
const ELEMENTS: Readonly<Partial<Record<Modifier, string>>> = { 'of-type': 'type', identifier: 'identifier' };
/** Modifiers of codes, which parsing replaces by other codes. */
const OF_CODES: readonly Modifier[] = ['in', 'not-in', 'above', 'below'];
const CODED: ReadonlySet<string> = new Set(['CodeableConcept', 'Coding', 'code']);
const ADDRESSES: ReadonlySet<string> = new Set(['canonical', 'uri']);

/** Offered for every type, so that a search over several types works: every resource has an id, and may have a meta. */
const ALWAYS: ReadonlySet<string> = new Set(['_id', '_profile', '_security', '_tag']);

/** True if no mapping ever gives a value for the parameter. */
function isNeverGiven(parameter: SearchParameter, mappings: readonly Mapping[], env: Environment): boolean {
  if (ALWAYS.has(parameter.code) || parameter.type === 'composite' || parameter.type === 'special') return false;
  return mappings.every(mapping => leavesOf(mapping, parameter, env).length === 0);
}

/** Returns what is offered for a parameter; undefined if it is not offered. */
function offer(parameter: SearchParameter, mappings: readonly Mapping[], env: Environment): Offered | undefined {
  if (parameter.type === 'composite') return offerComposite(parameter, mappings, env);
  const probes = PROBES[parameter.type];
  const [value] = probes;
  if (!value) return undefined;
  const leaves = mappings.flatMap(mapping => leavesOf(mapping, parameter, env));
  if (!ALWAYS.has(parameter.code) && leaves.length === 0) return undefined;
  const inverts = (modifier: Modifier | undefined, probe: TypedValue): boolean =>
    mappings.every(mapping => invertsIn(mapping, parameter, modifier, probe, env));
  if (!probes.every(probe => inverts(undefined, probe))) return undefined;
  const modifiers = new Set<Modifier | 'missing'>(['missing']);
  if (parameter.code === '_id') modifiers.add('not');
  else {
    for (const [modifier, probe = value] of MODIFIER_PROBES[parameter.type] ?? []) {
      const element = ELEMENTS[modifier];
      const emitted =
        element === undefined || mappings.some(m => leavesOf(m, below(parameter, element), env).length > 0);
      if (emitted && inverts(modifier, probe)) modifiers.add(modifier);
    }
    if (parameter.type === 'token' && mappings.some(mapping => leadsTo(CODED, mapping, parameter, env)))
      for (const modifier of OF_CODES) modifiers.add(modifier);
  }
  let sortable: boolean | undefined;
  return {
    parameter,
    inverse: leaves.some(isComputed) ? 'computed' : 'indexed',
    modifiers,
    // Evaluated on first use, so that a start does not wait for it.
    get sortable() {
      sortable ??= isSortable(mappings, parameter, env);
      return sortable;
    },
    byDigits: parameter.type === 'token' && inverts(undefined, DIGITS),
    targets: [...new Set(leaves.flatMap(n => (n.kind === 'ref' ? [env.registry.mapping(n.target).resource] : [])))],
    byAddress: parameter.type === 'reference' && mappings.some(m => leadsTo(ADDRESSES, m, parameter, env)),
  };
}

/** Whether a mapping inverts a probe, by parameter, modifier and probe. R4 limits the number of entries. */
const inverted = new Map<string, WeakMap<Mapping, boolean>>();

/**
 * True if a mapping answers a probe. Cached per mapping if no other mapping is involved: a large pack has a thousand
 * mappings of one type, and checks of a pack that is being written keep the unchanged ones.
 */
function invertsIn(
  mapping: Mapping,
  parameter: SearchParameter,
  modifier: Modifier | undefined,
  probe: TypedValue,
  env: Environment,
): boolean {
  const ask = (): boolean =>
    filterPredicate(mapping, { kind: 'match', parameter, modifier, values: [probe] }, env) !== undefined;
  const { type, paths = [] } = parameter;
  if (type === 'reference' || paths.some(path => path.some(step => 'resolves' in step))) return ask();
  const name = JSON.stringify([type, paths, modifier, probe]);
  const known = getOrInsert(inverted, name, () => new WeakMap<Mapping, boolean>());
  const answer = known.get(mapping) ?? ask();
  known.set(mapping, answer);
  return answer;
}

/**
 * Computes in advance what `offer` needs from one mapping, so that other requests are served before the next mapping.
 */
export function tryOut(parameter: SearchParameter, mapping: Mapping, env: Environment): void {
  offer(parameter, [mapping], env);
}

/**
 * Offers a composite if each component could be offered by itself. Probing the composite as a whole could miss a value
 * that cannot be searched, because a constant code beside it never matches the probe.
 */
function offerComposite(
  parameter: SearchParameter,
  mappings: readonly Mapping[],
  env: Environment,
): Offered | undefined {
  const components = componentsOf(parameter).map(component => offer(component, mappings, env));
  if (components.length === 0 || components.includes(undefined)) return undefined;
  const inverse = components.some(component => component?.inverse === 'computed') ? 'computed' : 'indexed';
  return { parameter, inverse, modifiers: new Set(), sortable: false, byDigits: false, targets: [], byAddress: false };
}

/** Returns the components of a composite as parameters of their own. */
function componentsOf({ paths = [], components = [], ...composite }: SearchParameter): readonly SearchParameter[] {
  return components.map(component => ({
    ...composite,
    ...component,
    paths: paths.flatMap(path => (component.paths ?? []).map(below => [...path, ...below])),
  }));
}

/** True if every mapping can be sorted by the parameter. Resources without a value come last in any case. */
function isSortable(mappings: readonly Mapping[], parameter: SearchParameter, env: Environment): boolean {
  return mappings.every(mapping => sortParts(mapping, parameter, env) !== undefined);
}

/** Returns the parameter as if it led to an element of its values. */
function below(parameter: SearchParameter, element: string): SearchParameter {
  return { ...parameter, paths: (parameter.paths ?? []).map(path => [...path, { element }]) };
}

/** True if the parameter leads to a value of one of these types; elements below the value do not count. */
function leadsTo(types: ReadonlySet<string>, mapping: Mapping, parameter: SearchParameter, env: Environment): boolean {
  let found = false;
  const look = (node: Node): Predicate => {
    found ||= types.has(node.type);
    return TRUE;
  };
  for (const path of parameter.paths ?? []) along(mapping.root, path, look, env);
  return found;
}

/** Returns the primitive nodes, references and constants at or below the ends of a parameter's paths. */
export function leavesOf(mapping: Mapping, parameter: SearchParameter, env: Environment): readonly Node[] {
  if (parameter.type === 'composite') return componentsOf(parameter).flatMap(one => leavesOf(mapping, one, env));
  const found: Node[] = [];
  for (const path of parameter.paths ?? []) {
    const steps = path.filter(step => !('exists' in step));
    along(
      mapping.root,
      steps,
      node => {
        found.push(...primitivesIn(node));
        return TRUE;
      },
      env,
    );
  }
  return found;
}

function primitivesIn(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'object':
      return node.members.flatMap(namedNodesOf).flatMap(named => primitivesIn(named.node));
    case 'list':
      return node.items.flatMap(primitivesIn);
    case 'first':
      return node.alternatives.flatMap(primitivesIn);
    case 'each':
      return primitivesIn(node.item);
    default:
      return [node];
  }
}

/** True if a search applies a function to the column before it compares, as the codec or an `sql` requires. */
function isComputed(node: Node): boolean {
  return node.kind === 'value' && (node.codec.inverse !== 'indexed' || node.from.some(({ kind }) => kind !== 'column'));
}
