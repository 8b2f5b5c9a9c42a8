/**
 * Tokens whose type or system ignores case: UUIDs, e-mail addresses, ICD-10-CM codes; no others do.
 * https://hl7.org/fhir/R4/search.html#token
 */
import { describe, expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE PERSON (
  NO INTEGER NOT NULL PRIMARY KEY, MAIL VARCHAR(60) COLLATE RTRIM, PHONE VARCHAR(20) COLLATE RTRIM, KEY_TX CHAR(36) COLLATE RTRIM,
  LOCAL VARCHAR(10) COLLATE RTRIM, LANG VARCHAR(10) COLLATE RTRIM);
CREATE INDEX PERSON_MAIL ON PERSON (MAIL);
CREATE INDEX PERSON_KEY ON PERSON (KEY_TX);
INSERT INTO PERSON VALUES
  (1, 'Ada.L@Example.org', 'x12', '6F9619FF-8b86-d011-b42d-00cf4fc964ff', 'Ab', 'en-US'),
  (2, 'ada.l@example.org ', 'X12', '7f9619ff-8b86-d011-b42d-00cf4fc964ff', 'aB', 'EN-us'),
  (3, 'adb', NULL, NULL, NULL, NULL),
  (4, 'Élise@example.org', NULL, 'élise', NULL, 'fr');
CREATE TABLE PROBLEM (
  NO INTEGER NOT NULL PRIMARY KEY, PERSON INTEGER, CD VARCHAR(10) COLLATE RTRIM, SYS VARCHAR(4) COLLATE RTRIM,
  MIME VARCHAR(20) COLLATE RTRIM);
CREATE INDEX PROBLEM_CD ON PROBLEM (CD);
INSERT INTO PROBLEM VALUES
  (1, 1, 'E11.9', 'ICD', 'text/plain'), (2, 1, 'e11.9', 'ICD', 'TEXT/plain'), (3, 1, 'E11.9', 'OWN', 'text/html'),
  (4, 1, 'e11.9', 'OWN', NULL), (5, 1, 'T36.0X1A', 'ICD', NULL), (6, 1, 't36.0x1a', 'ICD', NULL);
`;

const PACK = {
  'pack.yaml': `name: small
title: Small
zone: UTC
systems: { icd: http://hl7.org/fhir/sid/icd-10-cm, own: https://clinic.example.org/codes }
`,
  'codes.yaml': `system-name:
  rows: { ICD: http://hl7.org/fhir/sid/icd-10-cm, OWN: https://clinic.example.org/codes }
`,
  'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [NO] }
id: "{NO}"
elements:
  identifier: [{ system: own, value: { from: KEY_TX, via: code } }, { system: own, value: { from: LOCAL, via: code } }]
  telecom: [{ system: email, value: { from: MAIL, via: code } }, { system: phone, value: { from: PHONE, via: code } }]
  communication: [{ needs: [language], language: { coding: [{ system: urn:ietf:bcp:47, code: { from: LANG, via: code } }] } }]
`,
  'problem.yaml': `mapping: problems
resource: Condition
source: { table: PROBLEM, as: b, key: [NO] }
id: "{NO}"
elements:
  subject: { ref: people, on: { NO: PERSON } }
  code: { coding: [{ system: { from: SYS, via: system-name }, code: { from: CD, via: code } }] }
needs: [subject]
`,
  'document.yaml': `mapping: documents
resource: DocumentReference
source: { table: PROBLEM, as: d, key: [NO] }
id: "{NO}"
elements:
  status: current
  content: [{ attachment: { contentType: { from: MIME, via: code }, title: { from: NO, via: text } } }]
needs: [content]
`,
};

const ICD = 'http://hl7.org/fhir/sid/icd-10-cm';
const OWN = 'https://clinic.example.org/codes';

describe('case-insensitive tokens match in any case', async () => {
  test.each([
    ['Patient?email=ADA.l@example.ORG', ['1', '2']],
    ['Patient?telecom=ada.l@example.org', ['1', '2']],
    ['Patient?email=ADB', ['3']],
    ['Patient?email=élise@EXAMPLE.org', []],
    ['Patient?email=Élise@EXAMPLE.org', ['4']],
    ['Patient?email:not=ADA.L@EXAMPLE.ORG', ['3', '4']],
    ['Patient?identifier=6f9619ff-8b86-d011-b42d-00cf4fc964ff', ['1']],
    [`Patient?identifier=${OWN}|7F9619FF-8B86-D011-B42D-00CF4FC964FF`, ['2']],
    ['Patient?language=EN-US', ['1', '2']],
    [`Condition?code=${ICD}|e11.9`, ['1', '2']],
    [`Condition?code=${ICD}|t36.0x1A`, ['5', '6']],
    ['Condition?code=E11.9', ['1', '2', '3']],
    ['Condition?code=e11.9', ['1', '2', '4']],
    [`Condition?code:not=${ICD}|E11.9`, ['3', '4', '5', '6']],
    ['DocumentReference?contenttype=Text/Plain', ['1', '2']],
  ])('%s', async (query, ids) => {
    expect((await (await openSmall(SCHEMA, PACK))(query)).ids).toEqual(ids);
  });

  test.each([
    ['Patient?phone=X12', ['2']],
    ['Patient?identifier=AB', []],
    ['Patient?identifier=aB', ['2']],
    [`Condition?code=${OWN}|e11.9`, ['4']],
  ])('other tokens are case-sensitive: %s', async (query, ids) => {
    expect((await (await openSmall(SCHEMA, PACK))(query)).ids).toEqual(ids);
  });

  test('many values become one comparison, in any case', async () => {
    const search = await openSmall(SCHEMA, PACK);
    const many = Array.from({ length: 300 }, (_, i) => `nobody-${i}@example.org`);
    const { ids, mssql } = await search(`Patient?email=${[...many, 'ADA.L@example.org'].join()}`);
    expect(ids).toEqual(['1', '2']);
    expect(mssql.join().length).toBeLessThan(20_000);
  });

  test('an index is searched by the spellings of a code or of its prefix', async () => {
    const search = await openSmall(SCHEMA, PACK);
    expect((await search(`Condition?code=${ICD}|e11.9`)).sql.join()).toMatch(
      /"?b"?\."?CD"? COLLATE RTRIM IN \(\?, \?\)/,
    );
    const { sql } = await search('Patient?email=ada.l@example.org');
    expect(sql.join()).toMatch(/MAIL COLLATE RTRIM >= \? AND/);
  });
});
