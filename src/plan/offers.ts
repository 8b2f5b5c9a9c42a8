/**
 * Derives what can be searched from the mappings. In: a registry. Out: per type the search parameters of FHIR and US
 * Core that it offers, each decided (src/plan/offer.ts) when it is first asked for.
 */
import type { Mapping, Registry } from '../mapping/model.ts';
import { searchParameterOf, searchParametersOf } from '../r4/search-parameters.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import type { Offered, Offers } from '../search/offers.ts';
import { type Environment, environment } from './environment.ts';
import { isNeverGiven, offer } from './offer.ts';
import { OPEN_SIGHT } from './sight.ts';

/** `own`: constant mappings of types that are the server's own, `valueSets`: its own value sets. */
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
        offered ?? offersOfType(type, [...registry.ofType(type), ...added], environment(registry, 0, OPEN_SIGHT)),
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
 * Asks for all that is offered, one parameter per round of the event loop, for as long as it `isWanted`: whoever is the
 * first to ask for all at once, as `[base]/metadata` does, then holds up nobody else.
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

/** What a type offers: each parameter is tried when it is asked for, for a start does not wait for all of them. */
interface OffersOfType {
  find(code: string): Offered | undefined;
  isNeverGiven(code: string): boolean;
  /** In order of their codes. */
  all(): readonly Offered[];
}

/** Of the mapped types: a start asks for them when it tries out documents, and again when it serves. */
const known = new WeakMap<Registry, ReadonlyMap<string, OffersOfType>>();

function offersOf(registry: Registry): ReadonlyMap<string, OffersOfType> {
  const kept = known.get(registry);
  if (kept !== undefined) return kept;
  const env = environment(registry, 0, OPEN_SIGHT);
  const made = new Map(registry.types.map(type => [type, offersOfType(type, registry.ofType(type), env)]));
  known.set(registry, made);
  return made;
}

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
