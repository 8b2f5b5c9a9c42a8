import { describe, expect, test } from 'vitest';
import { type FindUser, unknownLogins, userFinder, userOfLogin, withLogins } from '../../src/access/logins.ts';
import { NO_RULES } from '../../src/auth/rules.ts';
import type { Grant } from '../../src/auth/token.ts';
import type { Facade } from '../../src/facade.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { demoOver } from '../law/demo.ts';

/** A column of logins as an identifier; two people share one. */
const PEOPLE = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier:
    - { system: http://x/portal, value: { from: SURNAME, via: code } }
    - { system: http://x/sex, value: { from: SEX } }
`;

async function finder(): Promise<{ readonly find: FindUser; close(): Promise<void> }> {
  const { environment, pack } = smallClinic({ 'person.yaml': PEOPLE });
  const database = await openSqlite((environment['DATABASE_URL'] ?? '').slice('sqlite:'.length));
  const { facade, close } = await demoOver(database, undefined, pack);
  const search = (system: string) => ({ type: 'Patient', found: [['identifier', `${system}|{login}`]] as const });
  const logins = {
    portal: search('http://x/portal'),
    anybody: { type: 'Patient', found: [['identifier', '{login}']] as const },
  };
  return {
    find: userFinder({ facade: () => facade, access: () => ({ ...NO_RULES, logins }), timeLimit: 10_000 }),
    close,
  };
}

describe('a login of the database', () => {
  test('identifies a person only if exactly one has it', async () => {
    const { find, close } = await finder();
    expect(await find('portal', 'Kowalski')).toBe('Patient/1');
    expect(await find('portal', 'Müller')).toBe('Patient/2');
    expect(await find('portal', 'Nobody')).toBeUndefined();
    expect(await find('staff', 'Kowalski')).toBeUndefined();
    expect(await find('constructor', 'Kowalski')).toBeUndefined();
    await close();
  });

  test('matches as one exact value, whatever characters it has', async () => {
    const { find, close } = await finder();
    for (const login of [
      ...[
        '',
        ' ',
        ' Kowalski',
        'Kowalski,Müller',
        'x,Kowalski',
        'Kowalski|',
        'x|Kowalski',
        '|Kowalski',
        'http://x/portal|',
      ],
      ...['Kowalski\\', '\\', '$', 'Kowalski\u0000', '{login}', '$&', 'x'.repeat(201)],
    ]) {
      expect(await find('portal', login), JSON.stringify(login)).toBeUndefined();
      expect(await find('anybody', login), JSON.stringify(login)).toBeUndefined();
    }
    expect(await find('anybody', 'Kowalski')).toBe('Patient/1');
    await close();
  });
});

/** A finder over a database in which these people have these logins. */
function finderOf(ids: readonly string[]) {
  const asked: string[] = [];
  const search = async ({ parameters: [own] }: Parameters<Facade['search']>[0]) => {
    asked.push(own?.[1] ?? '');
    return { json: JSON.stringify({ entry: ids.map(id => ({ resource: { id } })) }) };
  };
  const find = userFinder({
    facade: () => ({ search }) as unknown as Pick<Facade, 'search'>,
    access: () => ({ ...NO_RULES, logins: { portal: { type: 'Patient', found: [['identifier', '{login}']] } } }),
    timeLimit: 10_000,
  });
  return { asked, find };
}

test('a login of 200 characters is searched, a longer one is not', async () => {
  const { asked, find } = finderOf(['1']);
  expect(await find('portal', 'x'.repeat(200))).toBe('Patient/1');
  expect(await find('portal', 'x'.repeat(201))).toBeUndefined();
  expect(asked).toEqual(['x'.repeat(200)]);
});

test('a login that two people share identifies nobody', async () => {
  expect(await finderOf(['1', '2']).find('portal', 'anna')).toBeUndefined();
});

test('an unknown login rule is reported by name, with the rules of the pack', () => {
  const logins = { portal: { type: 'Patient', found: [] }, staff: { type: 'Practitioner', found: [] } };
  expect(unknownLogins(['staff', 'portal'], { ...NO_RULES, logins })).toBeUndefined();
  expect(unknownLogins(['staff', 'toString'], { ...NO_RULES, logins })).toBe(
    'the pack\'s access.yaml has no login "toString"; it has portal, staff',
  );
  expect(unknownLogins(['staff'], NO_RULES)).toMatch(/it has none$/);
});

test('several login rules identify a user only if all their matches are the same person', async () => {
  const known: Readonly<Record<string, string>> = {
    'portal anna': 'Patient/1',
    'staff anna': 'Practitioner/7',
    'staff house': 'Practitioner/7',
    'old house': 'Practitioner/7',
  };
  const find: FindUser = async (rule, login) => known[`${rule} ${login}`];
  const all = ['portal', 'staff', 'old'];
  expect(await userOfLogin(find, all, 'house')).toBe('Practitioner/7');
  expect(await userOfLogin(find, ['portal'], 'anna')).toBe('Patient/1');
  expect(await userOfLogin(find, all, 'anna')).toBeUndefined();
  expect(await userOfLogin(find, all, 'nobody')).toBeUndefined();
  expect(await userOfLogin(find, [], 'anna')).toBeUndefined();
  const away: FindUser = async rule => (rule === 'old' ? Promise.reject(new Error('away')) : undefined);
  await expect(userOfLogin(away, all, 'anna')).rejects.toThrow('away');
});

test('a token with a login gets the user of the login; with an unknown login it is invalid', async () => {
  const grant: Grant = { subject: 's', client: 'c', issuer: 'i', scopes: [], expires: 1 };
  const find: FindUser = async (rule, login) => (rule === 'portal' && login === 'anna' ? 'Patient/1' : undefined);
  const tokens = (own: Partial<Grant>) =>
    withLogins({ grantOf: async () => ({ ...grant, ...own }) }, find).grantOf('token', 0);
  expect(await tokens({ login: { rule: 'portal', name: 'anna' } })).toMatchObject({ fhirUser: 'Patient/1' });
  expect(await tokens({ login: { rule: 'portal', name: 'bert' } })).toBeUndefined();
  expect(await tokens({ login: { rule: 'other', name: 'anna' } })).toBeUndefined();
  expect(await tokens({ fhirUser: 'Practitioner/7' })).toMatchObject({ fhirUser: 'Practitioner/7' });
});
