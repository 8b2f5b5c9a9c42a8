/** Reads all pages of an answer: matches and included resources separately, by `Type/id`. */
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { RequestContext } from '../../src/facade.ts';
import type { BundleText } from '../../src/pipeline/answer.ts';

export type Parameters = readonly (readonly [name: string, value: string])[];

export interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta?: { readonly lastUpdated?: string };
}

export interface Pages {
  readonly matches: readonly Resource[];
  readonly included: readonly Resource[];
  readonly warnings: readonly string[];
  readonly count: number;
  readonly total: number | undefined;
  readonly next: readonly string[];
}

export const CONTEXT: RequestContext = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' };

interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly resource: Resource & { readonly issue?: readonly { readonly diagnostics: string }[] };
    readonly search: { readonly mode: string };
  }[];
}

export async function allPages(
  ask: (parameters: Parameters) => Promise<BundleText>,
  first: Parameters,
): Promise<Pages> {
  const matches: Resource[] = [];
  const included = new Map<string, Resource>();
  const warnings: string[] = [];
  const links: string[] = [];
  let total: number | undefined;
  let page: Parameters | undefined = first;
  let count = 0;
  for (; page; count++) {
    const bundle: Bundle = JSON.parse((await ask(page)).json);
    total ??= bundle.total;
    for (const { resource, search } of bundle.entry ?? []) {
      if (search.mode === 'match') matches.push(resource);
      else if (search.mode === 'include') included.set(nameOf(resource), resource);
      else warnings.push(...(resource.issue ?? []).map(({ diagnostics }) => diagnostics));
    }
    const next = bundle.link.find(({ relation }) => relation === 'next')?.url;
    if (next !== undefined) links.push(next);
    page = next === undefined ? undefined : [...new URL(next).searchParams.entries()];
  }
  return { matches, included: [...included.values()], warnings, count, total, next: links };
}

export const nameOf = ({ resourceType, id }: Resource): string => `${resourceType}/${id}`;

export const namesOf = (resources: readonly Resource[]): readonly string[] => resources.map(nameOf);
