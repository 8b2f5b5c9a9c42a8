import { expect, test } from 'vitest';
import { searchSmall } from './small-pack.ts';

// Clocks in New York went back at 06:00Z on 3 November 2024: 01:00 to 02:00 occurred twice. Local times mean the first.
const SCHEMA = `
CREATE TABLE VISIT (NO INTEGER PRIMARY KEY, BEGUN INTEGER);
CREATE TABLE CALL (NO INTEGER PRIMARY KEY, MADE DATETIME2(7));
INSERT INTO VISIT VALUES
  (1, unixepoch('2024-11-03 04:30:00')), (2, unixepoch('2024-11-03 05:59:59')), (3, unixepoch('2024-11-03 06:00:00')),
  (4, unixepoch('2024-11-03 06:30:00')), (5, unixepoch('2024-11-03 07:00:01')), (6, NULL), (7, unixepoch('2024-03-10 07:00:00'));
INSERT INTO CALL VALUES
  (1, '2024-11-03 01:00:00.0000000'), (2, '2024-11-03 01:59:59.9999999'), (3, '2024-11-03 02:00:00.0000000'),
  (4, '2024-03-10 01:59:59.0000000'), (5, '2024-03-10 03:00:01.0000000');
`;

const encounters = (name: string, table: string, period: string): string => `mapping: ${name}
resource: Encounter
source: { table: ${table}, as: t, key: [NO] }
id: "${name}-{NO}"
elements:
  status: finished
  class: { system: "http://terminology.hl7.org/CodeSystem/v3-ActCode", code: AMB }
  period: { start: ${period} }
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\n',
  'visit.yaml': encounters('v', 'VISIT', '{ from: BEGUN, via: epoch }'),
  'call.yaml': encounters('c', 'CALL', '{ from: MADE }'),
};

const IN_ORDER = ['c-4', 'v-7', 'c-5', 'v-1', 'c-1', 'v-2', 'c-2', 'v-3', 'v-4', 'c-3', 'v-5'];

async function pageByPage(schema: string, pack: Readonly<Record<string, string>>, sort: string): Promise<string[]> {
  const found: string[] = [];
  for (let next: string | undefined = `Encounter?_sort=${sort}&_count=1`; next !== undefined && found.length < 20; ) {
    const page = await searchSmall(schema, pack, next);
    found.push(...page.ids);
    next = page.next;
  }
  return found;
}

test.each([
  ['date', IN_ORDER],
  ['-date', IN_ORDER.toReversed()],
])('seconds since 1970 and local times sort together by %s, across pages and a repeated hour', async (sort, wanted) => {
  expect(await pageByPage(SCHEMA, PACK, sort)).toEqual([...wanted, 'v-6']);
});

const LASTS = [
  ['MADE SMALLDATETIME', "'2024-03-10 01:59:00'", "'2079-06-06 23:59:00'", '{ from: MADE }'],
  ['MADE DATE', "'2024-03-10'", "'9999-12-31'", '{ from: MADE }'],
  ['MADE CHAR(8)', "'20240310'", "'99991231'", '{ from: MADE, via: ymd8 }'],
  ['MADE INTEGER', '20240310', '99991231', '{ from: MADE, via: ymd8 }'],
  ['MADE INTEGER', '1710054000', '2147483647', '{ from: MADE, via: epoch }'],
  [
    'MADE CHAR(8), AT CHAR(4)',
    "'20240310', '0100'",
    "'99991231', '2359'",
    '{ from: [MADE, AT], via: { date-and-time: { date: ymd8, time: hhmm } } }',
  ],
] as const;

test.each(LASTS)(
  'the last value of %s comes once in both directions, although other columns continue',
  async (columns, one, last, period) => {
    const schema = `
CREATE TABLE VISIT (NO INTEGER PRIMARY KEY, BEGUN DATETIME);
CREATE TABLE CALL (NO INTEGER PRIMARY KEY, ${columns});
INSERT INTO VISIT VALUES (1, '9999-12-31 23:59:59.997'), (2, '9999-12-31 23:59:59.997');
INSERT INTO CALL VALUES (1, ${one}), (2, ${last});
`;
    const pack = {
      ...PACK,
      'visit.yaml': encounters('v', 'VISIT', '{ from: BEGUN }'),
      'call.yaml': encounters('c', 'CALL', period),
    };
    expect(await pageByPage(schema, pack, 'date')).toEqual(['c-1', 'c-2', 'v-1', 'v-2']);
    expect(await pageByPage(schema, pack, '-date')).toEqual(['v-1', 'v-2', 'c-2', 'c-1']);
  },
);
