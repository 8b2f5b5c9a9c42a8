/**
 * Indexes for one search. In: the search, typed, and all indexes that the pack would use (indexes.ts). Out: those that
 * serve it.
 */
import type { Mapping } from '../mapping/model.ts';
import type { Offers } from '../search/offers.ts';
import type { Filter, SearchQuery } from '../search/query.ts';
import type { WantedIndex } from './indexes.ts';

/** Each with what of the search it serves. `read`: the mappings whose rows are read. */
export function adviceFor(
  wanted: readonly WantedIndex[],
  query: SearchQuery,
  read: readonly Pick<Mapping, 'name'>[],
): readonly WantedIndex[] {
  const searches = new Set(searchesIn(query));
  const names = new Set(read.map(({ name }) => name));
  const isServed = (serves: string): boolean => {
    const [, of] = /^(?:child rows|lookup \S+) of (.+)$/.exec(serves) ?? [];
    return of === undefined ? searches.has(serves) : names.has(of);
  };
  return wanted.flatMap(one => {
    const serves = one.serves.filter(isServed);
    return serves.length > 0 ? [{ ...one, serves }] : [];
  });
}

/** Those of the parameters whose values are worked out before they are compared or sorted by. */
export function computedIn(query: SearchQuery, offers: Offers): readonly string[] {
  return [...new Set(searchesIn(query))].filter(search => {
    const [, type = '', code = ''] = /^(\w+)\?(?:_sort=)?(.+)$/.exec(search) ?? [];
    return offers.find(type, code)?.inverse === 'computed';
  });
}

function searchesIn({ type, filters, sort }: SearchQuery): readonly string[] {
  return [
    ...filters.flatMap(filter => searchesOf(type, filter)),
    ...sort.map(({ parameter }) => `${type}?_sort=${parameter.code}`),
  ];
}

/** As `WantedIndex.serves` writes them. */
function searchesOf(type: string, filter: Filter): readonly string[] {
  switch (filter.kind) {
    case 'match':
    case 'missing':
      return [`${type}?${filter.parameter.code}`];
    case 'chain':
      return [
        `${type}?${filter.parameter.code}`,
        ...filter.to.flatMap(({ type: target, filter: inner }) => searchesOf(target, inner)),
      ];
    case 'has':
      return [`${filter.type}?${filter.parameter.code}`, ...searchesOf(filter.type, filter.filter)];
    case 'number':
    case 'compartment':
      return [];
  }
}
