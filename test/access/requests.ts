/**
 * Random callers and requests with their expected answers. The oracle is a world that holds only what the caller may
 * see. In: a world, a random source. Out: callers; requests with the names of expected matches and includes.
 */
import type { Random } from '../../fixtures/random.ts';
import { type Access, ANY, type Permission } from '../../src/auth/access.ts';
import { searchOfLabels } from '../../src/auth/rules.ts';
import type { Facade, RequestContext } from '../../src/facade.ts';
import { indexedBy, indexOf } from '../../src/law/oracle.ts';
import { questionsFor } from '../../src/law/questions.ts';
import { asksPrimitiveForSystem } from '../../src/law/searches.ts';
import { FhirError } from '../../src/outcome.ts';
import type { AccessRules } from '../../src/plan/visibility.ts';
import { answers, type Known, type Visible, type World } from './world.ts';

type Pair = readonly [name: string, value: string];
type Parameters = readonly Pair[];

export interface Answer {
  /** Names in order; undefined if the request is refused or the resource does not exist. */
  readonly matches: readonly string[] | undefined;
  /** Names, sorted. */
  readonly included: readonly string[];
  /** Undefined if the request does not ask for it. */
  readonly total: number | undefined;
}

export interface Case {
  readonly request: string;
  ask(facade: Facade, context: RequestContext): Promise<Answer>;
  expected(visible: Visible): Answer;
}

const NOTHING: Answer = { matches: undefined, included: [], total: undefined };

/** Callers of one patient, of some, of those that a search finds, or of all; for all types or some, with conditions. */
export function randomCaller(random: Random, world: World): Access {
  const within = randomWithin(random, world);
  const hidden = searchOfLabels([random.pick(world.labels)]);
  if (random.chance(0.2)) {
    const all = { ...permission(ANY, within), except: random.chance(0.5) ? hidden : [] };
    return { kind: 'limited', caller: 'somebody', permissions: [all] };
  }
  const count = random.int(1, 8);
  const permissions = Array.from({ length: count }, (): Permission => {
    const type = random.chance(0.25) ? ANY : random.pick(world.types);
    const one = permission(type, random.chance(0.15) ? [] : within);
    const both = random.chance(0.7);
    const where = type !== ANY && random.chance(0.4) ? [randomPair(type, random, world)] : [];
    const read = both || random.chance(0.5);
    const except = random.chance(0.3) ? hidden : [];
    return { ...one, read, search: both || !read, where: where.flatMap(pair => (pair ? [pair] : [])), except };
  });
  return { kind: 'limited', caller: 'somebody', permissions };
}

function permission(type: string, within: Permission['within']): Permission {
  return { type, read: true, search: true, within, where: [], except: [] };
}

function randomWithin(random: Random, world: World): Permission['within'] {
  const one = (): string => random.pick(world.patients);
  switch (random.int(0, 5)) {
    case 0:
      return [{ ids: [one(), one()] }];
    case 1: {
      const pair = randomPair('Patient', random, world);
      return [{ found: pair ? [pair] : [['_id', one()]] }];
    }
    case 2:
      return [{ ids: [one(), one()] }, { ids: [one(), one()] }];
    default:
      return [{ ids: [one()] }];
  }
}

const asked = new WeakMap<World, Map<string, Parameters>>();

/** Returns the searches by one parameter whose values occur in the data. */
function pairsOf(type: string, code: string, world: World): Parameters {
  const known = asked.get(world) ?? new Map<string, Parameters>();
  asked.set(world, known);
  const key = `${type} ${code}`;
  const before = known.get(key);
  if (before) return before;
  const offered = world.demo.facade.offers.find(type, code);
  const values = ofType(type, world).flatMap(one => (offered ? indexedBy(one.resource, offered.parameter) : []));
  const questions = offered && offered.parameter.type !== 'special' ? questionsFor(offered, values, { values: 3 }) : [];
  const pairs = questions.flatMap((question): readonly Pair[] => {
    if (!offered || question.anyOf || asksPrimitiveForSystem(values, question, offered)) return [];
    return [[question.modifier === undefined ? code : `${code}:${question.modifier}`, question.text]];
  });
  known.set(key, pairs);
  return pairs;
}

function ofType(type: string, world: World): readonly Known[] {
  return [...world.known.values()].filter(one => one.type === type);
}

/** Returns a search of a type by one parameter, with a value that occurs in the data; undefined: try again. */
export function randomPair(type: string, random: Random, world: World): Pair | undefined {
  const { offers } = world.demo.facade;
  const offered = offers.of(type).filter(({ parameter }) => parameter.type !== 'special');
  if (offered.length === 0) return undefined;
  const pairs = pairsOf(type, random.pick(offered).parameter.code, world);
  return pairs.length === 0 ? undefined : random.pick(pairs);
}

type Maker = (random: Random, world: World) => Case | undefined;

/** `rule`: makes only requests that can reveal that this rule is off. */
export function randomCase(random: Random, world: World, rule?: keyof AccessRules): Case {
  const makers = (rule && SHOWN_BY[rule]) ?? MAKERS;
  for (;;) {
    const made = random.pick(makers)(random, world);
    if (made) return made;
  }
}

const MAKERS: readonly Maker[] = [
  readCase,
  readCase,
  plainCase,
  plainCase,
  pagedCase,
  countCase,
  systemCase,
  compartmentCase,
  chainCase,
  chainCase,
  hasCase,
  hasCase,
  includeCase,
  includeCase,
  revincludeCase,
  everythingCase,
];

const SHOWN_BY: Readonly<Partial<Record<keyof AccessRules, readonly Maker[]>>> = {
  chains: [chainCase],
  has: [hasCase],
  includes: [includeCase, revincludeCase],
  shared: [(_random, world) => searchCase(world, 'Group', [])],
};

function readCase(random: Random, { known }: World): Case {
  const { name, type, resource } = random.pick([...known.values()]);
  return {
    request: name,
    async ask(facade, context) {
      const found = await facade.read(type, resource.id, [], context);
      return found ? { ...NOTHING, matches: [`${found.type}/${found.id}`] } : NOTHING;
    },
    expected: ({ read }) => (read.has(name) ? { ...NOTHING, matches: [name] } : NOTHING),
  };
}

/** A search of one type, sometimes sorted. */
function plainCase(random: Random, world: World): Case | undefined {
  const type = random.pick(world.types);
  const parameters = someParameters(type, random, world);
  const sort = sortOf(type, random, world);
  return searchCase(world, type, [...parameters, ...sort], { total: random.chance(0.3) });
}

function pagedCase(random: Random, world: World): Case | undefined {
  const type = random.pick(world.types);
  const parameters = [...someParameters(type, random, world), ...sortOf(type, random, world)];
  return searchCase(world, type, parameters, { pageSize: random.int(1, 7) });
}

function someParameters(type: string, random: Random, world: World): Parameters {
  return Array.from({ length: random.int(0, 2) }, () => randomPair(type, random, world)).filter(
    one => one !== undefined,
  );
}

function sortOf(type: string, random: Random, world: World): Parameters {
  const sortable = world.demo.facade.offers.of(type).filter(offered => offered.sortable);
  if (sortable.length === 0 || random.chance(0.6)) return [];
  const { parameter } = random.pick(sortable);
  return [['_sort', `${random.chance(0.5) ? '-' : ''}${parameter.code}`]];
}

/** Expects what a caller with full access finds, in the same order, without what this caller may not see. */
function searchCase(
  world: World,
  type: string,
  parameters: Parameters,
  { total = false, pageSize = 1000 }: { readonly total?: boolean; readonly pageSize?: number } = {},
): Case {
  const asked = [...parameters, ...(total ? ([['_total', 'accurate']] as const) : [])];
  const sorted = parameters.some(([name]) => name === '_sort');
  const own = ofType(type, world).filter(one =>
    parameters.every(pair => pair[0] === '_sort' || answers(pair, one, world)),
  );
  return {
    request: `${textOf(type, asked)} by ${pageSize}`,
    ask: (facade, context) => search(facade, type, asked, context, pageSize),
    expected({ search: visible }) {
      const found = own.filter(({ name }) => visible.has(name)).map(({ name }) => name);
      // The world is in the order of an unsorted search; a sorted search is compared as a set, and its order
      // separately.
      return { matches: sorted ? found.toSorted() : found, included: [], total: total ? found.length : undefined };
    },
  };
}

function countCase(random: Random, world: World): Case | undefined {
  const type = random.pick(world.types);
  const parameters = someParameters(type, random, world);
  const own = ofType(type, world).filter(one => parameters.every(pair => answers(pair, one, world)));
  return {
    request: `${textOf(type, parameters)} counted`,
    async ask(facade, context) {
      const { json } = await facade.search({ type, parameters: [...parameters, ['_summary', 'count']] }, context);
      return { matches: [], included: [], total: JSON.parse(json).total };
    },
    expected: ({ search: visible }) => ({
      matches: [],
      included: [],
      total: own.filter(({ name }) => visible.has(name)).length,
    }),
  };
}

function systemCase(random: Random, world: World): Case | undefined {
  const types = [...new Set([random.pick(world.types), random.pick(world.types)])];
  const ids = Array.from({ length: 12 }, () => random.pick([...world.known.values()])).map(
    ({ resource }) => resource.id,
  );
  const wanted = [...world.known.values()].filter(
    ({ type, resource }) => types.includes(type) && ids.includes(resource.id),
  );
  const parameters: Parameters = [
    ['_type', types.join()],
    ['_id', [...new Set(ids)].join()],
  ];
  return {
    request: `?_type=${types.join()}&_id=…`,
    async ask(facade, context) {
      const { json } = await facade.searchAll([...parameters, ['_count', '1000']], context);
      return { ...answerIn(json), matches: answerIn(json).matches?.toSorted(), total: undefined };
    },
    expected({ search: visible, permits }) {
      if (!types.every(type => permits(type, 'search'))) return NOTHING;
      const matches = wanted.flatMap(({ name }) => (visible.has(name) ? [name] : [])).toSorted();
      return { matches, included: [], total: undefined };
    },
  };
}

function compartmentCase(random: Random, world: World): Case | undefined {
  const type = random.pick(world.types);
  const id = random.pick(world.patients);
  const own = ofType(type, world).filter(({ patients }) => patients?.has(id) === true);
  if (own.length === 0) return undefined;
  return {
    request: `Patient/${id}/${type}`,
    async ask(facade, context) {
      const found: string[] = [];
      let parameters: Parameters | undefined = [['_count', '1000']];
      while (parameters) {
        const { json } = await facade.searchCompartment({ compartment: 'Patient', id, type, parameters }, context);
        found.push(...(answerIn(json).matches ?? []));
        parameters = nextOf(json);
      }
      return { matches: found, included: [], total: undefined };
    },
    expected({ read, search: visible, permits }) {
      // $everything of an unreadable patient is empty; a caller without read access to Patient does not learn whether
      // one exists.
      if (permits('Patient', 'read') && !read.has(`Patient/${id}`)) return NOTHING;
      const matches = own.flatMap(({ name }) => (visible.has(name) ? [name] : []));
      return { matches, included: [], total: undefined };
    },
  };
}

/** The references of a type by one of its parameters. */
interface Way {
  readonly type: string;
  readonly code: string;
  readonly expression: string;
  readonly targets: readonly string[];
}

const ways = new WeakMap<World, readonly Way[]>();

function randomWay(random: Random, world: World): Way {
  const { offers } = world.demo.facade;
  const known =
    ways.get(world) ??
    world.types.flatMap(type =>
      offers
        .of(type)
        .filter(({ parameter, targets }) => parameter.type === 'reference' && targets.length > 0)
        .map(({ parameter: { code, expression }, targets }) => ({ type, code, expression, targets })),
    );
  ways.set(world, known);
  return random.pick(known);
}

function leadsTo({ resource }: Known, { expression }: Way): readonly string[] {
  return indexOf(resource, expression).map(({ value }) =>
    String((value as { readonly reference?: unknown }).reference),
  );
}

function chainCase(random: Random, world: World): Case | undefined {
  const way = randomWay(random, world);
  const target = random.pick(way.targets);
  const pair = randomPair(target, random, world);
  // Missing values also match these modifiers.
  if (!pair || /:(not|missing|not-in)$/.test(pair[0])) return undefined;
  const name = `${way.code}:${target}.${pair[0]}`;
  const through = new Set(ofType(target, world).flatMap(one => (answers(pair, one, world) ? [one.name] : [])));
  const own = ofType(way.type, world).map(one => ({ one, to: leadsTo(one, way).filter(to => through.has(to)) }));
  return {
    request: textOf(way.type, [[name, pair[1]]]),
    ask: (facade, context) => search(facade, way.type, [[name, pair[1]]], context),
    expected: ({ search: visible }) => ({
      matches: own.flatMap(({ one, to }) => (visible.has(one.name) && to.some(t => visible.has(t)) ? [one.name] : [])),
      included: [],
      total: undefined,
    }),
  };
}

function hasCase(random: Random, world: World): Case | undefined {
  const way = randomWay(random, world);
  const target = random.pick(way.targets);
  const pair = randomPair(way.type, random, world);
  if (!pair) return undefined;
  const name = `_has:${way.type}:${way.code}:${pair[0]}`;
  const from = ofType(way.type, world).filter(one => answers(pair, one, world));
  return {
    request: textOf(target, [[name, pair[1]]]),
    ask: (facade, context) => search(facade, target, [[name, pair[1]]], context),
    expected({ search: visible }) {
      const found = new Set(from.flatMap(one => (visible.has(one.name) ? leadsTo(one, way) : [])));
      return {
        matches: ofType(target, world).flatMap(one => (visible.has(one.name) && found.has(one.name) ? [one.name] : [])),
        included: [],
        total: undefined,
      };
    },
  };
}

function includeCase(random: Random, world: World): Case | undefined {
  const way = randomWay(random, world);
  const parameters = someParameters(way.type, random, world);
  const own = ofType(way.type, world).filter(one => parameters.every(pair => answers(pair, one, world)));
  if (own.length > 300) return undefined;
  const asked: Parameters = [...parameters, ['_include', `${way.type}:${way.code}`]];
  return {
    request: textOf(way.type, asked),
    ask: (facade, context) => search(facade, way.type, asked, context),
    expected({ read, search: visible }) {
      const matches = own.filter(({ name }) => visible.has(name));
      const names = new Set(matches.map(({ name }) => name));
      const to = new Set(matches.flatMap(one => leadsTo(one, way)).filter(one => read.has(one) && !names.has(one)));
      return { matches: [...names], included: [...to].toSorted(), total: undefined };
    },
  };
}

function revincludeCase(random: Random, world: World): Case | undefined {
  const way = randomWay(random, world);
  const target = random.pick(way.targets);
  const one = random.pick(ofType(target, world));
  const from = ofType(way.type, world).filter(other => leadsTo(other, way).includes(one.name));
  // Reverse includes do not follow references that only name the patient of a resource.
  if (from.length > 1000 || (way.type === 'Provenance' && target === 'Patient')) return undefined;
  const asked: Parameters = [
    ['_id', one.resource.id],
    ['_revinclude', `${way.type}:${way.code}`],
  ];
  return {
    request: textOf(target, asked),
    ask: (facade, context) => search(facade, target, asked, context),
    expected({ search: visible }) {
      const matches = visible.has(one.name) ? [one.name] : [];
      const found = matches.length === 0 ? [] : from.map(({ name }) => name).filter(name => visible.has(name));
      return { matches, included: found.filter(name => name !== one.name).toSorted(), total: undefined };
    },
  };
}

/** The record of a patient and its references to the outside, step by step. */
function everythingCase(random: Random, world: World): Case | undefined {
  const id = random.pick(world.patients);
  const operation = world.demo.facade.recordOperations.find(({ code }) => code === 'everything');
  const own = [...world.known.values()].filter(({ type, patients }) => type !== 'Group' && patients?.has(id) === true);
  return {
    request: `Patient/${id}/$everything`,
    async ask(facade, context) {
      if (!operation) throw new Error('there is no such operation');
      const found: Answer[] = [];
      let parameters: Parameters | undefined = [['_count', '1000']];
      while (parameters) {
        const { json } = await facade.operate(operation, id, parameters, context);
        found.push(answerIn(json));
        parameters = nextOf(json);
      }
      return {
        matches: found.flatMap(({ matches = [] }) => matches).toSorted(),
        included: [...new Set(found.flatMap(({ included }) => included))].toSorted(),
        total: undefined,
      };
    },
    expected({ read, search: visible }) {
      if (!read.has(`Patient/${id}`)) return NOTHING;
      const matches = own.filter(({ name }) => visible.has(name));
      const included = new Set<string>();
      let round: readonly Known[] = matches;
      for (let rounds = 0; rounds < 5 && round.length > 0; rounds++) {
        const next = new Set(round.flatMap(({ literals }) => literals));
        round = [...next].flatMap(name => {
          const to = world.known.get(name);
          return to && to.patients === undefined && read.has(name) && !included.has(name) ? [to] : [];
        });
        for (const { name } of round) included.add(name);
      }
      return {
        matches: matches.map(({ name }) => name).toSorted(),
        included: [...included].toSorted(),
        total: undefined,
      };
    },
  };
}

async function search(
  facade: Facade,
  type: string,
  parameters: Parameters,
  context: RequestContext,
  pageSize = 1000,
): Promise<Answer> {
  const found: Answer[] = [];
  let page: Parameters | undefined = [...parameters, ['_count', String(pageSize)]];
  while (page) {
    const { json } = await facade.search({ type, parameters: page }, context);
    found.push(answerIn(json));
    page = nextOf(json);
  }
  const matches = found.flatMap(one => one.matches ?? []);
  return {
    matches: parameters.some(([name]) => name === '_sort') ? matches.toSorted() : matches,
    included: [...new Set(found.flatMap(({ included }) => included))].toSorted(),
    total: parameters.some(([name]) => name === '_total') ? found[0]?.total : undefined,
  };
}

interface Bundle {
  readonly total?: number;
  readonly link?: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly resource: { readonly resourceType: string; readonly id: string };
    readonly search: { readonly mode: string };
  }[];
}

function answerIn(json: string): Answer {
  const { entry = [], total } = JSON.parse(json) as Bundle;
  const names = (mode: string): readonly string[] =>
    entry.flatMap(one => (one.search.mode === mode ? [`${one.resource.resourceType}/${one.resource.id}`] : []));
  return { matches: names('match'), included: names('include').toSorted(), total };
}

function nextOf(json: string): Parameters | undefined {
  const { link = [] } = JSON.parse(json) as Bundle;
  const next = link.find(({ relation }) => relation === 'next')?.url;
  return next === undefined ? undefined : [...new URL(next).searchParams];
}

function textOf(type: string, parameters: Parameters): string {
  return `${type}?${parameters.map(([name, value]) => `${name}=${value}`).join('&')}`;
}

/**
 * Describes how the answer differs from the expected one; undefined if it does not. A refusal, a missing resource and
 * an empty result count as equal, because a caller must not be able to distinguish them.
 */
export async function differs(
  one: Case,
  facade: Facade,
  context: RequestContext,
  visible: Visible,
): Promise<string | undefined> {
  const expected = hollow(one.expected(visible));
  const got = hollow(await told(one, facade, context));
  if (JSON.stringify(got) === JSON.stringify(expected)) return undefined;
  const more = (of: Told, than: Told): readonly string[] =>
    [...of.matches, ...of.included].filter(name => ![...than.matches, ...than.included].includes(name)).slice(0, 5);
  return `${one.request}: told ${more(got, expected)}; not told ${more(expected, got)}; total ${got.total} for ${expected.total}`;
}

type Told = Required<Pick<Answer, 'matches' | 'included'>> & {
  readonly matches: readonly string[];
  readonly total: number;
};

function hollow({ matches = [], included, total }: Answer): Told {
  return { matches, included, total: total ?? 0 };
}

async function told(one: Case, facade: Facade, context: RequestContext): Promise<Answer> {
  try {
    return await one.ask(facade, context);
  } catch (error) {
    if (error instanceof FhirError && (error.code === 'forbidden' || error.code === 'not-found')) return NOTHING;
    throw error;
  }
}
