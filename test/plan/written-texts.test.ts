/** Texts in columns without SQLite's TEXT affinity: a text that looks like a number is stored as one. */
import { expect, it } from 'vitest';
import { openSmall } from './small-pack.ts';

/** https://sqlite.org/datatype3.html#determination_of_column_affinity */
const NAMES = ['STRING', 'ENUM', 'JSON', ''];

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\nsystems: { mrn: https://clinic.example.org/mrn }\n',
  'codes.yaml': `sex:
  system: http://hl7.org/fhir/administrative-gender
  rows: { "1": male, "2": female, D: other }
`,
  'a.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [NO], where: { KIND: { not: "9" } } }
id: "{NO}"
elements:
  identifier: [{ system: mrn, value: { from: MRN, via: code } }]
  name: [{ family: { from: NAME } }]
  gender: { from: SEX, via: sex }
  contact:
    - each: { table: FRIEND, as: f, on: { MRN: MRN }, order: [NO] }
      item: { name: { text: { from: f.NAME } } }
---
mapping: friends
resource: RelatedPerson
source: { table: FRIEND, as: f, key: [NO] }
id: "{NO}"
needs: [patient]
elements:
  patient: { ref: people, on: { MRN: MRN } }
`,
};

const schema = (type: string, rows: string): string =>
  `CREATE TABLE PERSON (NO INTEGER NOT NULL PRIMARY KEY, MRN ${type}, NAME ${type}, SEX ${type}, KIND ${type});
   CREATE INDEX PERSON_MRN ON PERSON (MRN COLLATE RTRIM);
   CREATE TABLE FRIEND (NO INTEGER NOT NULL PRIMARY KEY, MRN VARCHAR(9), NAME ${type});
   INSERT INTO PERSON VALUES ${rows};
   INSERT INTO FRIEND VALUES (7, '1001', 5), (8, 'A-1', 'Ann')`;

it.each(NAMES)('numbers in a column of type %j are texts', async type => {
  const search = await openSmall(
    schema(
      type,
      "(1, 1001, 'Kowalski', 1, 1), (2, 'A-1', 42, 'D', NULL), (3, 1003, x'00', 2, 9), (4, 1004, 'Ann', 2, 'x')",
    ),
    PACK,
  );
  const ids = async (query: string): Promise<readonly string[]> => (await search(query)).ids;
  const { resources } = await search('Patient');
  expect(resources).toMatchObject([
    { id: '1', identifier: [{ value: '1001' }], gender: 'male', contact: [{ name: { text: '5' } }] },
    { id: '2', identifier: [{ value: 'A-1' }], name: [{ family: '42' }], gender: 'other' },
    { id: '4', gender: 'female' },
  ]);
  expect(await ids('Patient?identifier=1001')).toEqual(['1']);
  expect(await ids('Patient?identifier=A-1,1004')).toEqual(['2', '4']);
  expect(await ids('Patient?family=42')).toEqual(['2']);
  expect(await ids('Patient?gender=male')).toEqual(['1']);
  expect(await ids('Patient?gender=female,other')).toEqual(['2', '4']);
  expect(await ids('Patient?gender:not=male')).toEqual(['2', '4']);
  expect(await ids('Patient?_sort=identifier')).toEqual(['1', '4', '2']);
  expect(await ids('RelatedPerson?patient=1')).toEqual(['7']);
  expect(await ids('RelatedPerson?_include=RelatedPerson:patient&_id=8')).toEqual(['8', '2']);
});

it.each(NAMES)('a column of type %j with texts only is compared directly', async type => {
  const search = await openSmall(schema(type, "(1, 'A-1', 'Kowalski', 'D', 'x'), (2, 'B-1', NULL, 'D', 'x')"), PACK);
  const { ids, sql, served } = await search('Patient?identifier=B-1');
  expect(ids).toEqual(['2']);
  expect(sql[0]).not.toContain('CAST');
  expect(served.join()).toContain('PERSON_MRN');
});
