/**
 * Compares the answer to any request of a caller who has broken the glass with the answer over a world of what the
 * scopes name, without the labels and patients that stay closed. CASES: number of cases (default 75, or 300 with
 * TEST_ALL=1). SEED: seed of the random source.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Random } from '../../fixtures/random.ts';
import { type Access, ANY, type Permission } from '../../src/auth/access.ts';
import { accessByBreakingGlass, accessOfGrant } from '../../src/auth/granted.ts';
import type { Opened, PackAccess } from '../../src/auth/rules.ts';
import type { Grant } from '../../src/auth/token.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { runsOf } from '../share.ts';
import { differs, randomCase } from './requests.ts';
import { readWorld, visibleTo, type World } from './world.ts';

const CASES = Number(process.env['CASES'] ?? runsOf(300));
const SEED = Number(process.env['SEED'] ?? 1);
/** Requests per caller. */
const EACH = 10;

let demo: Demo;
let world: World;
beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
  world = await readWorld(demo);
});
afterAll(() => demo.close());

/** No resource has this id. A scope with it permits searches over several types, which would otherwise be refused. */
const NONE = 'none';

interface Caller {
  readonly grant: Grant;
  readonly rules: PackAccess;
  /** The expected access, written by hand. */
  readonly expected: Access;
}

function randomCaller(random: Random): Caller {
  const patient = random.pick(world.patients);
  const own = [random.pick(world.patients), random.pick(world.patients)];
  // The server searches no compartment of a patient who is hidden as a whole.
  const labels = world.labels.filter(label => !isOfPatients(label));
  const hidden = [random.pick(labels), random.pick(labels)];
  const opens = random.pick<readonly Opened[]>([['labels'], ['patients'], ['labels', 'patients']]);
  const asked = Array.from({ length: random.int(1, 5) }, () => ({
    level: random.pick(['patient', 'user', 'system'] as const),
    type: random.chance(0.4) ? ANY : random.pick(world.types),
  }));
  const rules: PackAccess = {
    users: [{ user: 'Practitioner', patients: [['_id', own.join()]], also: [] }],
    labels: [{ hide: hidden, users: [], purposes: [] }],
    glass: { users: [], clients: undefined, opens },
  };
  const grant: Grant = {
    ...{ subject: 's', client: 'c', issuer: 'i', expires: 0, patient, fhirUser: 'Practitioner/1' },
    scopes: [...asked.map(({ level, type }) => `${level}/${type}.rs`), `system/*.rs?_id=${NONE}`],
  };
  const permissions = asked.map(
    ({ level, type }): Permission => ({
      ...{ type, read: true, search: true, where: [] },
      within: [
        ...(level === 'patient' ? [{ ids: [patient] }] : []),
        ...(opens.includes('patients') ? [] : [{ ids: own }]),
      ],
      except: opens.includes('labels') ? [] : [['_security', hidden.join()]],
    }),
  );
  return { grant, rules, expected: { kind: 'limited', caller: 'expected', permissions: [...permissions, nothing] } };
}

function isOfPatients(label: string): boolean {
  const [system, code] = label.split('|');
  const has = JSON.stringify({ system, code }).slice(1, -1);
  return [...world.known.values()].some(
    ({ type, resource }) => type === 'Patient' && JSON.stringify(resource['meta']).includes(has),
  );
}

const nothing: Permission = {
  ...{ type: ANY, read: true, search: true, within: [], except: [] },
  where: [['_id', NONE]],
};

type Decide = (grant: Grant, rules: PackAccess) => Access;

/** The differences found in these cases, at most `enough`. */
async function differences(cases: number, enough: number, decide: Decide): Promise<readonly string[]> {
  const random = new Random(SEED);
  const found: string[] = [];
  for (let done = 0; done < cases && found.length < enough; ) {
    const { grant, rules, expected } = randomCaller(random);
    const visible = visibleTo(expected, world);
    const context = { access: decide(grant, rules), base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;
    for (let i = 0; i < EACH; i++, done++) {
      const difference = await differs(randomCase(random, world), demo.facade, context, visible);
      if (difference !== undefined) found.push(`${JSON.stringify([grant.scopes, rules])} ${difference}`);
    }
  }
  return found;
}

test('break-the-glass adds exactly what its rule opens, within the scopes', {
  timeout: 3_600_000,
}, async () => {
  expect(await differences(CASES, 3, accessByBreakingGlass)).toEqual([]);
});

const withGlass = (rules: PackAccess, opens: readonly Opened[]): PackAccess => ({
  ...rules,
  glass: { users: [], clients: undefined, opens },
});

describe('with a rule switched off this suite fails', () => {
  test.each<[title: string, decide: Decide]>([
    ['nothing is opened', accessOfGrant],
    ['more is opened than the rule says', (g, r) => accessByBreakingGlass(g, withGlass(r, ['labels', 'patients']))],
    ['labels stay closed', (g, r) => accessByBreakingGlass(g, withGlass(r, ['patients']))],
    ['patients stay closed', (g, r) => accessByBreakingGlass(g, withGlass(r, ['labels']))],
    ['scopes do not count', (g, r) => accessByBreakingGlass({ ...g, scopes: ['user/*.rs'] }, r)],
  ])('%s', { timeout: 300_000 }, async (_title, decide) => {
    expect(await differences(3000, 1, decide)).not.toEqual([]);
  });
});

test('a broken glass changes the cache identity of the caller, and opens nothing to a token without a user', () => {
  const { grant, rules } = randomCaller(new Random(SEED));
  const [broken, whole] = [accessByBreakingGlass(grant, rules), accessOfGrant(grant, rules)];
  expect(broken.caller).not.toBe(whole.caller);
  const { fhirUser: _nobody, ...program } = { ...grant, scopes: ['system/*.rs'] };
  expect(accessByBreakingGlass(program, rules)).toMatchObject({ kind: 'limited', permissions: [] });
});
