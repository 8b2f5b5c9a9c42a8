/** Dates as SQLite files hold them, through the whole pipeline: what is emitted is found, sorted and paged by. */
import { describe, expect, it } from 'vitest';
import { searchSmall } from './small-pack.ts';

const MIXED = [
  "1, '2025-10-15 09:15:00.000'",
  "2, '2025-10-15 10:00:00'",
  "3, '2025-10-15 09:30'",
  "4, '2025-10-15T08:00:00Z'",
  "5, '2025-10-14 22:00:00-08:00'",
  "6, '2025-10-15'",
  "7, '2025-10-16T00:00:00'",
  "8, '2025-10-14 23:59:59'",
  "9, 'unknown'",
  '10, NULL',
  '11, 1760523300',
  "12, '2025-10-15T23:59:59.999999'",
  "13, '0000-00-00 00:00:00'",
];

const schema = (rows: readonly string[]): string =>
  `CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, AT DATETIME, ON_DAY DATE); CREATE INDEX V ON VISIT (AT);
   ${rows.map(row => `INSERT INTO VISIT (NO, AT) VALUES (${row});`).join('\n')}`;

const pack = (source = ''): Readonly<Record<string, string>> => ({
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\n',
  'codes.yaml': '{}\n',
  'visit.yaml': `mapping: visits
resource: Observation
source: { table: VISIT, as: v, key: [NO], changed: AT${source} }
id: "{NO}"
elements:
  status: final
  code: { text: Weight }
  effectiveDateTime: { from: AT }
`,
});

const found = async (query: string, rows = MIXED, source = ''): Promise<readonly string[]> =>
  (await searchSmall(schema(rows), pack(source), query)).ids;

describe('a column of mixed forms', () => {
  it('is searched by what is emitted', async () => {
    expect(await found('Observation?date=2025-10-15')).toEqual(['1', '2', '3', '4', '5', '6', '12']);
    expect(await found('Observation?date=ge2025-10-16')).toContain('7');
    expect(await found('Observation?date:missing=true')).toEqual(['9', '10', '11', '13']);
    expect(await found('Observation?date:missing=false')).toHaveLength(9);
    expect(await found('Observation?_lastUpdated=lt2025-10-15')).toEqual(['8']);
  });

  it('is sorted by the moment, and paged to the end', async () => {
    const order = ['8', '6', '5', '4', '1', '3', '2', '12', '7'];
    expect((await found('Observation?_sort=date')).filter(id => order.includes(id))).toEqual(order);
    const ids: string[] = [];
    let query: string | undefined = 'Observation?_sort=-_lastUpdated&_count=2';
    // Each page is asked for in a database of its own, as it was.
    const first = await searchSmall(schema(MIXED), pack(), query);
    query = first.next;
    ids.push(...first.ids);
    expect(first.ids).toEqual(['7', '12']);
    expect(first.resources.map(({ meta }) => meta?.lastUpdated)).toEqual([
      '2025-10-16T00:00:00.000-04:00',
      '2025-10-15T23:59:59.999-04:00',
    ]);
    expect(query).toBeDefined();
  });

  it('is compared with literals in conditions as it is emitted', async () => {
    expect(await found('Observation', MIXED, ', where: { AT: { before: "2025-10-15" } }')).toEqual(['8']);
    expect(await found('Observation', MIXED, ', where: { AT: { ge: "2025-10-16" } }')).toEqual(['7']);
    expect(await found('Observation', MIXED, ', where: { AT: { is: "2025-10-15" } }').catch(() => [])).toEqual([]);
    expect(await found('Observation', MIXED, ', where: { present: [AT] }')).toHaveLength(9);
    expect(await found('Observation', MIXED, ', where: { AT: "2025-10-15 04:00:00" }')).toEqual(['4']);
  });
});

describe('a column of one form', () => {
  it.each([
    ['2025-10-15T09:15:00', '2025-10-14T09:15:00', '2025-10-16T00:00:00'],
    ['2025-10-15 09:15', '2025-10-14 09:15', '2025-10-16 00:00'],
    ['2025-10-15', '2025-10-14', '2025-10-16'],
    ['2025-10-15 09:15:00', '2025-10-14 23:59:59', '2025-10-16 00:00:00'],
  ])('keeps its index: %s', async (...values) => {
    const rows = values.map((value, i) => `${i + 1}, '${value}'`);
    const { ids, sql } = await searchSmall(schema(rows), pack(), 'Observation?date=2025-10-15');
    expect(ids).toEqual(['1']);
    expect(sql.join('\n')).not.toContain('lintel_');
    expect(await found('Observation?_sort=-date', rows)).toEqual(['3', '1', '2']);
    expect(await found('Observation', rows, ', where: { AT: { ge: "2025-10-15 00:00:01" } }')).toEqual(
      values[0]?.length === 10 ? ['3'] : ['1', '3'],
    );
  });
});
