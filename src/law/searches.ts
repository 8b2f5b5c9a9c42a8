/**
 * Searches a facade as the law does. In: a facade and a search. Out: all matches, or their ids, of all of its pages.
 */
import { OPEN_CONTEXT } from '../auth/access.ts';
import type { Facade, RequestContext } from '../facade.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import type { Offered } from '../search/offers.ts';
import type { Parameters } from '../search/query.ts';
import type { Question } from './oracle.ts';
import { type Indexed, partsOf } from './oracle-values.ts';

export type Resource = Readonly<Record<string, unknown>> & { readonly id: string };

/** `system|code` on a code element means the system of its binding, which the JSON does not show. */
export function asksPrimitiveForSystem(
  values: readonly Indexed[],
  question: Question,
  { parameter }: Offered,
): boolean {
  const asked = question.anyOf?.[0] ?? question.text;
  if (parameter.type !== 'token' || question.modifier === 'of-type' || !partsOf(asked, ',').some(asksSystem))
    return false;
  return !values.every(({ type }) => /^(CodeableConcept|Coding|Identifier|ContactPoint)$/.test(type));
}

function asksSystem(text: string): boolean {
  const [system, ...code] = partsOf(text, '|');
  return system !== '' && code.length > 0;
}

/** The value sets that a server shows, as their resources say. */
export async function valueSetsOf(facade: Facade): Promise<ReadonlyMap<string, CodesBySystem>> {
  if (!facade.offers.types.includes('ValueSet')) return new Map();
  const resources = await allOf(facade, 'ValueSet', []);
  return new Map(
    resources.map(resource => {
      const { url, compose } = resource as unknown as {
        readonly url: string;
        readonly compose: {
          readonly include: readonly {
            readonly system: string;
            readonly concept: readonly { readonly code: string }[];
          }[];
        };
      };
      return [url, compose.include.map(({ system, concept }) => [system, concept.map(({ code }) => code)])];
    }),
  );
}

/** All matches of a search, page by page, or at least so many of them. */
export async function allOf(
  facade: Facade,
  type: string,
  parameters: Parameters,
  pageSize = 1000,
  enough = Number.POSITIVE_INFINITY,
): Promise<readonly Resource[]> {
  const found: Resource[] = [];
  for await (const json of pagesOf(facade, type, parameters, pageSize)) {
    const { entry = [] } = JSON.parse(json) as {
      readonly entry?: readonly { readonly resource: Resource; readonly search: { readonly mode: string } }[];
    };
    for (const { resource, search } of entry) if (search.mode === 'match') found.push(resource);
    if (found.length >= enough) break;
  }
  return found;
}

/** Likewise their ids alone, for which the pages need not be parsed. */
export async function allIds(
  facade: Facade,
  type: string,
  parameters: Parameters,
  pageSize = 1000,
  context: RequestContext = OPEN_CONTEXT,
): Promise<readonly string[]> {
  const found: string[] = [];
  // Quotation marks in a value are escaped, so none can look like this; nor has an outcome the type that is asked for.
  const before = `"resource":{"resourceType":"${type}","id":"`;
  for await (const json of pagesOf(facade, type, parameters, pageSize, context)) {
    for (let at = json.indexOf(before); at >= 0; at = json.indexOf(before, at)) {
      at += before.length;
      found.push(json.slice(at, json.indexOf('"', at)));
    }
  }
  return found;
}

/** The texts of the pages of a search. */
async function* pagesOf(
  facade: Facade,
  type: string,
  parameters: Parameters,
  pageSize: number,
  context: RequestContext = OPEN_CONTEXT,
): AsyncGenerator<string> {
  let page: Parameters | undefined = [...parameters, ['_count', String(pageSize)]];
  while (page) {
    const { json } = await facade.search({ type, parameters: page }, context);
    yield json;
    const next = nextOf(json);
    page = next === undefined ? undefined : [...new URL(next).searchParams.entries()];
  }
}

/** The address of the next page; links stand before the entries, which need not be parsed for it. */
function nextOf(json: string): string | undefined {
  const at = json.indexOf(',"entry":[');
  const { link } = JSON.parse(at < 0 ? json : `${json.slice(0, at)}}`) as {
    readonly link: readonly { readonly relation: string; readonly url: string }[];
  };
  return link.find(({ relation }) => relation === 'next')?.url;
}
