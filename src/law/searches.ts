/**
 * Checks searches by the law. In: a facade, a question, and resources with the values that its parameter indexes. Out:
 * ids that the search finds and should not, and ids that it misses.
 */
import { OPEN_ACCESS } from '../auth/access.ts';
import type { Facade, RequestContext } from '../facade.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import type { Offered } from '../search/offers.ts';
import type { Parameters } from '../search/query.ts';
import { answering, type Question } from './oracle.ts';
import { type Indexed, partsOf } from './oracle-values.ts';

/** An open server that refuses what it does not understand. */
export const CONTEXT: RequestContext = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' };

export type Resource = Readonly<Record<string, unknown>> & { readonly id: string };

export interface Difference {
  readonly request: string;
  /** Ids that the search returned and the law does not, and the other way round; a few of each. */
  readonly tooMany: readonly string[];
  readonly missing: readonly string[];
}

/** Resources of a type, and what a parameter indexes on each. */
export interface Judged {
  readonly resources: readonly Resource[];
  readonly indexed: readonly (readonly Indexed[])[];
  /** Where local times without an offset are, and the present instant. */
  readonly zone: string;
  readonly now: number;
}

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

/** The difference between what a search finds in all of its pages and what the law says, if there is one. */
export async function compareSearch(
  facade: Facade,
  type: string,
  question: Question,
  { resources, indexed, zone, now }: Judged,
): Promise<Difference | undefined> {
  const answers = answering(question, zone, now);
  const expected = new Set(resources.filter((_, i) => answers(indexed[i] ?? [])).map(({ id }) => id));
  const name =
    question.modifier === undefined ? question.parameter.code : `${question.parameter.code}:${question.modifier}`;
  const ids = await allIds(facade, type, [
    [name, question.text],
    ['_elements', 'id'],
  ]);
  const got = new Set<string>();
  const tooMany = ids.filter(id => {
    const again = got.has(id);
    got.add(id);
    return again || !expected.has(id);
  });
  const missing = [...expected].filter(id => !got.has(id));
  if (tooMany.length === 0 && missing.length === 0) return undefined;
  return { request: `${type}?${name}=${question.text}`, tooMany: tooMany.slice(0, 5), missing: missing.slice(0, 5) };
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
  context: RequestContext = CONTEXT,
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
  context = CONTEXT,
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
