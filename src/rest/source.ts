/**
 * What the REST interface reads from: FHIR searches with the rights of who is logged in.
 */
import type { Content } from '../ccda/content.ts';
import { parseExactly } from '../ccda/fhir/exact.ts';
import type { Patient } from '../ccda/fhir/people.ts';
import type { Facade, RequestContext, SearchRequest } from '../facade.ts';
import type { Numbers } from './numbers.ts';

export interface RestSource {
  readonly facade: Pick<Facade, 'search' | 'registry' | 'offers'>;
  readonly content: Content;
  readonly patients: Numbers;
  readonly encounters: Numbers;
}

/** Parameters of a FHIR search, and what must hold beside them. */
export type Asked = Pick<SearchRequest, 'parameters' | 'filters'>;

interface Found<T> {
  readonly resources: readonly T[];
  /** There are more. */
  readonly more: boolean;
}

/** Resources of a search, at most so many. */
export async function searchSome<T>(
  source: Pick<RestSource, 'facade'>,
  type: string,
  { parameters, filters = [] }: Asked,
  most: number,
  context: RequestContext,
): Promise<Found<T>> {
  const resources: T[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined && resources.length < most; ) {
    const asked = [
      ...parameters,
      ['_count', String(Math.min(most - resources.length, 500))],
      ['_total', 'none'],
    ] as const;
    const page = cursor === '' ? asked : [...asked, ['_cursor', cursor] as const];
    const { json } = await source.facade.search({ type, parameters: page, filters }, context);
    const bundle = parseExactly(json) as Bundle<T>;
    for (const { resource } of bundle.entry ?? []) resources.push(resource);
    const next = bundle.link?.find(({ relation }) => relation === 'next')?.url;
    cursor = next === undefined ? undefined : (new URL(next).searchParams.get('_cursor') ?? undefined);
    if (cursor !== undefined && resources.length >= most) return { resources, more: true };
  }
  return { resources, more: false };
}

interface Bundle<T> {
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly resource: T }[];
}

/** A chart that was merged into another is no person of its own: it stays, but is not found. */
export function isSuperseded({ link }: Patient): boolean {
  return link?.some(({ type }) => type === 'replaced-by') === true;
}
