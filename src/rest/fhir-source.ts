/**
 * Runs the FHIR searches of the REST interface with the rights of the person who is logged in.
 */
import type { Content } from '../ccda/content.ts';
import type { Patient } from '../ccda/fhir/people.ts';
import type { Facade, FoundPage, PagesRequest, RequestContext } from '../facade.ts';
import type { Numbers } from './numbers.ts';

export interface RestSource {
  readonly facade: Pick<Facade, 'search' | 'searchPages' | 'registry' | 'offers' | 'room'>;
  readonly content: Content;
  readonly patients: Numbers;
  readonly encounters: Numbers;
}

/** Parameters of a FHIR search, and further conditions. */
export type Asked = Pick<PagesRequest, 'parameters' | 'filters' | 'numbered'>;

type Found<T> = Pick<FoundPage, 'numbers' | 'more'> & { readonly resources: readonly T[] };

/** Resources per page of a search. */
const PAGE = 500;

/** Finds the resources of a search, at most `most`. */
export async function searchSome<T>(
  source: Pick<RestSource, 'facade'>,
  type: string,
  asked: Asked,
  most: number,
  context: RequestContext,
): Promise<Found<T>> {
  const resources: T[] = [];
  const numbers = new Map<string, string>();
  let more = false;
  for await (const page of searchPages<T>(source, type, asked, Math.min(most, PAGE), context)) {
    resources.push(...page.resources);
    for (const [id, number] of page.numbers) numbers.set(id, number);
    more = page.more || resources.length > most;
    if (resources.length >= most) break;
  }
  return { resources: resources.slice(0, most), numbers, more };
}

/** Yields the resources of a search page by page, reading each page when it is taken; `count`: maximum per page. */
export async function* searchPages<T>(
  { facade }: Pick<RestSource, 'facade'>,
  type: string,
  { parameters, ...asked }: Asked,
  count: number,
  context: RequestContext,
): AsyncGenerator<Found<T>> {
  const counted = [...parameters, ['_count', String(count)]] as const;
  for await (const page of facade.searchPages({ type, parameters: counted, ...asked }, context))
    yield { ...page, resources: page.resources as readonly unknown[] as readonly T[] };
}

/**
 * Finds the logical id for a number; undefined if no resource has it, or several do, which `lintel check` reports.
 * Sends no search if the id contains the number. `context`: what the caller may see.
 */
export async function idOfNumber(
  source: Pick<RestSource, 'facade'>,
  type: string,
  numbers: Numbers,
  number: number,
  context: RequestContext,
): Promise<string | undefined> {
  const known = numbers.idOf(number);
  if (known !== undefined) return known;
  const filters = [{ kind: 'number', number: String(number) }] as const;
  const asked = { parameters: [['_elements', 'id']] as const, filters };
  const { resources } = await searchSome<{ readonly id: string }>(source, type, asked, 2, context);
  const [only, ...others] = resources;
  return others.length === 0 ? only?.id : undefined;
}

/** True for a chart that was merged into another: it still exists, but searches do not return it. */
export function isSuperseded({ link }: Patient): boolean {
  return link?.some(({ type }) => type === 'replaced-by') === true;
}
