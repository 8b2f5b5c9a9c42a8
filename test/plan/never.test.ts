/**
 * Valid filters that nothing can match: a chain along references without targets, `_has` of a type that is not served.
 * They find nothing; omitted, they would find everything.
 */
import { expect, test } from 'vitest';
import { searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE SHOT (NO INTEGER NOT NULL PRIMARY KEY, MAKER VARCHAR(20) COLLATE RTRIM, PERSON INTEGER);
CREATE TABLE PERSON (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM);
INSERT INTO PERSON VALUES (1, 'Ada'), (2, 'Bo');
INSERT INTO SHOT VALUES (10, 'GlaxoSmithKline', 1), (11, NULL, 2);
`;

// A vaccine's manufacturer is a name only, and so are persons.
const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'shot.yaml': `mapping: shots
resource: Immunization
source: { table: SHOT, as: s, key: [NO] }
id: "{NO}"
elements:
  status: completed
  vaccineCode: { text: Vaccine }
  patient: { ref: people, on: { NO: PERSON } }
  occurrenceString: once
  manufacturer: { display: { from: MAKER }, identifier: { system: urn:makers, value: { from: MAKER, via: code } } }
needs: [patient]
`,
  'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [NO] }
id: "{NO}"
elements:
  name: [{ family: { from: NM } }]
`,
};

const idsOf = async (query: string): Promise<readonly string[]> => (await searchSmall(SCHEMA, PACK, query)).ids;

test.each([
  ['Immunization?manufacturer.name=glaxo', 'references that are names lead to no resource'],
  ['Immunization?manufacturer:Organization.name=glaxo', 'likewise of one type'],
  ['Immunization?patient.birthdate=1970', 'no mapping gives persons a birthday'],
  ['Immunization?patient.general-practitioner.name=x', 'nor a practitioner'],
  ['Patient?_has:Observation:patient:code=1', 'there are no observations'],
  ['Patient?_has:Immunization:performer:name=x', 'nobody is said to have given a shot'],
  ['Patient?_has:Immunization:patient:lot-number=1', 'shots have no lot number'],
])('%s finds nothing: %s', async query => {
  expect(await idsOf(query)).toEqual([]);
});

test.each([
  ['Immunization?patient.birthdate:missing=true', ['10', '11']],
  ['Immunization?patient.birthdate:missing=false', []],
  ['Immunization?patient.gender:not=male', ['10', '11']],
  ['Immunization?patient.name=ada', ['10']],
  ['Patient?_has:Immunization:patient:lot-number:missing=true', ['1', '2']],
  ['Patient?_has:Coverage:payor:type=x', []],
])('%s: an element that no mapping makes is missing in every resource', async (query, ids) => {
  expect(await idsOf(query)).toEqual(ids);
});

test('a chain over several types is refused if one of them has unsearchable values', async () => {
  // The name of a group is a concatenation, which has no inverse.
  const pack = {
    ...PACK,
    'group.yaml': `mapping: groups
resource: Group
source: { table: PERSON, as: g, key: [NO] }
id: "g{NO}"
elements:
  type: person
  actual: true
  identifier: [{ value: { join: [{ from: NM }, x], with: "-" } }]
`,
    'seen.yaml': `mapping: seen
resource: Observation
source: { table: SHOT, as: o, key: [NO] }
id: "{NO}"
elements:
  status: final
  code: { text: x }
  subject: { first: [{ ref: people, on: { NO: PERSON }, if: { NO: "10" } }, { ref: groups, on: { NO: PERSON } }] }
`,
    'person.yaml': PACK['person.yaml'].replace(
      'elements:',
      'elements:\n  identifier: [{ value: { from: NM, via: code } }]',
    ),
  };
  const search = async (query: string) => (await searchSmall(SCHEMA, pack, query)).ids;
  expect(await search('Observation?subject:Patient.identifier=Ada')).toEqual(['10']);
  await expect(search('Observation?subject.identifier=Ada')).rejects.toThrow('cannot be searched by identifier');
  expect(await search('Observation?subject.name=ada')).toEqual(['10']);
});

test('a parameter that FHIR does not have is unknown behind a chain and _has, too', async () => {
  await expect(idsOf('Immunization?patient.colour=red')).rejects.toThrow();
  await expect(idsOf('Patient?_has:Immunization:patient:colour=red')).rejects.toThrow();
});
