/**
 * Searches by date over periods begin with bounds of single columns, which an index serves, however many forms a date
 * has. Searches by codes of several systems begin with a list of one column's values.
 */
import { describe, expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE VIS (NO INTEGER NOT NULL PRIMARY KEY, FR DATETIME, UNTIL DATETIME, ADM CHAR(8), ADM_TM CHAR(4), SCHD DATETIME, DSCH DATETIME);
CREATE INDEX VIS_FR ON VIS (FR);
CREATE INDEX VIS_UNTIL ON VIS (UNTIL);
CREATE INDEX VIS_ADM ON VIS (ADM);
CREATE INDEX VIS_SCHD ON VIS (SCHD);
CREATE INDEX VIS_DSCH ON VIS (DSCH);
INSERT INTO VIS VALUES
  (1, '2024-03-10 08:30:00.000', '2024-03-10 09:30:00.000', '20240310 ', '0830', '2024-03-09 08:00:00.000', '2024-03-10 09:30:00.000'),
  (2, '2024-04-10 08:30:00.000', '2024-04-10 09:30:00.000', '20240410', '', '2024-04-09 08:00:00.000', '2024-04-10 00:00:00.000'),
  (3, '2024-03-31 08:30:00.000', NULL, '', '', '2024-03-31 08:00:00.000', NULL),
  (4, '2024-03-01 00:00:00.000', '2024-04-02 00:00:00.000', '20240300', '', NULL, '2024-03-30 00:00:00.000'),
  (5, NULL, '2024-03-30 00:00:00.000', '', '', NULL, '2024-03-30 00:00:00.000');
`;

const packOf = (period: string) => ({
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'm.yaml': `mapping: visits
resource: Encounter
source: { table: VIS, as: v, key: [NO] }
id: "{NO}"
elements:
  status: finished
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB
  period: ${period}
`,
});

const COLUMNS = '{ start: { from: FR }, end: { from: UNTIL } }';
const PAIR =
  '{ start: { from: [ADM, ADM_TM], via: { date-and-time: { date: ymd8, time: hhmm } } }, end: { from: DSCH } }';
const FIRST = `
    start: { first: [{ from: [ADM, ADM_TM], via: { date-and-time: { date: ymd8, time: hhmm } } }, { from: SCHD }] }
    end: { first: [{ from: DSCH, via: date, if: { absent: [ADM_TM], present: [ADM] } }, { from: DSCH }] }`;

/**
 * The beginning of the counting statement's condition, for SQL Server: in the column's own collation, as in its index.
 */
const ADM = 'v\\.ADM >= @p\\d';
const ONE = 'v\\.FR >= @p\\d AND v\\.UNTIL < @p\\d';
const EITHER = `\\(${ADM} OR v\\.SCHD >= @p\\d\\)`;

describe('a period of', () => {
  test.each([
    ['columns, all within', COLUMNS, '2024-03', ['1'], `.*${ONE}$`],
    ['columns, later start', COLUMNS, 'sa2024-03-05', ['1', '2', '3'], '.*v\\.FR >= @p\\d$'],
    ['columns, earlier end', COLUMNS, 'eb2024-04-01', ['1', '5'], '.*v\\.UNTIL < @p\\d$'],
    ['a day and a time, all within', PAIR, '2024-03', ['1', '4'], `${ADM} AND `],
    ['a day and a time, later start', PAIR, 'sa2024-03-31', ['2'], `${ADM} AND `],
    ['a day and a time, earlier end', PAIR, 'eb2024-04-01', ['1', '4', '5'], '.*v\\.DSCH < @p\\d$'],
    ['the first of several, all within', FIRST, '2024-03', ['1', '4'], `${EITHER} AND v\\.DSCH < @p\\d AND `],
    ['the first of several, later start', FIRST, 'sa2024-03-05', ['1', '2', '3'], `${EITHER} AND `],
    ['the first of several, earlier end', FIRST, 'eb2024-04-01', ['1', '4', '5'], 'v\\.DSCH < @p\\d AND '],
  ])('%s', async (title, period, date, ids, bounds) => {
    const search = await openSmall(SCHEMA, packOf(period));
    expect((await search(`Encounter?date=${date}`)).ids).toEqual(ids);
    // A count has no ORDER BY that would make SQLite walk the key.
    const { served, mssql } = await search(`Encounter?date=${date}&_summary=count`);
    expect(mssql.join('\n')).toMatch(new RegExp(`^WHERE ${bounds}`, 'm'));
    // Without statistics, SQLite estimates two indexes for half of the rows each as dearer than all rows.
    if (title !== 'the first of several, later start') expect(served.join('\n')).toMatch(/^SEARCH v USING/m);
  });
});

describe('a code that one column has behind prefixes', () => {
  const FACTS = `
CREATE TABLE FACT (NO INTEGER NOT NULL PRIMARY KEY, CONCEPT VARCHAR(50) NOT NULL, KIND VARCHAR(9));
CREATE INDEX FACT_CONCEPT ON FACT (CONCEPT);
INSERT INTO FACT VALUES (1, 'LOINC:1', 'a'), (2, 'LCL:1', 'a'), (3, 'loinc:1', 'b'), (4, 'LOINC:2', NULL), (5, 'X:1', 'c'), (6, 'LOINC:', '1');
`;
  const coding = (by: string, also = ''): string =>
    `[{ first: [{ system: urn:l, code: { from: CONCEPT, via: [${by}, code] } }, { system: urn:o, code: { from: CONCEPT, via: [{ prefix: "LCL:" }, code] } }${also}] }]`;
  const pack = (written: string) => ({
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
    'm.yaml': `mapping: facts
resource: Observation
source: { table: FACT, as: f, key: [NO] }
id: "{NO}"
compartment: { none: a test }
elements:
  status: final
  code: { text: x }
  valueCodeableConcept: { coding: ${written} }
`,
  });
  const PREFIX = '{ prefix: ["LOINC:", "loinc:"] }';

  test.each([
    ['urn:l|1', ['1', '3']],
    ['urn:o|1', ['2']],
    ['1', ['1', '2', '3']],
    ['1,2', ['1', '2', '3', '4']],
  ])('is searched by the index: %s', async (code, ids) => {
    const search = await openSmall(FACTS, pack(coding(PREFIX)));
    expect((await search(`Observation?value-concept=${code}`)).ids).toEqual(ids);
    const { served, mssql } = await search(`Observation?value-concept=${code}&_summary=count`);
    expect(served.join('\n')).toMatch(/^SEARCH f USING .*INDEX FACT_CONCEPT \(CONCEPT=\?\)/m);
    expect(mssql.join('\n')).toMatch(code.includes('|') ? /\(f\.CONCEPT (?:=|IN) / : /^WHERE \(f\.CONCEPT IN /m);
  });

  test('is found by system alone, by :not and by :missing', async () => {
    const search = await openSmall(FACTS, pack(coding(PREFIX)));
    expect((await search('Observation?value-concept=urn:l|')).ids).toEqual(['1', '3', '4']);
    expect((await search('Observation?value-concept:not=1')).ids).toEqual(['4', '5', '6']);
    expect((await search('Observation?value-concept:not=urn:o|1')).ids).toEqual(['1', '3', '4', '5', '6']);
  });

  test('has no list where an alternative is of another column', async () => {
    const other = ', { system: urn:k, code: { from: KIND, via: code } }';
    const search = await openSmall(FACTS, pack(coding(PREFIX, other)));
    expect((await search('Observation?value-concept=1')).ids).toEqual(['1', '2', '3', '6']);
    expect((await search('Observation?value-concept=c')).ids).toEqual(['5']);
  });
});

describe('a code that is stored without its point', () => {
  const DIAGNOSES = `
CREATE TABLE DX (NO INTEGER NOT NULL PRIMARY KEY, ICD CHAR(7) COLLATE RTRIM, VERSION SMALLINT);
CREATE INDEX DX_ICD ON DX (ICD);
INSERT INTO DX VALUES (1, 'E119', 10), (2, 'E119   ', 10), (3, 'E11.9', 10), (4, 'E1190', 9), (5, 'I10', 10), (6, '4019', 9), (7, 'e119', 10);
`;
  const PACK = {
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { icd10: http://hl7.org/fhir/sid/icd-10-cm }\n',
    'm.yaml': `mapping: diagnoses
resource: Condition
source: { table: DX, as: d, key: [NO] }
id: "{NO}"
compartment: { none: a test }
elements:
  subject: { display: x }
  code:
    coding:
      - first:
          - { system: icd10, code: { from: ICD, via: [{ dotted: 3 }, code] }, if: { VERSION: 10 } }
          - { system: urn:icd9, code: { from: ICD, via: [{ dotted: 4 }, code] }, if: { ICD: { matches: "E*" } } }
          - { system: urn:icd9, code: { from: ICD, via: [{ dotted: 3 }, code] } }
`,
  };

  test.each([
    ['code=http://hl7.org/fhir/sid/icd-10-cm|E11.9', ['1', '2', '3', '7']],
    ['code=http://hl7.org/fhir/sid/icd-10-cm|E119', []],
    ['code=urn:icd9|E119.0,I10', ['4', '5']],
    ['code=urn:icd9|401.9', ['6']],
    ['code=E11.9', ['1', '2', '3', '7']],
  ])('is found by an index: %s', async (query, ids) => {
    const { served, ...found } = await (await openSmall(DIAGNOSES, PACK))(`Condition?${query}`);
    expect(found.ids).toEqual(ids);
    if (ids.length > 0) expect(served.join('\n')).toMatch(/SEARCH d USING INDEX DX_ICD/);
    expect(served.join('\n')).not.toMatch(/SCAN d/);
  });
});
