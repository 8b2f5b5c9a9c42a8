/**
 * Filters that are understood and that nothing can match: a chain along references that lead to no resource, `_has` of what is not
 * here. They find nothing; left out, they would find everything.
 */
import { expect, test } from 'vitest';
import { searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE SHOT (NO INTEGER NOT NULL PRIMARY KEY, MAKER VARCHAR(20) COLLATE RTRIM, PERSON INTEGER);
CREATE TABLE PERSON (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM);
INSERT INTO PERSON VALUES (1, 'Ada'), (2, 'Bo');
INSERT INTO SHOT VALUES (10, 'GlaxoSmithKline', 1), (11, NULL, 2);
`;

// The maker of a vaccine is a name; persons are known by name alone.
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
  manufacturer: { display: { from: MAKER }, identifier: { value: { from: MAKER, via: code } } }
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

test('what is asked about a missing value is not taken for a value that nothing has', async () => {
  await expect(idsOf('Immunization?patient.birthdate:missing=true')).rejects.toThrow();
  expect(await idsOf('Immunization?patient.name=ada')).toEqual(['10']);
});

test('what FHIR does not know is not understood, and stays as Prefer says', async () => {
  await expect(idsOf('Immunization?patient.colour=red')).rejects.toThrow();
  await expect(idsOf('Patient?_has:Immunization:patient:colour=red')).rejects.toThrow();
});
