/**
 * Every search that a US Core server SHALL or SHOULD support, run like the certification tests: by GET with strict
 * handling and by POST, with values read from the resources of a profile, for several patients.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Group, groupsOf, type Search, type SearchPart, VERSIONS } from '../../src/coverage/guide.ts';
import { answering } from '../../src/law/oracle.ts';
import { type SearchParameter, searchParameterOf } from '../../src/r4/search-parameters.ts';
import { NOW } from '../law/law.ts';
import { shareOf } from '../share.ts';
import { type Resource, type ServedDemo, serveDemo } from './demo-resources.ts';
import { compared, indexedOf, valuesOf, ZONE } from './search-values.ts';

/** Each search is run with the values of resources of this many patients. */
const PATIENTS = 2;

type Query = readonly (readonly [name: string, value: string])[];

interface Asked {
  readonly query: Query;
  /** The resource that the values come from; it must be among the matches. */
  readonly source: Resource;
}

interface Found {
  readonly matches: readonly Resource[];
  readonly included: readonly Resource[];
}

let demo: ServedDemo;
beforeAll(async () => {
  demo = await serveDemo();
});
afterAll(async () => {
  known.clear();
  await demo.close();
});

/** Both versions have nearly the same searches; each distinct search of a group runs once. */
const searches = new Map<string, { readonly group: Group; readonly search: Search }>();
for (const group of VERSIONS.flatMap(groupsOf)) {
  for (const search of group.searches)
    searches.set(`${group.name}: ${search.text} (${search.strength})`, { group, search });
}

test.each([...searches])('%s', async (_, { group, search }) => {
  const asked = asksOf(group, search);
  expect(asked.length).toBeGreaterThan(0);
  for (const { query, source } of shareOf(asked, 4)) {
    const { matches } = await get(group.type, query);
    expect(idsOf(matches), text(query)).toContain(source.id);
    expect(idsOf(matches).toSorted(), text(query)).toEqual(expected(group.type, query));
    expect(idsOf((await post(group.type, query)).matches), text(query)).toEqual(idsOf(matches));
  }
});

describe('_revinclude=Provenance:target', () => {
  const groups = new Map(VERSIONS.flatMap(groupsOf).map(group => [group.name, group]));
  test.each([...groups].filter(([, { revinclude }]) => revinclude))('%s', async (_, group) => {
    for (const { query } of shareOf(group.searches, 3).flatMap(search => asksOf(group, search).slice(0, 1))) {
      const { matches, included } = await get(group.type, [...query, ['_revinclude', 'Provenance:target']]);
      const targets = included.map(({ target }) =>
        (target as readonly { readonly reference: string }[]).map(({ reference }) => reference),
      );
      const wanted = matches.map(({ id }) => `${group.type}/${id}`);
      // The first target is the record itself, the second its patient.
      const own = targets.flatMap(([first = '']) => (wanted.includes(first) ? [first] : []));
      expect(own.toSorted(), text(query)).toEqual(wanted.toSorted());
      expect(targets.filter(references => !references.some(reference => wanted.includes(reference)))).toEqual([]);
    }
  });
});

/**
 * Returns the searches that a row of the table stands for: values tried in turn, systems, comparators, lists,
 * spellings.
 */
function asksOf(group: Group, search: Search): readonly Asked[] {
  const parameters = search.parameters.map(part => ({ part, parameter: parameterOf(group.type, part.code) }));
  const claiming = (demo.resources.get(group.type) ?? []).filter(({ meta }) => meta?.profile?.includes(group.profile));
  const patients = new Set<string>();
  const asked: Asked[] = [];
  for (const source of claiming) {
    const values = parameters.map(({ part, parameter }) => choicesOf(source, part, parameter, claiming));
    if (values.some(choices => choices.length === 0)) continue;
    const patient = patientOf(source);
    if (patients.has(patient)) continue;
    patients.add(patient);
    const first: Query = search.parameters.map(({ code }, i) => [code, values[i]?.[0] ?? '']);
    asked.push({ query: first, source });
    for (const [i, choices] of values.entries()) {
      for (const choice of choices.slice(1))
        asked.push({ query: first.map((pair, j) => (i === j ? [pair[0], choice] : pair)), source });
    }
    if (patients.size === PATIENTS) break;
  }
  return asked;
}

function choicesOf(
  source: Resource,
  part: SearchPart,
  parameter: SearchParameter,
  claiming: readonly Resource[],
): readonly string[] {
  const own = valuesOf(source, parameter);
  if (part.list) {
    const [value] = own;
    if (value === undefined) return [];
    const others =
      part.values.length > 0 ? part.values : claiming.flatMap(other => valuesOf(other, parameter).slice(0, 1));
    return [value, [...new Set([value, ...others])].join(',')];
  }
  if (part.values.length > 0) return part.values.filter(value => satisfies(source, value, parameter));
  if (part.code === 'patient') return own.flatMap(value => [value.replace('Patient/', ''), value]);
  const [value] = own;
  if (value === undefined) return [];
  // No instant contains a period, so periods are searched by a time since the day before.
  const exact = satisfies(source, value, parameter) ? own : [compared('gt', value)];
  return [...exact, ...part.comparators.map(comparator => compared(comparator, value))];
}

function patientOf(resource: Resource): string {
  const parameter = searchParameterOf(resource.resourceType, 'patient');
  return (parameter && valuesOf(resource, parameter)[0]) ?? `${resource.resourceType}/${resource.id}`;
}

function parameterOf(type: string, code: string): SearchParameter {
  const parameter = demo.facade.offers.find(type, code)?.parameter;
  if (!parameter) throw new Error(`${type} does not offer ${code}`);
  return parameter;
}

/** Ids of all served resources that satisfy the whole query. */
function expected(type: string, query: Query): readonly string[] {
  return idsOf(satisfying(type, query)).toSorted();
}

const known = new Map<string, readonly Resource[]>();

/** Most searches share their first parameters, such as a patient; resources that satisfy those are computed once. */
function satisfying(type: string, query: Query): readonly Resource[] {
  const last = query.at(-1);
  if (!last) return demo.resources.get(type) ?? [];
  const name = `${type}?${text(query)}`;
  let found = known.get(name);
  if (!found) {
    const [code, value] = last;
    const parameter = parameterOf(type, code);
    const answers = answeringAny(parameter, value);
    found = satisfying(type, query.slice(0, -1)).filter(resource => answers(indexedOf(resource, parameter)));
    known.set(name, found);
  }
  return found;
}

/** Uses the FHIRPath engine, and no code of src. A list is satisfied by any of its values. */
function answeringAny(parameter: SearchParameter, values: string): ReturnType<typeof answering> {
  const each = values.split(/(?<!\\),/).map(value => answering({ parameter, text: value }, ZONE, NOW));
  return indexed => each.some(one => one(indexed));
}

function satisfies(resource: Resource, value: string, parameter: SearchParameter): boolean {
  return answeringAny(parameter, value)(indexedOf(resource, parameter));
}

async function get(type: string, query: Query): Promise<Found> {
  return found(
    await demo.app.request(`/fhir/${type}?${text([...query, ['_count', '1000']])}`, {
      headers: { Prefer: 'handling=strict' },
    }),
  );
}

async function post(type: string, query: Query): Promise<Found> {
  return found(
    await demo.app.request(`/fhir/${type}/_search`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Prefer: 'handling=strict' },
      body: text([...query, ['_count', '1000']]),
    }),
  );
}

async function found(response: Response): Promise<Found> {
  const body = (await response.json()) as {
    readonly entry?: readonly { readonly resource: Resource; readonly search: { readonly mode: string } }[];
  };
  expect(response.status, JSON.stringify(body)).toBe(200);
  const ofMode = (wanted: string): readonly Resource[] =>
    (body.entry ?? []).flatMap(({ resource, search }) => (search.mode === wanted ? [resource] : []));
  expect(ofMode('outcome')).toEqual([]);
  return { matches: ofMode('match'), included: ofMode('include') };
}

function text(query: Query): string {
  return query.map(pair => pair.map(encodeURIComponent).join('=')).join('&');
}

function idsOf(resources: readonly Resource[]): readonly string[] {
  return resources.map(({ id }) => id);
}
