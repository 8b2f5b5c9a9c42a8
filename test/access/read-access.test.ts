import { describe, expect, test } from 'vitest';
import { NO_RULES, permissionsOfUser, type UserRule } from '../../src/auth/rules.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { loadWhole } from '../../src/start/setup.ts';
import { PLACES, smallClinic } from '../cli/small-clinic.ts';

async function load(
  access: string,
  files: Readonly<Record<string, string>> = {},
  lost: readonly string[] = [],
  degraded = false,
) {
  const { pack: folder, environment } = smallClinic({ 'place.yaml': PLACES, ...files, 'access.yaml': access });
  const database = await openSqlite((environment['DATABASE_URL'] ?? '').slice('sqlite:'.length));
  try {
    const catalog = await database.catalog();
    const tables = new Map([...catalog.tables].filter(([, { name }]) => !lost.includes(name)));
    const loaded = loadWhole(readPackFiles(folder), { ...catalog, tables }, { degraded });
    const problems = loaded.pack.problems.map(formatProblem).filter(text => text.startsWith('access.yaml'));
    return { access: loaded.access, problems, served: loaded.pack.registry !== undefined };
  } finally {
    await database.close();
  }
}

test('rules are searches with the user as a value; several for one type of user add up', async () => {
  const { access, problems, served } = await load(`
users:
  Practitioner:
    patients: [Patient?gender=female&name=K, 'Patient?_has:Observation:subject:_id=w-{id}']
    also: Organization
  Person: { patients: all }
`);
  expect(problems).toEqual([]);
  expect(served).toBe(true);
  expect(access.users).toEqual([
    {
      user: 'Practitioner',
      patients: [
        ['gender', 'female'],
        ['name', 'K'],
      ],
      also: ['Organization'],
    },
    { user: 'Practitioner', patients: [['_has:Observation:subject:_id', 'w-{id}']], also: [] },
    { user: 'Person', patients: 'all', also: [] },
  ]);
});

test('a pack without the file has no rules', async () => {
  const { pack: folder, environment } = smallClinic();
  const database = await openSqlite((environment['DATABASE_URL'] ?? '').slice('sqlite:'.length));
  expect(loadWhole(readPackFiles(folder), await database.catalog()).access).toEqual(NO_RULES);
  await database.close();
});

describe('a server that leaves out mappings (DEGRADED)', () => {
  const degraded = (access: string) => load(access, {}, ['WEIGHING'], true);

  test('keeps the rules', async () => {
    const { access, problems, served } = await degraded(
      'labels: [{ hide: loinc#R }]\nusers: { Person: { patients: all } }\n',
    );
    expect(served).toBe(true);
    expect(problems).toEqual(['access.yaml:1:18: warning: no mapping gives this label; found loinc#R']);
    expect(access.labels.flatMap(({ hide }) => hide)).toEqual(['http://loinc.org|R']);
    expect(access.users).toHaveLength(1);
  });

  test('lets nobody in by a rule that searches what is left out, and gives patients no wider rule instead', async () => {
    const { access, problems, served } = await degraded(
      "users:\n  Patient: { patients: 'Patient?_id={id}&_has:Observation:subject:status=final' }\n",
    );
    expect(served).toBe(true);
    expect(problems).toEqual([expect.stringMatching(/^access\.yaml:2:24: warning: /)]);
    expect(permissionsOfUser('Patient/1', access.users)).toEqual([]);
  });

  test.each([
    ['of another form', 'labels:\n  hide: [loinc#R\n'],
    ['with an unknown key', 'labels: [{ hide: loinc#R }]\nlabel: []\n'],
    ['with an unknown system', 'labels: [{ hide: lionc#R }]\n'],
    ['that is empty', '# nothing yet\n'],
  ])('does not serve a file %s, which would hide nothing', async (_, text) => {
    const { problems, served } = await degraded(text);
    expect(served).toBe(false);
    expect(problems).not.toEqual([]);
  });
});

describe('problems are reported with file and line, and the pack is not served', () => {
  const one = (patients: string, also = ''): string =>
    `users:\n  Practitioner:\n    patients: ${patients}\n${also === '' ? '' : `    also: ${also}\n`}`;
  test.each<[title: string, text: string, problem: string]>([
    [
      'a label that is none',
      'labels: [{ hide: SUD }]\n',
      'access.yaml:1:18: not a label; expected `alias#code`, with an alias of `systems` in pack.yaml; found SUD',
    ],
    [
      'a label of an unknown system',
      'labels: [{ hide: lionc#R }]\n',
      'access.yaml:1:18: unknown system; found lionc; did you mean loinc?',
    ],
    [
      'a label that is shown to an unknown kind of user',
      "labels: [{ hide: 'loinc#R', shown-to: { users: Patients } }]\n",
      'access.yaml:1:48: unknown type of user; expected the resource type of a user; found Patients; did you mean Patient?',
    ],
    [
      'a chain to types that cannot be searched so',
      one('Patient?_has:Observation:subject:subject.birthplace=x'),
      'access.yaml:3:15: no type that Observation.subject refers to can be searched by birthplace',
    ],
    [
      'a file without rules, which may have been cut off',
      '# who sees what\n',
      'access.yaml:1:1: the file is empty; expected rules, or no file',
    ],
    [
      'a second document, which would hide the first or be lost',
      'users: {}\n---\nusers: {}\n',
      'access.yaml:3:1: a second document; expected one',
    ],
    ['an unknown key', 'user: {}\n', 'access.yaml:1:1: unknown key; found user; did you mean users?'],
    [
      'an unknown key of a rule',
      'users:\n  Patient: { patient: all }\n',
      'access.yaml:2:14: unknown key; found patient; did you mean patients?',
    ],
    [
      'an unknown kind of user',
      'users:\n  Practicioner: { patients: all }\n',
      'access.yaml:2:3: unknown type of user; expected the resource type of a user; found Practicioner; did you mean Practitioner?',
    ],
    [
      'a parameter that the mappings do not offer',
      one('Patient?gendre={id}'),
      'access.yaml:3:15: the mappings of Patient offer no such search parameter; expected one of _id, _profile, _security, _tag, birthdate, family, gender, name; found gendre; did you mean gender?',
    ],
    [
      'a parameter of FHIR that the mappings do not offer',
      one("'Patient?general-practitioner={user}'"),
      'access.yaml:3:15: the mappings of Patient offer no such search parameter; expected one of _id, _profile, _security, _tag, birthdate, family, gender, name; found general-practitioner',
    ],
    [
      'an unknown placeholder',
      one("'Patient?_id={usr}'"),
      'access.yaml:3:15: unknown placeholder; expected {user} or {id}; found {usr}; did you mean {user}?',
    ],
    [
      'a search of another type',
      one('Organization?_id=1'),
      'access.yaml:3:15: not a search of the right form; expected Patient?name=value; found Organization?_id=1',
    ],
    [
      'a search for everybody',
      one('Patient'),
      'access.yaml:3:15: not a search of the right form; expected Patient?name=value; found Patient',
    ],
    [
      'a search for everybody, written as one',
      one('Patient?&'),
      'access.yaml:3:15: not a search of the right form; expected Patient?name=value; found Patient?&',
    ],
    [
      'a parameter without a value, which a search would leave out',
      one("'Patient?_id={id}&gender='"),
      'access.yaml:3:15: parameter gender expects a value that is not empty',
    ],
    [
      'a parameter without a value, by itself',
      one("'Patient?_id='"),
      'access.yaml:3:15: parameter _id expects a value that is not empty',
    ],
    [
      'values that are all empty',
      one("'Patient?gender=,'"),
      'access.yaml:3:15: parameter gender expects a value that is not empty',
    ],
    [
      'a parameter without a name',
      one("'Patient?=1'"),
      'access.yaml:3:15: the mappings of Patient offer no such search parameter',
    ],
    [
      'a result parameter',
      one('Patient?_count=1'),
      'access.yaml:3:15: the mappings of Patient offer no such search parameter; expected one of _id, _profile, _security, _tag, birthdate, family, gender, name; found _count',
    ],
    [
      'a value that no mapping gives',
      one('Patient?gender=other'),
      'access.yaml:3:15: gender: no mapping of Patient gives other',
    ],
    [
      'a value of the wrong form',
      one('Patient?birthdate=soon'),
      'access.yaml:3:15: parameter birthdate expects a date or date-time',
    ],
    [
      'a patient type that a user would see without a limit',
      one('all', 'Observation'),
      'access.yaml:4:11: resources of this type belong to patients; expected a type that belongs to no patient; of the others a user sees those of the patients of `patients`; found Observation',
    ],
    [
      'an unknown type',
      one('all', 'Organisation'),
      'access.yaml:4:11: unknown resource type; found Organisation; did you mean Organization?',
    ],
  ])('%s', async (_title, text, problem) => {
    const { problems, served } = await load(text);
    const errors = problems.filter(text => !text.includes(' warning: '));
    expect(errors).toHaveLength(1);
    expect(errors[0]?.startsWith(problem), errors[0]).toBe(true);
    expect(served).toBe(false);
  });

  test('a label that no mapping writes is a notice', async () => {
    const { access, problems, served } = await load("labels: [{ hide: 'loinc#R', shown-to: { purposes: TREAT } }]\n");
    expect(problems).toEqual([
      expect.stringMatching(/^access\.yaml:1:18: warning: no mapping gives this label; found loinc#R/),
    ]);
    expect(served).toBe(true);
    expect(access.labels).toEqual([{ hide: ['http://loinc.org|R'], users: [], purposes: ['TREAT'] }]);
  });

  test('a type without a mapping is a notice', async () => {
    const { problems, served } = await load(one('all', 'Location'));
    expect(problems).toEqual(['access.yaml:4:11: warning: no mapping makes resources of this type; found Location']);
    expect(served).toBe(true);
  });
});

test('a rule whose search has an error permits nothing, even where the pack is served', async () => {
  const { access } = await load(`
users:
  Practitioner: { patients: ['Patient?nonsense={id}', 'Patient?gender=male&nonsense={id}', 'Patient?gender=female'] }
  Person: { patients: ['Patient?name=K{usr}', 'Patient?gender=', 'Patient?gender=female&=K'] }
`);
  const isSound = ({ patients }: UserRule): boolean => patients !== 'none';
  expect(access.users.filter(isSound)).toEqual([{ user: 'Practitioner', patients: [['gender', 'female']], also: [] }]);
  expect(permissionsOfUser('Person/1', access.users)).toEqual([]);
  expect(permissionsOfUser('Practitioner/1', access.users)).toHaveLength(1);
});

test('the rule of break-the-glass has users, applications and what it opens', async () => {
  const { access, problems } = await load(`
break-glass:
  users: ['Patient?gender=female&_id={id}']
  clients: bedside
  opens: [labels, patients]
`);
  expect(problems).toEqual([]);
  expect(access.glass).toEqual({
    users: [
      {
        type: 'Patient',
        found: [
          ['gender', 'female'],
          ['_id', '{id}'],
        ],
      },
    ],
    clients: ['bedside'],
    opens: ['labels', 'patients'],
  });
  expect((await load('users: { Person: { patients: all } }\n')).access.glass).toBeUndefined();
});

test.each<[title: string, text: string, problem: RegExp]>([
  ['no users', 'opens: labels', /users/],
  ['nothing is said of what', 'users: Patient?gender=female', /opens/],
  ['an unknown value of `opens`', '{ users: Patient?gender=female, opens: exports }', /labels/],
  ['a type of users that is none', '{ users: Patients?gender=female, opens: labels }', /unknown type of user/],
  ['a search that the mappings do not offer', '{ users: Patient?gendre=female, opens: labels }', /gender/],
  ['a placeholder of another place', '{ users: "Patient?_id={login}", opens: labels }', /placeholder/],
])('break-glass: %s is a problem, and permits nobody', async (_title, text, problem) => {
  const written = text.startsWith('{') ? text : `{ ${text} }`;
  const { access, problems, served } = await load(`break-glass: ${written}\n`);
  expect([problems.join(), served]).toEqual([expect.stringMatching(problem), false]);
  expect(access.glass?.users ?? []).toEqual([]);
});

test('a login is found by a search with {login} in it', async () => {
  const { access, problems } = await load("logins: { portal: 'Patient?gender=female&_id={login}' }\n");
  expect(problems).toEqual([]);
  expect(access.logins).toEqual({
    portal: {
      type: 'Patient',
      found: [
        ['gender', 'female'],
        ['_id', '{login}'],
      ],
    },
  });
});

test.each<[title: string, search: string, problem: RegExp]>([
  ['a search that finds the same people for every login', 'Patient?gender=female', /does not depend on the login/],
  ['a search that the mappings do not offer', 'Patient?gendre={login}', /no such search parameter/],
  ['a type that no user is', 'Patients?_id={login}', /unknown type of user/],
  ['a placeholder of another place', 'Patient?_id={login}&name={user}', /unknown placeholder/],
])('a login by %s is an error, and finds nobody', async (_title, search, problem) => {
  const { access, problems, served } = await load(`logins: { portal: '${search}' }\n`);
  expect([problems.join(), served]).toEqual([expect.stringMatching(problem), false]);
  expect(access.logins).toEqual({});
});
