/**
 * Reports how much of the C-CDA documents a pack covers. In: ccds.yaml, and a facade if there is a database. Out: a
 * verdict per topic, and what is missing.
 */
import { OPEN_CONTEXT } from '../auth/access.ts';
import type { Content, Search } from '../ccda/content.ts';
import { LISTS, type ListName } from '../ccda/lists.ts';
import { listsOf } from '../ccda/topic-lists.ts';
import { TOPICS } from '../ccda/topics.ts';
import type { Facade } from '../facade.ts';
import type { Verdict } from './coverage.ts';

export interface TopicCoverage {
  /** Such as `medication-allergies`. */
  readonly name: string;
  readonly title: string;
  readonly verdict: Verdict;
  readonly lists: readonly ListCoverage[];
  /** One sentence each. */
  readonly missing: readonly string[];
}

export interface ListCoverage {
  readonly list: ListName;
  readonly type: string;
  readonly state: 'filled' | 'empty' | 'mapped' | 'unmapped';
}

/** Reports the coverage of documents. `facade`: undefined without rows. Throws DatabaseError. */
export async function documentsOf(
  content: Content | undefined,
  facade: Facade | undefined,
  signal?: AbortSignal,
): Promise<readonly TopicCoverage[]> {
  const states = new Map<ListName, ListCoverage['state']>();
  const stateOf = async (list: ListName): Promise<ListCoverage['state']> => {
    const known = states.get(list);
    if (known) return known;
    const searches = content?.lists.get(list) ?? [];
    const state = searches.length === 0 ? 'unmapped' : facade ? await found(searches, facade, signal) : 'mapped';
    states.set(list, state);
    return state;
  };
  const topics: TopicCoverage[] = [];
  for (const { name, title, sections } of TOPICS) {
    const names = new Set<ListName>();
    for (const section of sections) for (const list of await listsOf(section)) names.add(list);
    const lists: ListCoverage[] = [];
    for (const list of names) lists.push({ list, type: LISTS[list].type, state: await stateOf(list) });
    topics.push({ name, title, lists, ...judged(lists, content) });
  }
  return topics;
}

function judged(
  lists: readonly ListCoverage[],
  content: Content | undefined,
): Pick<TopicCoverage, 'verdict' | 'missing'> {
  if (content === undefined) {
    return {
      verdict: 'not mapped',
      missing: ['The pack has no ccds.yaml, which defines the documents.'],
    };
  }
  const named = (state: ListCoverage['state']): readonly ListCoverage[] => lists.filter(one => one.state === state);
  const unmapped = named('unmapped').map(
    ({ list, type }) => `ccds.yaml has no search for \`${list}\` (${type}), so this part of the document stays empty.`,
  );
  const empty = named('empty').map(({ list, type }) => `The search for \`${list}\` finds no ${type} of any patient.`);
  const verdict =
    lists.length > 0 && unmapped.length === lists.length
      ? 'not mapped'
      : unmapped.length > 0
        ? 'gaps'
        : empty.length > 0
          ? 'no data'
          : 'ready';
  return { verdict, missing: [...unmapped, ...empty] };
}

/** Returns `filled` if any patient has an entry of a list. */
async function found(
  searches: readonly Search[],
  facade: Facade,
  signal: AbortSignal | undefined,
): Promise<'filled' | 'empty'> {
  for (const { type, parameters } of searches) {
    const limited = [...parameters, ['_count', '1'], ['_total', 'none']] as const;
    const { json } = await facade.search({ type, parameters: limited }, { ...OPEN_CONTEXT, ...(signal && { signal }) });
    const bundle: { readonly entry?: readonly unknown[] } = JSON.parse(json);
    if ((bundle.entry?.length ?? 0) > 0) return 'filled';
  }
  return 'empty';
}
