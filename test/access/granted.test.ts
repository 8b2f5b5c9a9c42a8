/**
 * Compares answers to callers with random scopes of SMART (versions 1 and 2, with conditions, of each level) and random
 * rules of access.yaml with a world that holds only what they may see. CASES: number of cases. SEED: seed of the random
 * source.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../fixtures/random.ts';
import type { Access } from '../../src/auth/access.ts';
import { accessOfGrant } from '../../src/auth/granted.ts';
import type { PackAccess, UserRule } from '../../src/auth/rules.ts';
import type { Criteria } from '../../src/auth/scopes.ts';
import type { Grant } from '../../src/auth/token.ts';
import type { RequestContext } from '../../src/facade.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { runsOf } from '../share.ts';
import { type Case, differs, randomCase, randomPair } from './requests.ts';
import { readWorld, type Visible, visibleTo, type World } from './world.ts';

const CASES = Number(process.env['CASES'] ?? runsOf(600));
const SEED = Number(process.env['SEED'] ?? 1);
/** Requests per caller. */
const EACH = 5;

let demo: Demo;
let world: World;
beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
  world = await readWorld(demo);
});
afterAll(() => demo.close());

/** Searches on patients that packs have as rules, by type of user. */
const RULES: Readonly<Record<string, readonly (readonly [name: string, value: string])[]>> = {
  Practitioner: [
    ['general-practitioner', '{user}'],
    ['_has:Encounter:patient:practitioner', '{user}'],
    ['_has:Observation:patient:performer', '{user}'],
    ['_has:Condition:patient:recorder', '{user}'],
  ],
  Organization: [['organization', '{user}']],
  RelatedPerson: [['_has:RelatedPerson:patient:_id', '{id}']],
  Patient: [['_id', '{id}']],
};

const namesOf = (type: string): readonly string[] =>
  [...world.known.values()].flatMap(one => (one.type === type ? [one.name] : []));

function randomRules(user: string, random: Random): PackAccess {
  const search = (): Criteria => {
    const pair = random.chance(0.3) ? randomPair('Patient', random, world) : random.pick(RULES[user] ?? []);
    return [pair ?? ['_id', `${random.pick(world.patients)},${random.pick(world.patients)}`]];
  };
  const open = world.types.filter(type =>
    [...world.known.values()].some(one => one.type === type && one.patients === undefined && one.mapping !== ''),
  );
  const users = Array.from({ length: random.int(1, 2) }, (): UserRule => {
    const also = random.chance(0.4) ? [random.pick(open)] : [];
    return { user, patients: random.chance(0.3) ? 'all' : search(), also };
  });
  const label = { hide: [random.pick(world.labels)], users: random.chance(0.2) ? [user] : [], purposes: ['TREAT'] };
  return { users, labels: random.chance(0.7) ? [label] : [] };
}

function randomScope(random: Random, types: readonly string[]): string {
  const level = random.pick(['patient', 'user', 'user', 'system']);
  const type = random.chance(0.15) ? '*' : random.pick(types);
  if (random.chance(0.25)) return `${level}/${type}.${random.pick(['read', '*'])}`;
  const pair = type !== '*' && random.chance(0.6) ? randomPair(type, random, world) : undefined;
  const query = pair === undefined ? '' : `?${pair.map(encodeURIComponent).join('=')}`;
  return `${level}/${type}.${random.pick(['rs', 'rs', 'r', 's', 'cruds'])}${query}`;
}

/** The meaning of scopes and rules, written a second time: for each scope and each rule the patients of both. */
function meaningOf({ scopes, patient, fhirUser, purpose }: Grant, { users, labels }: PackAccess): Access {
  const [, id = ''] = fhirUser?.split('/') ?? [];
  const valued = (text: string): string => text.replace('{user}', fhirUser ?? '').replace('{id}', id);
  const everything = { type: '*', within: [] };
  const own = users.flatMap(({ patients, also }) => [
    patients === 'all' || patients === 'none'
      ? everything
      : { type: '*', within: [{ found: patients.map(([name, value]) => [name, valued(value)] as const) }] },
    ...also.map(type => ({ type, within: [] })),
  ]);
  const hidden = labels.filter(
    one => purpose === undefined && !one.users.some(user => fhirUser?.startsWith(`${user}/`)),
  );
  const permissions = scopes.flatMap(scope => {
    const [, level, type = '', actions = '', query] = /^(\w+)\/(\*|\w+)\.([\w*]+)(?:\?(.*))?$/.exec(scope) ?? [];
    if ((level === 'patient' && patient === undefined) || (level === 'user' && fhirUser === undefined)) return [];
    const isWhole = ['read', '*'].includes(actions);
    const [read, search] = [isWhole || actions.includes('r'), isWhole || actions.includes('s')];
    const where = [...new URLSearchParams(query)];
    const shown = where.filter(([name]) => name === '_security').map(([, value]) => value);
    const except = hidden
      .flatMap(({ hide }) => hide)
      .filter(label => !shown.includes(label))
      .map(label => ['_security', label] as const);
    const launched = level === 'patient' ? [{ ids: [patient ?? ''] }] : [];
    return (fhirUser === undefined ? [everything] : own)
      .filter(one => type === '*' || one.type === '*' || one.type === type)
      .map(one => ({
        ...{ read, search, where, except },
        type: type === '*' ? one.type : type,
        within: [...launched, ...one.within],
      }));
  });
  return { kind: 'limited', caller: 'somebody', permissions };
}

interface Granted {
  readonly access: Access;
  readonly meant: Access;
  /** Types that the scopes name: requests for others are mostly refused, and tell little. */
  readonly types: readonly string[];
  readonly text: string;
}

function randomGrant(random: Random): Granted {
  const types = Array.from({ length: 3 }, () => random.pick(world.types));
  const type = random.pick(Object.keys(RULES).filter(one => namesOf(one).length > 0));
  const grant: Grant = {
    ...{ subject: 'somebody', client: 'app', issuer: 'https://issuer.example.org', expires: Number.MAX_SAFE_INTEGER },
    scopes: Array.from({ length: random.int(1, 5) }, () => randomScope(random, types)),
    ...(random.chance(0.8) && { patient: random.pick(world.patients) }),
    ...(random.chance(0.8) && { fhirUser: random.pick(namesOf(type)) }),
    ...(random.chance(0.3) && { purpose: 'TREAT' }),
  };
  const rules = randomRules(type, random);
  const access = accessOfGrant(grant, rules);
  return { access, types, meant: meaningOf(grant, rules), text: JSON.stringify({ grant, rules }) };
}

/** True if some resource of the types is visible and another is not; sometimes true for others. */
function isWorthAsking({ search, read }: Visible, types: readonly string[], random: Random): boolean {
  const ofTypes = types.flatMap(namesOf);
  return (
    random.chance(0.05) ||
    (ofTypes.some(name => search.has(name) || read.has(name)) && !ofTypes.every(name => read.has(name)))
  );
}

/** Returns a request for one of the types, or after thirty attempts any. */
function caseFor(types: readonly string[], random: Random): Case {
  let made = randomCase(random, world);
  for (let i = 0; i < 30 && !types.some(type => made.request.startsWith(type)); i++) made = randomCase(random, world);
  return made;
}

test('a token gets every resource that scopes and rules permit, and no other', { timeout: 3_600_000 }, async () => {
  const random = new Random(SEED);
  const found: string[] = [];
  for (let done = 0; done < CASES && found.length < 3; done += EACH) {
    let { access, meant, types, text } = randomGrant(random);
    let visible = visibleTo(meant, world);
    // Whoever sees nothing tells little.
    for (let i = 0; i < 30 && !isWorthAsking(visible, types, random); i++) {
      ({ access, meant, types, text } = randomGrant(random));
      visible = visibleTo(meant, world);
    }
    const context: RequestContext = { access, base: 'http://127.0.0.1/fhir', handling: 'strict' };
    for (let i = 0; i < EACH && found.length < 3; i++) {
      const difference = await differs(caseFor(types, random), demo.facade, context, visible);
      if (difference !== undefined) found.push(`${text} ${difference}`);
    }
  }
  expect(found).toEqual([]);
});
