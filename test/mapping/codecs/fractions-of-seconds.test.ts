/** Times of a TIME column that differ within a second: sorted pages contain each row once. */
import { expect, test } from 'vitest';
import { openSmall } from '../../plan/small-pack.ts';

const TIMES = [
  '08:15:00.5000000',
  '08:15:00.1230000',
  null,
  '23:59:59.9999999',
  '08:15:00.0000001',
  '08:15:00.1230000',
];

/** `digits`: numbers of fractional digits, for the rows in turn. */
function schema(type: string, digits: readonly number[]): string {
  const rows = TIMES.map((time, i) => {
    const of = digits[i % digits.length] ?? 0;
    const text = time === null ? 'NULL' : `'${time.slice(0, of === 0 ? 8 : 9 + of)}'`;
    return `(${i}, '2024-03-0${1 + (i % 2)}', ${text})`;
  });
  return `CREATE TABLE LAB (NO INTEGER NOT NULL PRIMARY KEY, DAY DATE, AT ${type}); INSERT INTO LAB VALUES ${rows.join()};`;
}

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'm.yaml': `mapping: labs
resource: Observation
source:
  table: LAB
  key: [NO]
  changed: { from: [DAY, AT], via: { date-and-time: { date: date, time: time, at: "00:00" } } }
id: "{NO}"
elements:
  status: final
  code: { text: X }
  effectiveDateTime: { from: [DAY, AT], via: { date-and-time: { date: date, time: time } } }
`,
};

test.each<[type: string, digits: readonly number[]]>([
  ['TIME', [7]],
  ['TIME', [7, 0, 1]],
  ['TIME(7)', [7]],
  ['TIME(3)', [3]],
  ['TIME(0)', [0]],
])('%s with %j digits of a second', async (type, digits) => {
  const search = await openSmall(schema(type, digits), PACK);
  for (const sort of ['date', '-date', '_lastUpdated', '-_lastUpdated']) {
    const { ids: whole } = await search(`Observation?_sort=${sort}`);
    for (const count of [1, 2, 3]) {
      const ids: string[] = [];
      for (
        let next: string | undefined = `Observation?_sort=${sort}&_count=${count}`;
        next !== undefined && ids.length < 20;
      ) {
        const page = await search(next);
        ids.push(...page.ids);
        next = page.next;
      }
      expect([sort, count, ids]).toEqual([sort, count, whole]);
    }
  }
});
