/**
 * Finds mappings by name and by resource type. In: the loaded mappings in order. Out: a Registry.
 */
import type { CodeMap } from './codecs/code-map.ts';
import type { Mapping, Pack, Registry } from './model.ts';

/** Makes the registry. `mapping(name)` throws a RangeError for a name that no mapping has. */
export function createRegistry(
  pack: Pack,
  mappings: readonly Mapping[],
  version: string,
  codeMaps: readonly CodeMap[] = [],
): Registry {
  const byName = new Map(mappings.map(mapping => [mapping.name, mapping]));
  const byType = Map.groupBy(mappings, mapping => mapping.resource);
  const none: readonly Mapping[] = [];
  return {
    pack,
    mappings,
    mapping: name => {
      const found = byName.get(name);
      if (!found) throw new RangeError(`no mapping ${JSON.stringify(name)}`);
      return found;
    },
    ofType: resource => byType.get(resource) ?? none,
    types: [...byType.keys()].sort(),
    codeMaps,
    version,
  };
}
