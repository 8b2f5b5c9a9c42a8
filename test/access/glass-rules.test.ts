/** Tests who may break the glass by the rules of a pack, without a server. */
import { expect, test } from 'vitest';
import { glassOf } from '../../src/access/glass.ts';
import type { GlassRule, PackAccess } from '../../src/auth/rules.ts';
import type { Grant } from '../../src/auth/token.ts';
import type { Facade } from '../../src/facade.ts';

const SIGNAL = new AbortController().signal;
const GLASS: GlassRule = {
  users: [
    { type: 'Practitioner', found: [['identifier', 'emergency|{id}']] },
    { type: 'Person', found: [['link', '{user}']] },
  ],
  clients: ['viewer'],
  opens: ['patients'],
};
const RULES: PackAccess = { users: [], labels: [], glass: GLASS };
const grant = (fhirUser: string | undefined, client = 'viewer'): Grant => ({
  ...{ subject: 's', client, issuer: 'i', scopes: ['user/*.rs'], expires: 0 },
  ...(fhirUser === undefined ? {} : { fhirUser }),
});

/** A search that finds `entries` resources, and records its requests. */
function searching(entries: number) {
  const asked: unknown[] = [];
  const search = async ({ type, parameters }: Parameters<Facade['search']>[0]) => {
    asked.push([type, parameters.slice(0, 2)]);
    return { entries };
  };
  return { asked, facade: { search } as unknown as Pick<Facade, 'search'> };
}

test('a user whom a rule of their resource type finds may break the glass in a listed application', async () => {
  const { asked, facade } = searching(1);
  const glass = glassOf(facade, RULES);
  expect(await glass?.ofGrant(grant('Practitioner/7'), SIGNAL)).toBeDefined();
  expect(await glass?.ofGrant(grant('Person/8'), SIGNAL)).toBeDefined();
  expect(asked).toEqual([
    [
      'Practitioner',
      [
        ['identifier', 'emergency|7'],
        ['_id', '7'],
      ],
    ],
    [
      'Person',
      [
        ['link', 'Person/8'],
        ['_id', '8'],
      ],
    ],
  ]);
});

test('other users may not, and no search is sent where no rule can match', async () => {
  expect(await glassOf(searching(0).facade, RULES)?.ofGrant(grant('Practitioner/7'), SIGNAL)).toBeUndefined();
  const { asked, facade } = searching(1);
  const glass = glassOf(facade, RULES);
  for (const one of [grant(undefined), grant('Patient/1'), grant('Practitioner'), grant('Practitioner/7', 'other')])
    expect(await glass?.ofGrant(one, SIGNAL), JSON.stringify(one)).toBeUndefined();
  // The REST interface is an application too, and the rules do not name it.
  const account = { name: 'anna', password: '', disabled: false, fhirUser: 'Practitioner/7' };
  expect(await glass?.ofAccount(account, SIGNAL)).toBeUndefined();
  expect(asked).toEqual([]);
  const anywhere: PackAccess = { ...RULES, glass: { ...GLASS, clients: undefined } };
  expect(await glassOf(facade, anywhere)?.ofAccount(account, SIGNAL)).toBeDefined();
});

test('without rules in the pack nobody may break the glass', () => {
  expect(glassOf(searching(1).facade, { users: [], labels: [] })).toBeUndefined();
});
