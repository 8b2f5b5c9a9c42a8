/**
 * Names the resources that show code maps. In: the code maps of a pack. Out: an id for each, and the elements that all
 * canonical resources share.
 * https://hl7.org/fhir/R4/metadataresource.html
 */

import { addressOf } from '../common/named-address.ts';
import type { CodeMap } from '../mapping/codecs/code-map.ts';
import type { Json, Pack, Registry } from '../mapping/model.ts';

export interface NamedMap {
  readonly id: string;
  readonly map: CodeMap;
}

/** Each map with an id of its own; the same map has the same id in every type. */
export function namedMaps({ codeMaps }: Registry): readonly NamedMap[] {
  const ids = new Set<string>();
  return codeMaps.map(map => {
    const id = idFor(map.name, ids);
    ids.add(id);
    return { id, map };
  });
}

export function canonicalHead(
  type: string,
  id: string,
  title: string,
  { name: pack, publisher }: Pack,
): { readonly [element: string]: Json } {
  return {
    url: addressOf(`${pack}/${type}/${id}`),
    name: computable(id),
    title,
    status: 'active',
    ...(publisher === undefined ? {} : { publisher }),
  };
}

/** The name as far as an id may spell it, with a number where another map has that id. */
function idFor(name: string, taken: ReadonlySet<string>): string {
  const plain = name.replace(/[^A-Za-z0-9.-]+/g, '-').slice(0, 58) || 'map';
  for (let n = 2, id = plain; ; n++) {
    if (!taken.has(id)) return id;
    id = `${plain}-${n}`;
  }
}

/** cmd-0: a name that code generators can use. */
function computable(id: string): string {
  const joined = id.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
  return /^[A-Z]/.test(joined) ? joined.replace(/[^A-Za-z0-9]/g, '') : `Map${joined.replace(/[^A-Za-z0-9]/g, '')}`;
}
