/**
 * Chooses indexes for one search. In: the search, typed, and all indexes that the pack would use (indexes.ts). Out:
 * those that serve it, and the changes that the engine predicts.
 */
import type { Explanation } from '../explain/search.ts';
import type { Mapping } from '../mapping/model.ts';
import type { Offers } from '../search/offers.ts';
import type { Filter, SearchQuery } from '../search/query.ts';
import { isCostLine, speaksOf } from '../sql/missing-index.ts';
import type { WantedIndex } from './indexes.ts';

/** Lines of a statement's plan that an index would change. */
export interface IndexEffect {
  /** Purpose of the statement. */
  readonly purpose: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/**
 * Returns the lines of each plan that change and mention the index. An engine that cannot try indexes gives its
 * estimates of the savings instead. Empty: the index would not be used. Undefined: the engine gives no information.
 */
export function effectsOf(
  { name, table, columns }: WantedIndex,
  { statements }: Explanation,
): readonly IndexEffect[] | undefined {
  const wasTried = statements.some(({ servedWith }) => servedWith !== undefined);
  const effects = statements.flatMap(({ purpose, served, servedWith = [] }) => {
    const after = servedWith.filter(line => new RegExp(`\\b${name}\\b`).test(line));
    if (after.length === 0) return [];
    return [{ purpose, before: served.filter(line => !servedWith.includes(line)), after }];
  });
  const estimates = statements.flatMap(({ purpose, served }) => {
    const after = served.filter(line => speaksOf(line, table, columns));
    return after.length === 0 ? [] : [{ purpose, before: served.filter(isCostLine), after }];
  });
  return wasTried ? effects : estimates.length > 0 ? estimates : undefined;
}

/** Maximum number of indexes tried for one search. */
export const TRIED = 10;

/**
 * Returns the indexes that serve the search, each with the parts that it serves. `read`: the mappings whose rows are
 * read.
 */
export function adviceFor(
  wanted: readonly WantedIndex[],
  query: SearchQuery,
  read: readonly Pick<Mapping, 'name'>[],
): readonly WantedIndex[] {
  const searches = new Set(searchesIn(query));
  const names = new Set(read.map(({ name }) => name));
  const isServed = (serves: string): boolean => {
    const [, use, of] = /^(child rows|lookup \S+|pages) of (.+)$/.exec(serves) ?? [];
    if (of === undefined) return searches.has(serves);
    // Other searches find their rows by their own columns.
    return names.has(of) && (use !== 'pages' || searches.size === 0);
  };
  return wanted.flatMap(one => {
    const serves = one.serves.filter(isServed);
    return serves.length > 0 ? [{ ...one, serves }] : [];
  });
}

/** Returns those parameters whose values are computed before they are compared or sorted. */
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

/** Returns the searches in the notation of `WantedIndex.serves`. */
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
