/** Identifies a person who logs in at the hospital's issuer: by the claims, by the pack, or by the file of accounts. */
import { expect, onTestFinished, test } from 'vitest';
import { someAccounts } from '../../src/auth/accounts.ts';
import { type PeopleOptions, peopleOf } from '../../src/smart/people.ts';
import { openStore } from '../../src/smart/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SETTINGS = {
  ...{ url: 'https://login.example.org', clientId: 'lintel', secret: undefined, key: undefined, scope: 'openid' },
  ...{ userClaim: 'fhirUser', nameClaim: 'login', label: 'login.example.org', days: 90, rules: [] },
};

function storeOf(clock = Date.now) {
  const folder = temporaryFolder();
  const store = openStore(folder, clock);
  onTestFinished(() => store.close());
  return store;
}

const own = someAccounts(
  { name: 'anna', password: 'x', disabled: false, fhirUser: 'Patient/1' },
  { name: 'gone', password: 'x', disabled: true, fhirUser: 'Patient/1' },
);

const people = (more: Partial<PeopleOptions> = {}) =>
  peopleOf({ settings: SETTINGS, store: storeOf(), own, fhirBase: 'https://x.example/fhir', ...more });

test('a login name is resolved by the pack if claims do not identify the person', async () => {
  const asked: string[] = [];
  const userOf = async (login: string) => {
    asked.push(login);
    return login === 'DRHOUSE' ? 'Practitioner/7' : undefined;
  };
  const { admit, accounts } = people({ userOf });
  const doctor = await admit({ sub: '1', login: 'DRHOUSE', name: 'Dr House' });
  expect(doctor).toMatchObject({ fhirUser: 'Practitioner/7', shown: 'Dr House', disabled: false });
  expect(accounts.find(doctor?.name ?? '')).toEqual(doctor);
  expect(await admit({ sub: '2', login: 'NOBODY' })).toBeUndefined();
  expect(await admit({ sub: '3', login: 'NOBODY', fhirUser: 'Patient/2' })).toMatchObject({ fhirUser: 'Patient/2' });
  expect(asked).toEqual(['DRHOUSE', 'NOBODY']);
});

test('during an outage of the database logins are refused, with that reason', async () => {
  const userOf = async () => {
    throw new Error('the database is away');
  };
  await expect(people({ userOf }).admit({ sub: '1', login: 'DRHOUSE' })).rejects.toThrow('the database is away');
});

test('an account of the file takes precedence over claims, disabled or not', async () => {
  const { admit } = people();
  expect(await admit({ sub: '1', login: 'anna', fhirUser: 'Patient/2' })).toMatchObject({ fhirUser: 'Patient/1' });
  expect(await admit({ sub: '1', login: 'gone', fhirUser: 'Patient/2' })).toBeUndefined();
});

test('a login without a subject, or with an invalid or overlong name, is refused', async () => {
  const { admit } = people({ userOf: async () => 'Patient/1' });
  expect(await admit({ login: 'x', fhirUser: 'Patient/1' })).toBeUndefined();
  for (const login of ['', 7, null, ['anna'], 'x'.repeat(201)])
    expect(await admit({ sub: '1', login })).toBeUndefined();
});

test('the same subject of another issuer is another person', async () => {
  const store = storeOf();
  const before = await people({ store }).admit({ sub: '1', fhirUser: 'Patient/1' });
  const settings = { ...SETTINGS, url: 'https://other.example.org' };
  const other = people({ store, settings });
  expect(other.accounts.find(before?.name ?? '')).toBeUndefined();
  expect((await other.admit({ sub: '1', fhirUser: 'Patient/2' }))?.name).not.toBe(before?.name);
  expect(people({ store }).accounts.find(before?.name ?? '')?.fhirUser).toBe('Patient/1');
});

test('a person without a login for some days is forgotten, with the grants of apps', async () => {
  let now = Date.now();
  const one = people({ store: storeOf(() => now) });
  const account = await one.admit({ sub: '1', fhirUser: 'Patient/1' });
  now += 89 * 86_400_000;
  expect(one.accounts.find(account?.name ?? '')).toBeDefined();
  now += 2 * 86_400_000;
  expect(one.accounts.find(account?.name ?? '')).toBeUndefined();
});

test('no password matches such an account, and no form can name it', async () => {
  const { admit, accounts } = people();
  const account = await admit({ sub: '1', fhirUser: 'Patient/1' });
  expect(account?.password).toBe('');
  expect(account?.name).toMatch(/^issuer:/);
  expect(accounts.find('anna')?.password).toBe('x');
});

test('thousands of begun logins do not keep another user from completing one', () => {
  const store = storeOf();
  const expires = Math.floor(Date.now() / 1000) + 900;
  const begin = (state: string) => store.keep('IssuerLogin', state, { state }, { expires });
  begin('a person');
  for (let i = 0; i < 12_000; i++) begin(`flood ${i}`);
  expect(store.find('IssuerLogin', 'a person')?.value).toEqual({ state: 'a person' });
});
