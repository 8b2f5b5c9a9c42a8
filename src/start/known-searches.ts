/**
 * Checks searches in files of a pack, again only if something changed that a search depends on: the mappings of its
 * type, those that they refer to, code maps, and the settings. In: a registry, and the results of the previous check.
 * Out: problems.
 */
import { getOrInsert } from '../common/caches.ts';
import type { Memo } from '../common/memo.ts';
import { referencesIn } from '../mapping/children.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import { filterProblems, type SearchProblem, searchProblems, writtenContext } from '../plan/search-problems.ts';
import type { ParseContext } from '../search/values.ts';

type Parameter = readonly [name: string, value: string];

export interface KnownSearches {
  readonly context: ParseContext;
  search(search: { readonly type: string; readonly parameters: readonly Parameter[] }): readonly SearchProblem[];
  /** `any`: the value is a placeholder, so only its form is checked. */
  filter(type: string, parameter: Parameter, any: boolean): readonly SearchProblem[];
}

/**
 * Parameters whose mappings are known. Others, such as `subject.name`, `_has:…` and `_list`, may depend on any mapping.
 */
const PLAIN = /^(?:_id|_security|_tag|_profile|_lastUpdated|[a-z][a-z-]*)(?::[a-z-]+)?$/;

/** Names of the mappings that a mapping refers to. */
const targets = new WeakMap<Mapping, ReadonlySet<string>>();

export function knownSearches(registry: Registry, memo: Memo<readonly SearchProblem[]>): KnownSearches {
  const context = writtenContext(registry);
  const { pack } = registry;
  const common = [
    registry.types.join(),
    JSON.stringify([pack.zone, pack.systems]),
    ...[...(pack.hierarchies ?? [])].flat(),
    ...registry.codeMaps,
    // Tables of words are new objects each time, so nothing is reused.
    ...((pack.words ?? []).length > 0 ? [registry] : []),
  ];
  const byType = new Map<string, readonly unknown[]>();
  const inputsOf = (type: string, parameters: readonly Parameter[]): readonly unknown[] => {
    if (!parameters.every(([name]) => PLAIN.test(name))) return [...common, ...registry.mappings];
    return getOrInsert(byType, type, () => [...common, ...reachedFrom(type, registry)]);
  };
  return {
    context,
    search(search) {
      const { type, parameters } = search;
      return memo.get(JSON.stringify([type, parameters]), inputsOf(type, parameters), () =>
        searchProblems(search, context, registry),
      );
    },
    filter(type, parameter, any) {
      return memo.get(JSON.stringify([type, parameter, any]), inputsOf(type, [parameter]), () =>
        filterProblems(type, parameter, any, context, registry),
      );
    },
  };
}

/** Returns the mappings of a type, and all that references lead to from them. */
function reachedFrom(type: string, registry: Registry): readonly Mapping[] {
  const found = new Set(registry.ofType(type));
  for (const mapping of found) for (const name of targetsOf(mapping)) found.add(registry.mapping(name));
  return [...found];
}

function targetsOf(mapping: Mapping): ReadonlySet<string> {
  return getOrInsert(targets, mapping, () => new Set(referencesIn(mapping.root).map(({ target }) => target)));
}
