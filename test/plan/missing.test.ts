/**
 * `:missing` for an element without a value: only extensions, or values of a type that the parameter does not read.
 * https://hl7.org/fhir/R4/search.html#modifiers
 */
import { expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE PERSON (
  NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM, RACE VARCHAR(10) COLLATE RTRIM, RACE_TX VARCHAR(20) COLLATE RTRIM,
  SEX VARCHAR(1) COLLATE RTRIM);
INSERT INTO PERSON VALUES (1, 'Ada', '2106-3', 'White', 'F'), (2, NULL, NULL, 'asked, no answer', NULL), (3, 'Bo', NULL, NULL, 'M');
CREATE TABLE DONE (
  NO INTEGER NOT NULL PRIMARY KEY, PERSON INTEGER NOT NULL, DAY DATE, WORDS VARCHAR(30) COLLATE RTRIM, AGE INTEGER, MAKER VARCHAR(20));
INSERT INTO DONE VALUES (1, 1, '2020-03-01', NULL, NULL, 'Acme'), (2, 1, NULL, 'in spring', NULL, 'Acme'), (3, 2, NULL, NULL, 40, NULL);
`;

const DAR = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason';
const RACE = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-race';

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [NO] }
id: "{NO}"
elements:
  extension:
    - url: { const: ${RACE} }
      needs: [extension]
      extension:
        - { needs: [valueCoding], url: { const: ombCategory }, valueCoding: { system: urn:oid:2.16.840.1.113883.6.238, code: { from: RACE, via: code } } }
        - { needs: [valueString], url: { const: text }, valueString: { from: RACE_TX } }
  name:
    - first:
        - { family: { from: NM } }
        - const: { extension: [{ url: ${DAR}, valueCode: unknown }] }
`,
  'done.yaml': `mapping: done
resource: Procedure
source: { table: DONE, as: d, key: [NO] }
id: "{NO}"
needs: [subject]
elements:
  status: completed
  subject: { ref: people, on: { NO: PERSON } }
  first:
    - performedDateTime: { from: DAY }
    - performedString: { from: WORDS }
    - performedAge: { value: { from: AGE }, code: a, system: http://unitsofmeasure.org }
  asserter: { display: { from: MAKER } }
`,
};

test.each([
  ['Patient?name:missing=true', ['2']],
  ['Patient?name:missing=false', ['1', '3']],
  ['Patient?family:missing=true', ['2']],
  ['Patient?race:missing=true', ['2', '3']],
  ['Patient?race:missing=false', ['1']],
  ['Procedure?date:missing=true', ['2', '3']],
  ['Procedure?date:missing=false', ['1']],
  ['Procedure?date=2020', ['1']],
  ['Procedure?date:missing=true&subject:missing=false', ['2', '3']],
])('%s', async (query, ids) => {
  expect((await (await openSmall(SCHEMA, PACK))(query)).ids).toEqual(ids);
});
