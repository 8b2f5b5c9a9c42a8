/**
 * Numbers as SQLite files store them, through the whole server: the emitted value is the stored one, and searches find
 * it.
 */
import { describe, expect, test } from 'vitest';
import { compareDecimals } from '../../src/mapping/codecs/decimal.ts';
import { type Found, openSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE PT (ID NUMERIC, SEX INT, NAME TEXT);
CREATE UNIQUE INDEX PT_ID ON PT (ID);
INSERT INTO PT VALUES (1, 1, 'a'), (2, 2, 'b'), (1.5, 1, 'c'), ('x', 1, 'd'), (9007199254740993, '1', 'e'), (x'31', 1, 'f'), (4, 'M', 'g'), (5, 1.5, 'h');
CREATE TABLE OBS (NO INTEGER PRIMARY KEY, PT_ID NUMBER, TEMP NUMERIC, DOSE DECIMAL(5,1), N INT, R REAL);
INSERT INTO OBS VALUES
  (1, 1, 97.6, 12.5, 5, 0.1),
  (2, 1, 98, 12.55, 1.5, 0.30000000000000004),
  (3, 2, '97,6', 12, 'many', 9e999),
  (4, 9007199254740993, 1e-7, 1e-7, 9007199254740993, 1e-7),
  (5, 2, NULL, 99999.99, NULL, -1.5),
  (6, 'x', 1e21, x'00', 9223372036854775807, 5);
`;

const MAPPING = `mapping: people
resource: Patient
source: { table: PT, as: p, key: [ID] }
id: "{ID}"
elements:
  identifier: [{ system: "urn:x", value: { from: ID } }]
  gender: { from: SEX, via: sex }
  name: [{ family: { from: NAME } }]
---
mapping: temperatures
resource: Observation
source: { table: OBS, as: o, key: [NO] }
id: "{NO}"
elements:
  status: final
  code: { text: x }
  subject: { ref: people, on: { ID: PT_ID } }
  valueQuantity: { value: { from: $COL } }
  interpretation: [{ text: { from: N } }]
`;

const open = (column: string) =>
  openSmall(SCHEMA, {
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
    'codes.yaml': 'sex:\n  rows: { "1": male, "2": female }\n  else: unknown\n',
    'm.yaml': MAPPING.replace('$COL', column),
  });

/** The digits in the JSON. */
const valuesOf = ({ json }: Found): Readonly<Record<string, string>> => {
  const found = [
    ...json.matchAll(
      /"resourceType":"Observation","id":"(\d+)"(?:(?!"resourceType").)*,"valueQuantity":\{"value":([^,}]+)/g,
    ),
  ];
  return Object.fromEntries(found.map(([, id, digits]) => [id, digits]));
};

describe.each([
  ['TEMP', { 1: '97.6', 2: '98', 4: '0.0000001', 6: '1000000000000000000000' }],
  ['DOSE', { 1: '12.5', 2: '12.55', 3: '12.0', 4: '0.0000001', 5: '99999.99' }],
  ['N', { 1: '5', 2: '1.5', 4: '9007199254740993', 6: '9223372036854775807' }],
  ['R', { 1: '0.1', 2: '0.30000000000000004', 4: '0.0000001', 5: '-1.5', 6: '5' }],
] as const)('a quantity from %s', (column, wanted) => {
  test('is the stored number', async () => {
    const search = await open(column);
    expect(valuesOf(await search('Observation'))).toEqual(wanted);
  });

  test('is found by its value and by ranges around it', async () => {
    const search = await open(column);
    const given = Object.entries(wanted);
    for (const [id, value] of given) {
      expect((await search(`Observation?value-quantity=${value}`)).ids, `${value}`).toContain(id);
      for (const [prefix, holds] of [
        ['gt', (one: string) => compareDecimals(one, value) > 0],
        ['ge', (one: string) => compareDecimals(one, value) >= 0],
        ['lt', (one: string) => compareDecimals(one, value) < 0],
        ['le', (one: string) => compareDecimals(one, value) <= 0],
      ] as const) {
        const { ids } = await search(`Observation?value-quantity=${prefix}${value}`);
        expect(ids, `${prefix}${value}`).toEqual(given.filter(([, one]) => holds(one)).map(([one]) => one));
      }
    }
    const { ids: missing } = await search('Observation?value-quantity:missing=true');
    expect(missing).toEqual(['1', '2', '3', '4', '5', '6'].filter(id => !given.some(([one]) => one === id)));
  });

  test('sorts across pages', async () => {
    const search = await open(column);
    const given = Object.entries(wanted);
    const sorted = given.toSorted(([, a], [, b]) => compareDecimals(a, b)).map(([id]) => id);
    const rest = ['1', '2', '3', '4', '5', '6'].filter(id => !sorted.includes(id));
    for (const [by, first] of [
      ['value-quantity', sorted],
      ['-value-quantity', sorted.toReversed()],
    ] as const) {
      const ids: string[] = [];
      let query: string | undefined = `Observation?_sort=${by}&_count=2`;
      while (query !== undefined) {
        const page: Found = await search(query);
        ids.push(...page.ids);
        query = page.next;
      }
      expect(ids, by).toEqual([...first, ...rest]);
    }
  });
});

describe('numbers among other values', () => {
  const schema = `CREATE TABLE OBS (NO INTEGER PRIMARY KEY, PT_ID INT, TEMP DECIMAL(5,1), N INT);
    CREATE TABLE PT (ID INT, SEX INT, NAME TEXT); CREATE INDEX PT_ID ON PT (ID); CREATE INDEX PT_SEX ON PT (SEX);
    CREATE INDEX OBS_TEMP ON OBS (TEMP);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 90)
    INSERT INTO OBS SELECT i, 1, CASE i % 3 WHEN 0 THEN CASE i % 2 WHEN 0 THEN '' ELSE 'N/A' END ELSE i END, 1 FROM n;
    INSERT INTO PT SELECT NO, TEMP, 'a' FROM OBS; INSERT INTO PT VALUES ('x', 1, 'b');`;
  const pack = {
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
    'codes.yaml': 'sex:\n  rows: { "1": male, "2": female }\n',
    'm.yaml': MAPPING.replace('$COL', 'TEMP'),
  };

  test.each([
    [
      'Observation?value-quantity=gt85',
      ['86', '88', '89'],
      'o USING (COVERING )?INDEX OBS_TEMP \\(TEMP>\\? AND TEMP<\\?\\)',
    ],
    [
      'Observation?value-quantity=lt5',
      ['1', '2', '4'],
      'o USING (COVERING )?INDEX OBS_TEMP \\(TEMP>\\? AND TEMP<\\?\\)',
    ],
    ['Observation?value-quantity=7', ['7'], 'o USING (COVERING )?INDEX OBS_TEMP \\(TEMP>\\? AND TEMP<\\?\\)'],
    ['Patient?identifier=7', ['7'], 'p USING (COVERING )?INDEX PT_ID \\(ID=\\?\\)'],
    ['Patient?gender=female', ['2'], 'p USING (COVERING )?INDEX PT_SEX \\(SEX=\\?\\)'],
  ])('%s', async (query, ids, index) => {
    const search = await openSmall(schema, pack);
    expect((await search(query)).ids).toEqual(ids);
    const { served, sql } = await search(`${query}&_summary=count`);
    expect(served.join('\n'), sql.join('\n')).toMatch(new RegExp(`SEARCH ${index}`));
  });

  test('sort by the index', async () => {
    const search = await openSmall(schema, pack);
    const first = await search('Observation?_sort=-value-quantity&_count=3');
    const second = await search(first.next ?? '');
    expect([...first.ids, ...second.ids]).toEqual(['89', '88', '86', '85', '83', '82']);
    for (const { served } of [first, second]) {
      expect(served.join('\n')).toMatch(/(SEARCH|SCAN) o USING INDEX OBS_TEMP/);
      expect(served.join('\n')).not.toMatch(/USE TEMP B-TREE FOR ORDER BY$/m);
    }
  });
});

describe('keys, codes and joins', () => {
  test('a row without a whole number as its key has no id, and is not served', async () => {
    const search = await open('TEMP');
    const { ids } = await search('Patient');
    expect(ids.toSorted()).toEqual(['1', '2', '4', '5', '9007199254740993']);
    for (const id of ids) expect((await search(`Patient?_id=${id}`)).ids).toEqual([id]);
    for (const id of ['1.5', 'x', '9007199254740992', '3']) expect((await search(`Patient?_id=${id}`)).ids).toEqual([]);
  });

  test('an identifier is the digits of the number', async () => {
    const search = await open('TEMP');
    expect((await search('Patient?identifier=9007199254740993')).ids).toEqual(['9007199254740993']);
    expect((await search('Patient?identifier=2')).ids).toEqual(['2']);
    expect((await search('Patient?identifier=2.0')).ids).toEqual([]);
  });

  test('a code map matches whole numbers only', async () => {
    const search = await open('TEMP');
    const { resources } = await search('Patient');
    const genders = Object.fromEntries(resources.map(one => [one.id, one['gender']]));
    expect(genders).toEqual({ 1: 'male', 2: 'female', '9007199254740993': 'male', 4: undefined, 5: 'unknown' });
    for (const [gender, ids] of Object.entries(Object.groupBy(Object.entries(genders), ([, one]) => String(one))))
      if (gender !== 'undefined')
        expect((await search(`Patient?gender=${gender}`)).ids.toSorted()).toEqual(ids?.map(([id]) => id).toSorted());
    expect((await search('Patient?gender:missing=true')).ids).toEqual(['4']);
  });

  test('a reference matches equal numbers, and only numbers', async () => {
    const search = await open('TEMP');
    const { resources } = await search('Observation');
    const subjects = resources.map(one => [one.id, (one['subject'] as { reference: string } | undefined)?.reference]);
    expect(Object.fromEntries(subjects)).toEqual({
      ...{
        1: 'Patient/1',
        2: 'Patient/1',
        3: 'Patient/2',
        4: 'Patient/9007199254740993',
        5: 'Patient/2',
        6: undefined,
      },
    });
    expect((await search('Observation?subject=Patient/9007199254740993')).ids).toEqual(['4']);
    expect((await search('Observation?subject=Patient/1')).ids).toEqual(['1', '2']);
    expect((await search('Observation?subject:missing=true')).ids).toEqual(['6']);
    expect((await search('Patient?_has:Observation:subject:_id=4')).ids).toEqual(['9007199254740993']);
  });
});
