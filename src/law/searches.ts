/**
 * Searches a facade for the checks of the law. In: a facade and a search. Out: all matches of all pages, or their ids.
 */
import { OPEN_CONTEXT } from '../auth/access.ts';
import type { Facade, RequestContext } from '../facade.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import type { Offered } from '../search/offers.ts';
import type { Parameters } from '../search/query.ts';
import type { Question } from './oracle.ts';
import { type Indexed, partsOf } from './oracle-values.ts';

export type Resource = Readonly<Record<string, unknown>> & { readonly id: string };

/**
 * True if the question asks a code element for a system. `system|code` then means the system of its binding, which the
 * JSON does not show.
 */
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

/** Returns the value sets of a server from its ValueSet resources. */
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

/** Returns all matches of a search, page by page, or at least `enough` of them. */
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

/** Returns the ids of all matches. The pages need not be parsed for that. */
export async function allIds(
  facade: Facade,
  type: string,
  parameters: Parameters,
  pageSize = 1000,
  context: RequestContext = OPEN_CONTEXT,
): Promise<readonly string[]> {
  const found: string[] = [];
  // Quotation marks in a value are escaped, so no value contains this, and an outcome has another type.
  const before = `"resource":{"resourceType":"${type}","id":"`;
  for await (const json of pagesOf(facade, type, parameters, pageSize, context)) {
    for (let at = json.indexOf(before); at >= 0; at = json.indexOf(before, at)) {
      at += before.length;
      found.push(json.slice(at, json.indexOf('"', at)));
    }
  }
  return found;
}

/** Yields the texts of the pages of a search. */
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

/** Returns the URL of the next page. Links come before the entries, so the entries are not parsed. */
function nextOf(json: string): string | undefined {
  const at = json.indexOf(',"entry":[');
  const { link } = JSON.parse(at < 0 ? json : `${json.slice(0, at)}}`) as {
    readonly link: readonly { readonly relation: string; readonly url: string }[];
  };
  return link.find(({ relation }) => relation === 'next')?.url;
}
