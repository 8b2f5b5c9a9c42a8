/**
 * Determines for each element of a file how it can be searched: by which parameters, and whether an index serves that.
 * In: a registry, the catalog, a path. Out: a verdict for each place where the file gives an element its value. Offers
 * and indexes are those of `lintel check --parameters`.
 */

import { lineageOf } from '../explain/search.ts';
import { placeText } from '../mapping/load/problem.ts';
import type { Mapping, Position, Registry } from '../mapping/model.ts';
import { environment } from '../plan/environment.ts';
import { valueWithoutIndex } from '../plan/index-use.ts';
import { leavesOf, makeOffers, tryOut } from '../plan/offers.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { type SearchParameter, searchParametersOf } from '../r4/search-parameters.ts';
import type { Offers } from '../search/offers.ts';
import type { Catalog } from '../sql/catalog.ts';

export interface Verdict {
  readonly type: string;
  /** Such as `name.family`; empty for the resource itself. */
  readonly element: string;
  readonly place: Position;
  /** The parameters that lead to the element, sorted by code, composites last; empty if FHIR has none. */
  readonly searches: readonly { readonly code: string; readonly how: 'offered' | 'computed' | 'none' }[];
  /** Columns that a plain search compares without a leading index; undefined if no search compares any. */
  readonly withoutIndex: readonly string[] | undefined;
}

/** Codes of parameters that were tried out on a mapping already. */
const triedOut = new WeakMap<Mapping, Set<string>>();

/** Maximum number of verdicts per file. */
const MOST = 5000;

/**
 * Returns the verdicts of a file. Yields to other requests between parameters; rejects with the reason of `signal` once
 * it is aborted.
 */
export async function verdictsOf(
  path: string,
  registry: Registry,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const offers = makeOffers(registry);
  const found: Verdict[] = [];
  for (const mapping of registry.mappings) {
    const verdicts = verdictsAt(mapping, path);
    if (verdicts.size === 0) continue;
    await addSearches(verdicts, mapping, { registry, catalog, offers, signal });
    found.push(...verdicts.values());
    if (found.length >= MOST) break;
  }
  return found.slice(0, MOST);
}

interface Gathered extends Verdict {
  readonly searches: Verdict['searches'][number][];
  withoutIndex: readonly string[] | undefined;
}

/** Collects the elements that the file gives to resources of the mapping, by place. */
function verdictsAt(mapping: Mapping, path: string): ReadonlyMap<string, Gathered> {
  const found = new Map<string, Gathered>();
  for (const { element, at } of lineageOf(mapping)) {
    if (at.file !== path || found.has(placeText(at))) continue;
    found.set(placeText(at), { type: mapping.resource, element, place: at, searches: [], withoutIndex: undefined });
  }
  return found;
}

async function addSearches(
  verdicts: ReadonlyMap<string, Gathered>,
  mapping: Mapping,
  parts: {
    readonly registry: Registry;
    readonly catalog: Catalog;
    readonly offers: Offers;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { registry, catalog, offers, signal } = parts;
  const env = environment(registry, 0, FULL_VISIBILITY);
  for (const parameter of searchParametersOf(mapping.resource).toSorted(byCode)) {
    const { code } = parameter;
    const leaves = leavesOf(mapping, parameter, env).filter(({ at }) => verdicts.has(placeText(at)));
    if (leaves.length === 0) continue;
    await new Promise(resolve => setImmediate(resolve));
    signal.throwIfAborted();
    // One mapping at a time: a large pack has hundreds, and a request meanwhile should wait for only one.
    for (const other of registry.ofType(mapping.resource)) {
      if (triedOut.get(other)?.has(code)) continue;
      await new Promise(resolve => setImmediate(resolve));
      signal.throwIfAborted();
      tryOut(parameter, other, env);
      triedOut.set(other, (triedOut.get(other) ?? new Set()).add(code));
    }
    const inverse = offers.find(mapping.resource, code)?.inverse;
    const how = inverse === 'indexed' ? 'offered' : (inverse ?? 'none');
    for (const leaf of leaves) {
      const verdict = verdicts.get(placeText(leaf.at));
      if (!verdict || verdict.searches.at(-1)?.code === code) continue;
      verdict.searches.push({ code, how });
      // Ids are found by the key of the table, so no index is missing.
      if (how === 'offered' && code !== '_id') verdict.withoutIndex ??= valueWithoutIndex(leaf, mapping, catalog);
    }
  }
}

/** Sorts by code, composites last, because their components have parameters of their own. */
function byCode(a: SearchParameter, b: SearchParameter): number {
  const isLast = (one: SearchParameter): number => (one.type === 'composite' ? 1 : 0);
  return isLast(a) - isLast(b) || (a.code < b.code ? -1 : 1);
}
