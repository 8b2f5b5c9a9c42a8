/** Keys in columns of FLOAT, as databases have them that count in numbers of eight bytes. */
import { expect, test } from 'vitest';
import { idCodec } from '../../src/mapping/id-rule.ts';
import { parseMssqlType } from '../../src/sql/mssql/types.ts';
import { type Found, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE PERSON (ID FLOAT NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM, MOTHER FLOAT, KIND FLOAT);
CREATE TABLE KIND (CD FLOAT NOT NULL PRIMARY KEY, MEANING VARCHAR(9) COLLATE RTRIM);
CREATE TABLE VISIT (NO DECIMAL(18,0) NOT NULL PRIMARY KEY, PERSON DECIMAL(18,0), REASON VARCHAR(9));
CREATE TABLE ALIAS (NO INTEGER NOT NULL PRIMARY KEY, PERSON INTEGER, AT FLOAT, TX VARCHAR(9) COLLATE RTRIM);
INSERT INTO PERSON VALUES (0, 'nobody', 0, 0), (600346, 'Ana', 0, 11), (600347, 'Bo', 600346, 12),
  (600348.5, 'half', 600346, 11), (-7, 'before', NULL, 11), (9007199254740994, 'wide', 9007199254740992, 11),
  (9223372036854775808, 'wider', NULL, 11), (1e300, 'widest', NULL, 11);
INSERT INTO KIND VALUES (11, 'MALE'), (12, 'FEMALE');
INSERT INTO VISIT VALUES (1, 600346, 'x'), (2, 600347, 'y'), (3, 0, 'z'), (4, 5, 'w');
INSERT INTO ALIAS VALUES (1, 600346, 600346, 'one'), (2, 600346, 600347, 'two'), (3, 600347, 0, 'three');
CREATE INDEX VISIT_PERSON ON VISIT (PERSON);
CREATE INDEX PERSON_MOTHER ON PERSON (MOTHER);
`;
const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { own: "http://example.org/own" }\n',
  'codes.yaml': 'sex: { system: http://hl7.org/fhir/administrative-gender, rows: { MALE: male, FEMALE: female } }\n',
  'person.yaml': `mapping: people
resource: Patient
source:
  table: PERSON
  as: p
  key: [ID]
  lookup: { k: { table: KIND, on: { CD: KIND } } }
id: "{ID}"
number: { from: ID }
elements:
  name: [{ family: { from: NM } }]
  gender: { from: k.MEANING, via: sex }
  identifier:
    - each: { table: ALIAS, as: a, on: { PERSON: ID }, order: [NO] }
      item: { system: own, value: { from: a.TX, via: code } }
    - each: { table: ALIAS, as: a, on: { AT: ID }, order: [NO] }
      item: { system: own, value: { from: a.TX, via: code } }
  link: [{ other: { ref: people, on: { ID: MOTHER } }, type: seealso, needs: [other] }]
---
mapping: visits
resource: Basic
source: { table: VISIT, as: v, key: [NO] }
id: "v-{NO}"
needs: [code]
elements:
  code: { text: { from: REASON } }
  subject: { ref: people, on: { ID: PERSON } }
`,
};
const of = (query: string): Promise<Found> => searchSmall(SCHEMA, PACK, query);

test('whole numbers are ids, in the order of the key; others have none', async () => {
  const { resources, ids } = await of('Patient');
  expect(ids).toEqual(['-7', '0', '600346', '600347', '9007199254740994']);
  expect(resources.map(one => one['gender'])).toEqual(['male', undefined, 'male', 'female', 'male']);
  const texts = (resources as readonly { identifier?: readonly { value: string }[] }[]).map(one =>
    one.identifier?.map(({ value }) => value),
  );
  expect(texts).toEqual([undefined, ['three'], ['one', 'two', 'one'], ['three', 'two'], undefined]);
  const first = await of('Patient?_count=3');
  expect(first.ids).toEqual(ids.slice(0, 3));
  expect(first.next).toBeDefined();
});

test.each([
  ['600346', ['600346']],
  ['-7,0', ['-7', '0']],
  ['9007199254740994', ['9007199254740994']],
  // Other ways to write a number, and other numbers that are that float, are no ids.
  ['600346.0,0600346,+600346,6.00346e5,-0,600348.5,600348', []],
  ['9007199254740995,9007199254740993,9223372036854775808,9223372036854775807', []],
])('reads and finds ids as they are printed: %s', async (ids, found) => {
  expect((await of(`Patient?_id=${ids}`)).ids).toEqual(found);
});

test('references lead to FLOAT from FLOAT and from DECIMAL, and back, by an index', async () => {
  const { resources } = await of('Basic');
  expect(resources.map(one => (one['subject'] as { reference?: string } | undefined)?.reference)).toEqual([
    'Patient/600346',
    'Patient/600347',
    'Patient/0',
    undefined,
  ]);
  const visits = await of('Basic?patient=600347');
  expect(visits.ids).toEqual(['v-2']);
  expect(visits.served.join()).toContain('VISIT_PERSON');
  expect((await of('Basic?patient.name=ana')).ids).toEqual(['v-1']);
  const children = await of('Patient?link=600346');
  expect(children.ids).toEqual(['600347']);
  expect(children.served.join()).toContain('PERSON_MOTHER');
  expect((await of('Patient?_has:Patient:link:gender=female')).ids).toEqual(['600346']);
  expect((await of('Patient?link=9007199254740992')).ids).toEqual([]);
  expect((await of('Patient?identifier=two')).ids).toEqual(['600346', '600347']);
});

test('SQL Server tests the same bounds', async () => {
  const { mssql } = await of('Patient?_id=600346');
  expect(mssql.join()).toContain(
    'p.ID = FLOOR(p.ID) AND p.ID >= -9223372036854775808E0 AND p.ID < 9223372036854775808E0',
  );
  // The shortest decimal of 32 bits stands for several whole numbers.
  const single = parseMssqlType('REAL');
  expect(single && idCodec(undefined, single)).toBeUndefined();
});
