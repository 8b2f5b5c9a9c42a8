/** Completions of the editor at a cursor (`|`) in a file of the small clinic's pack, as the page requests them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WireCompletion } from '../../src/workbench/wire/mapping.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { type OpenedBench, openBench, openBenchOn } from './opened-bench.ts';

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

async function offered(path: string, written: string, unsaved: Record<string, string> = {}): Promise<WireCompletion> {
  const offset = written.indexOf('|');
  const text = written.slice(0, offset) + written.slice(offset + 1);
  const response = await bench.ask(`${bench.base}/api/complete`, {
    method: 'POST',
    body: { unsaved, path, text, offset },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as WireCompletion;
}

const HEAD = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID], lookup: { w: { table: WEIGHING, on: { PERSON_ID: ID } } } }
id: "{ID}"
elements:
`;

const guide = (written: string): string => `{
  "people": {
    "type": "Patient",
    "profile": "us-core-patient",
    ${written}
  }
}
`;

test.each([50, 2000, 20_000])('nothing is offered in a text of %i brackets in each other', async depth => {
  const written = `${HEAD}  gender: ${'['.repeat(depth)}|${']'.repeat(depth)}`;
  expect((await offered('people.yaml', written)).options).toEqual([]);
});

describe('offered labels', () => {
  test.each<[what: string, path: string, text: string, some: readonly string[], none: readonly string[]]>([
    ['keys of a mapping', 'a.yaml', 'mapping: a\n|', ['resource', 'source', 'elements'], ['mapping', 'from']],
    ['types', 'a.yaml', 'mapping: a\nresource: Pat|\n', ['Patient'], ['Resource']],
    ['tables', 'a.yaml', 'mapping: a\nsource: { table: | }\n', ['PERSON', 'WEIGHING'], ['ID']],
    ['columns of the key', 'a.yaml', 'source: { table: PERSON, key: [|] }\n', ['ID', 'SURNAME'], ['KG']],
    ['elements', 'a.yaml', `${HEAD}  gen|`, ['gender', 'birthDate', 'deceasedBoolean'], ['valueQuantity']],
    ['elements before others', 'a.yaml', `${HEAD}  g|\n  birthDate: { from: BORN }\n`, ['gender'], ['birthDate']],
    ['elements within', 'a.yaml', `${HEAD}  name:\n    - f|\n`, ['family', 'given'], ['gender']],
    ['elements in braces', 'a.yaml', `${HEAD}  name: [ { | } ]\n`, ['family', 'from'], ['gender']],
    ['columns', 'a.yaml', `${HEAD}  gender: { from: | }\n`, ['SEX', 'w.KG'], ['KG', 'PERSON_ID']],
    ['columns of a list', 'a.yaml', `${HEAD}  gender:\n    from:\n      - |\n`, ['SEX'], ['gender']],
    ['codecs and code maps', 'a.yaml', `${HEAD}  gender: { from: SEX, via: | }\n`, ['sex', 'ymd8'], ['SEX']],
    ['options of a codec', 'a.yaml', `${HEAD}  x: { from: SEX, via: { number: { | } } }\n`, ['scale'], ['unit']],
    ['codes of a required binding', 'a.yaml', `${HEAD}  gender: |\n`, ['female', 'unknown'], ['F']],
    ['systems', 'a.yaml', `${HEAD}  maritalStatus: |\n`, ['loinc#', 'ucum#'], []],
    ['mappings', 'a.yaml', `${HEAD}  generalPractitioner: [ { ref: | } ]\n`, ['people', 'weights'], ['PERSON']],
    [
      'columns on both sides of a join, the other',
      'a.yaml',
      `${HEAD}  link: [ { other: { ref: weights, on: { | } } } ]\n`,
      ['NO', 'PERSON_ID'],
      ['SURNAME'],
    ],
    [
      'columns on both sides of a join, the own',
      'a.yaml',
      `${HEAD}  link: [ { other: { ref: weights, on: { NO: | } } } ]\n`,
      ['ID', 'SURNAME'],
      ['KG'],
    ],
    [
      'columns of child rows',
      'a.yaml',
      `${HEAD}  name:\n    - each: { table: WEIGHING, as: c, on: { PERSON_ID: ID } }\n      item: { text: { from: | } }\n`,
      ['KG', 'NO'],
      ['SURNAME'],
    ],
    ['columns of conditions', 'a.yaml', 'source:\n  table: PERSON\n  where: { | }\n', ['SEX', 'any'], ['KG']],
    ['elements that are needed', 'a.yaml', `${HEAD.replace('elements:', 'needs: [|]')}`, ['name'], ['SEX']],
    ['keys of pack.yaml', 'pack.yaml', 'name: x\n|', ['zone', 'systems', 'fragments'], ['name', 'mapping']],
    ['keys of a code map', 'codes.yaml', 'sex:\n  |\n', ['system', 'rows', 'else'], ['sex']],
    ['systems of a code map', 'codes.yaml', 'sex:\n  system: |\n', ['loinc', 'ucum'], []],
    ['keys of a test', 'a.test.yaml', 'mapping: people\n|', ['rows', 'resource', 'matches'], ['mapping', 'source']],
    ['mappings of a test', 'a.test.yaml', 'mapping: |\n', ['people', 'weights'], ['PERSON']],
    ['tables of a test', 'a.test.yaml', 'mapping: people\nrows:\n  |\n', ['PERSON', 'WEIGHING'], ['ID']],
    ['columns of a test', 'a.test.yaml', 'mapping: people\nrows:\n  PERSON: { | }\n', ['ID', 'SEX'], ['KG']],
    ['columns of rows', 'a.test.yaml', 'mapping: people\nrows:\n  PERSON: [{ ID: 1, | }]\n', ['SEX'], ['ID', 'KG']],
    ['elements of a test', 'a.test.yaml', 'mapping: people\nresource: { name: [{ | }] }\n', ['family'], ['gender']],
    ['codes of a test', 'a.test.yaml', 'mapping: people\nresource: { gender: | }\n', ['female'], ['family']],
    ['keys of a guide', 'a.guide.json', '{ "p": { "type": "Patient", "|" } }', ['profile', 'shall'], ['type']],
    ['types of a guide', 'a.guide.json', '{ "p": { "type": "Pat|" } }', ['Patient'], []],
    [
      'profiles of the type',
      'a.guide.json',
      '{ "p": { "type": "Patient", "profile": "|" } }',
      ['us-core-patient'],
      ['us-core-condition', 'us-core-race'],
    ],
    ['parameters', 'a.guide.json', guide('"shall": ["gender+|"]'), ['birthdate', 'name', '_id'], ['subject']],
    ['elements of a guide', 'a.guide.json', guide('"mustSupport": "name(family), |"'), ['birthDate', 'name'], ['use']],
    ['elements below', 'a.guide.json', guide('"mustSupport": "name(family, |"'), ['given', 'use'], ['birthDate']],
    ['elements behind a point', 'a.guide.json', guide('"mustSupport": "name.|"'), ['name.given'], ['given']],
    ['codes of a guide', 'a.guide.json', guide('"mustSupport": "name(use=|"'), ['official', 'old'], ['given']],
    ['extensions', 'a.guide.json', guide('"extensions": "|"'), ['extension:race', 'name'], []],
    ['slices', 'a.guide.json', guide('"extensions": "extension:|"'), ['race', 'ethnicity'], ['name']],
    [
      'targets',
      'a.guide.json',
      guide('"mustSupport": "generalPractitioner→|"'),
      ['practitioner', 'organization'],
      ['race'],
    ],
    ['keys of access.yaml', 'access.yaml', 'users: {}\n|', ['logins', 'labels', 'break-glass'], ['users', 'mapping']],
    ['types of users', 'access.yaml', 'users:\n  |\n', ['Practitioner', 'RelatedPerson'], ['Observation', 'patients']],
    ['keys of a user', 'access.yaml', 'users:\n  Practitioner:\n    |\n', ['patients', 'also'], ['users']],
    ['patients', 'access.yaml', 'users: { Practitioner: { patients: | } }\n', ['all', 'Patient?'], ['Observation?']],
    ['patients in a list', 'access.yaml', 'users:\n  Patient:\n    patients:\n      - |\n', ['Patient?'], ['patients']],
    [
      'parameters of a search',
      'access.yaml',
      'users:\n  Practitioner:\n    patients:\n      - Patient?gender=male&|\n',
      ['birthdate=', '_has:'],
      ['code=', 'all'],
    ],
    ['what searches put in', 'access.yaml', 'users:\n  Practitioner:\n    patients: Patient?_id=|\n', ['{id}'], []],
    ['a login', 'access.yaml', 'logins:\n  staff: |\n', ['Patient?'], ['Observation?', 'all']],
    ['what a login puts in', 'access.yaml', 'logins:\n  staff: Patient?identifier=|\n', ['{login}'], ['{id}']],
    ['what is opened', 'access.yaml', 'break-glass:\n  opens: [|]\n', ['labels', 'patients'], ['all']],
    ['labels', 'access.yaml', 'labels:\n  - hide: |\n', ['loinc#'], ['all']],
    ['keys of ccds.yaml', 'ccds.yaml', 'mrn: a\n|', ['custodian', 'lists'], ['mrn', 'mapping']],
    ['lists of documents', 'ccds.yaml', 'lists:\n  vital|\n', ['vital-signs'], ['mrn']],
    ['a list', 'ccds.yaml', 'lists:\n  vital-signs: |\n', ['Observation'], ['Patient', 'vital-signs']],
    ['parameters of a list', 'ccds.yaml', 'lists:\n  vital-signs: Observation?|\n', ['code='], ['gender=']],
    ['the record number', 'ccds.yaml', 'mrn: |\n', ['loinc'], []],
    ['nothing in other JSON', 'a.json', '{ "|" }', [], ['type', 'mapping']],
    ['nothing in a comment', 'a.yaml', `${HEAD}  # gen|\n`, [], ['gender']],
  ])('%s', async (_, path, text, some, none) => {
    const labels = (await offered(path, text)).options.map(({ label }) => label);
    expect(labels).toEqual(expect.arrayContaining([...some]));
    for (const label of none) expect(labels).not.toContain(label);
  });
});

test('an extension has its URL, and a profile replaces the whole text', async () => {
  const { options } = await offered('a.guide.json', guide('"extensions": "extension:|"'));
  expect(options.find(({ label }) => label === 'race')).toMatchObject({
    ...{ detail: 'extension', info: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race' },
  });
  const written = '{ "o": { "type": "Observation", "profile": "http://hl|" } }';
  const found = await offered('a.guide.json', written);
  expect(found.from).toBe(written.indexOf('http'));
  expect(found.options.map(({ label }) => label)).toContain('http://hl7.org/fhir/StructureDefinition/bp');
});

test('an element has its cardinality, type, binding and text; a column its declared type', async () => {
  const { from, options } = await offered('a.yaml', `${HEAD}  gen|`);
  expect(from).toBe(HEAD.length + 2);
  expect(options.find(({ label }) => label === 'gender')).toMatchObject({
    detail: '0..1 code',
    info: 'male | female | other | unknown\nrequired administrative-gender',
    key: true,
  });
  const columns = await offered('a.yaml', `${HEAD}  gender: { from: | }\n`);
  expect(columns.options.find(({ label }) => label === 'SURNAME')?.detail).toBe('VARCHAR(40) NULL');
});

test('a search is completed in a pack whose access.yaml had errors from the beginning', async () => {
  const { environment } = smallClinic({ 'access.yaml': 'users: { Practitioner: { patients: P } }\n' });
  const broken = await openBenchOn(environment);
  try {
    const text = 'users: { Practitioner: { patients: P';
    const body = { unsaved: {}, path: 'access.yaml', text: `${text} } }\n`, offset: text.length };
    const response = await broken.ask(`${broken.base}/api/complete`, { method: 'POST', body });
    const { options } = (await response.json()) as WireCompletion;
    expect(options.map(({ label }) => label)).toEqual(['all', 'Patient?']);
  } finally {
    await broken.close();
  }
});

test('a key of access.yaml has its meaning', async () => {
  const { options } = await offered('access.yaml', 'users: { Practitioner: { | } }\n');
  expect(options.find(({ label }) => label === 'also')?.info).toContain('types that belong to no patient');
});

test('names of temporarily invalid YAML stay; denied columns are not offered', async () => {
  const pack = 'name: small\ntitle: T\nzone: Europe/Warsaw\ndeny: [PERSON.SURNAME]\n';
  const { options } = await offered('a.yaml', `${HEAD}  gender: { from: | }\n`, { 'pack.yaml': pack });
  const labels = options.map(({ label }) => label);
  expect(labels).toContain('SEX');
  expect(labels).not.toContain('SURNAME');
  const broken = await offered('a.yaml', `${HEAD}  generalPractitioner: { ref: | }\n`, { 'person.yaml': 'mapping: "' });
  expect(broken.options.map(({ label }) => label)).toContain('people');
});
