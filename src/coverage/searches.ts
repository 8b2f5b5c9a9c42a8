/**
 * Checks whether the searches that US Core requires of a type are offered. In: a group of guide.ts, the pack. Out: what
 * each search lacks.
 */
import type { Registry } from '../mapping/model.ts';
import { searchProblems } from '../plan/search-problems.ts';
import { isIncludable } from '../search/offers.ts';
import type { ParseContext } from '../search/values.ts';
import type { Group, Search, SearchPart } from './guide.ts';

export interface SearchCoverage {
  /** In the guide's notation, such as `patient+category+date[gt ge lt le]`. */
  readonly search: string;
  readonly strength: Search['strength'];
  /** True if the (g)(10) certification tests run it. */
  readonly certified: boolean;
  readonly offered: boolean;
  /** Reasons such as `date is not offered`; empty if it is offered. */
  readonly lacks: readonly string[];
}

/** Reports all searches of a group, including `_revinclude=Provenance:target` if it is required. */
export function searchesOf(group: Group, registry: Registry, context: ParseContext): readonly SearchCoverage[] {
  const searches = group.searches.map(({ text, strength, certified, parameters }): SearchCoverage => {
    const lacks = parameters.flatMap(part => lacksOf(part, group.type, registry, context));
    return { search: text, strength, certified, offered: lacks.length === 0, lacks };
  });
  if (!group.revinclude) return searches;
  const offered = isRevincluded(group.type, context);
  const lacks = offered ? [] : [`no Provenance has ${group.type} as its target`];
  const { certified } = group;
  return [...searches, { search: '_revinclude=Provenance:target', strength: 'SHALL', certified, offered, lacks }];
}

function lacksOf(
  { code, values }: SearchPart,
  type: string,
  registry: Registry,
  context: ParseContext,
): readonly string[] {
  if (context.offers.find(type, code) === undefined) return [`${code} is not offered`];
  // One of the values is enough.
  const isFindable = (value: string): boolean =>
    searchProblems({ type, parameters: [[code, value]] }, context, registry).length === 0;
  return values.length === 0 || values.some(isFindable) ? [] : [`no mapping gives ${code}=${values.join(' or ')}`];
}

function isRevincluded(type: string, { offers }: ParseContext): boolean {
  const target = offers.find('Provenance', 'target');
  return target !== undefined && isIncludable(target) && target.targets.includes(type);
}
