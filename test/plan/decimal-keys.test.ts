/** Keys with digits after the point, as FileMan's inverse dates are (9999999 less the date): 6849795.859986. */
import { expect, test } from 'vitest';
import { idCodec } from '../../src/mapping/id-rule.ts';
import { parseMssqlType } from '../../src/sql/mssql/types.ts';
import { type Found, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE PERSON (ID INTEGER NOT NULL PRIMARY KEY);
CREATE TABLE LAB (PERSON INTEGER NOT NULL, INV DECIMAL(14,6) NOT NULL, ACC VARCHAR(9) COLLATE RTRIM,
  PRIMARY KEY (PERSON, INV));
CREATE TABLE RSLT (PERSON INTEGER NOT NULL, INV DECIMAL(14,6) NOT NULL, TEST VARCHAR(9) COLLATE RTRIM NOT NULL,
  VAL DECIMAL(9,2), PRIMARY KEY (PERSON, INV, TEST));
INSERT INTO PERSON VALUES (1), (2);
INSERT INTO LAB VALUES (1, 6849795.859986, 'A1'), (1, 6849795.86, 'A2'), (1, 6849796, 'A3'), (1, 10000000, 'A4'),
  (2, 6849795.859986, 'B1'), (2, 0.5, 'B2'), (2, -0.5, 'B3'), (2, -20, 'B4'), (2, 0, 'B5');
INSERT INTO RSLT VALUES (1, 6849795.859986, 'GLU', 104), (1, 6849795.859986, 'NA', 138), (2, 0.5, 'NA', 140);
`;
const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { own: "http://example.org/own" }\n',
  'small.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements: { active: "true" }
---
mapping: reports
resource: DiagnosticReport
source: { table: LAB, as: l, key: [PERSON, INV] }
id: "{PERSON}-{INV}"
elements:
  status: final
  code: { text: { const: Report } }
  identifier: [{ system: own, value: { from: ACC, via: code } }]
  subject: { ref: people, on: { ID: PERSON } }
  result:
    - each: { table: RSLT, as: r, on: { PERSON: PERSON, INV: INV }, order: [TEST] }
      item: { ref: results, on: { PERSON: r.PERSON, INV: r.INV, TEST: r.TEST } }
---
mapping: results
resource: Observation
source: { table: RSLT, as: r, key: [PERSON, INV, TEST] }
id: "{PERSON}-{INV}-{TEST}"
elements:
  status: final
  code: { text: { const: Result } }
  subject: { ref: people, on: { ID: PERSON } }
  valueQuantity: { value: { from: VAL } }
`,
};
const of = (query: string): Promise<Found> => searchSmall(SCHEMA, PACK, query);
const ALL = ['1-6849795.859986', '1-6849795.860000', '1-6849796.000000', '1-10000000.000000'];
const SMALL = ['2--20.000000', '2--0.500000', '2-0.000000', '2-0.500000', '2-6849795.859986'];

test('ids have all digits of the scale, in the order of the key, and pages follow them', async () => {
  expect((await of('DiagnosticReport')).ids).toEqual([...ALL, ...SMALL]);
  for (const sort of ['', '&_sort=_id', '&_sort=-_id']) {
    const found: string[] = [];
    let query: string | undefined = `DiagnosticReport?_count=2${sort}`;
    for (; query; ) {
      const page: Found = await of(query);
      found.push(...page.ids);
      query = page.next;
    }
    expect(found, sort).toEqual(sort.endsWith('-_id') ? [...ALL, ...SMALL].reverse() : [...ALL, ...SMALL]);
  }
});

test.each([
  ['1-6849795.860000', ['1-6849795.860000']],
  ['2--0.500000,2-0.000000', ['2--0.500000', '2-0.000000']],
  // Other ways to write the number, and numbers that no row can have.
  ['1-6849795.86,1-6849796,1-06849796.000000,1-6849795.8600001,1-6.849796e6,2--0.000000,2-.500000', []],
  ['1-6849795.859987,1-99999999999999999999.000000', []],
])('reads and finds ids as they are printed: %s', async (ids, found) => {
  expect((await of(`DiagnosticReport?_id=${ids}`)).ids).toEqual(found);
});

test('references carry such keys, and find by them', async () => {
  const { resources } = await of('DiagnosticReport?result=1-6849795.859986-NA');
  expect(resources.map(one => one['result'])).toEqual([
    [{ reference: 'Observation/1-6849795.859986-GLU' }, { reference: 'Observation/1-6849795.859986-NA' }],
  ]);
  expect((await of('Observation?_has:DiagnosticReport:result:identifier=B2')).ids).toEqual(['2-0.500000-NA']);
});

test('SQL Server writes them alike; a decimal without a scale stays a whole number', () => {
  const type = parseMssqlType('decimal(14,6)');
  const codec = type && idCodec(undefined, type);
  expect(codec?.print('6849795.860000')).toBe('6849795.860000');
  expect(codec?.print('0.000000')).toBe('0.000000');
  expect(codec?.parse('6849795.86')).toBeUndefined();
  const whole = parseMssqlType('decimal(14,0)');
  expect(whole && idCodec(undefined, whole)?.print('17')).toBe('17');
  const fraction = parseMssqlType('decimal(4,4)');
  expect(fraction && idCodec(undefined, fraction)?.print('-0.1250')).toBe('-0.1250');
});
