import { expect, test } from 'vitest';
import { searchSmall } from './small-pack.ts';

// Clocks in New York went back at 06:00Z on 3 November 2024: 01:00 to 02:00 came twice. Local times are the first of the two.
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

test.each([
  ['date', IN_ORDER],
  ['-date', IN_ORDER.toReversed()],
])(
  'seconds since 1970 and local times sort as one by %s, page by page, through the hour that comes twice',
  async (sort, wanted) => {
    const found: string[] = [];
    for (let next: string | undefined = `Encounter?_sort=${sort}&_count=1`; next !== undefined && found.length < 20; ) {
      const page = await searchSmall(SCHEMA, PACK, next);
      found.push(...page.ids);
      next = page.next;
    }
    expect(found).toEqual([...wanted, 'v-6']);
  },
);
