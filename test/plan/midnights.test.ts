/**
 * `midnight: absent` and `midnight: date` for midnights in many spellings: searches agree with what is read, whatever
 * the rows hold. Times of day are compared as times of day, so SQL Server gets no pattern.
 */
import { describe, expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const schema = (type: string, rows: readonly string[]): string => `
CREATE TABLE STAY (NO INTEGER NOT NULL PRIMARY KEY, AT ${type});
${rows.map((row, no) => `INSERT INTO STAY VALUES (${no}, '${row}');`).join('\n')}
INSERT INTO STAY VALUES (${rows.length}, NULL);`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\n',
  'a.yaml':
    'mapping: stays\nresource: Encounter\nsource: { table: STAY, as: s, key: [NO] }\nid: "{NO}"\n' +
    'compartment: { none: nobody stays here }\n' +
    'elements:\n  status: finished\n  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB\n' +
    '  period: { start: { from: AT, via: { datetime: { midnight: absent } } } }\n',
};

/** Rows of each column: midnights in all spellings, and the first time after midnight. */
const COLUMNS: readonly (readonly [type: string, midnights: readonly string[], times: readonly string[]])[] = [
  ['DATETIME', ['2024-03-10 00:00:00.000', '2024-07-01 00:00:00.000'], ['2024-03-10 00:00:00.003']],
  ['DATETIME', ['2024-03-10 00:00:00'], ['2024-03-10 00:00:01']],
  ['DATETIME', ['2024-03-10 00:00'], ['2024-03-10 00:01']],
  ['DATETIME', ['2024-03-10T00:00'], ['2024-03-10T00:01', '2024-03-10T23:59']],
  ['DATETIME', ['2024-03-10T00:00:00'], ['2024-03-10T00:00:01']],
  ['DATETIME', ['2024-03-10T00:00:00.000'], ['2024-03-10T00:00:00.001']],
  ['DATETIME2(7)', ['2024-03-10 00:00:00.0000000', '2024-03-10 00:00:00.0009999'], ['2024-03-10 00:00:00.0010000']],
  ['DATETIME2(0)', ['2024-03-10 00:00:00'], ['2024-03-10 00:00:01']],
  ['SMALLDATETIME', ['2024-03-10 00:00:00'], ['2024-03-10 00:01:00']],
  [
    'DATETIME',
    ['2024-03-10', '2024-03-10T00:00', '2024-03-10 00:00:00', '2024-03-10T00:00:00.000', '2024-03-10T05:00:00Z'],
    ['2024-03-10T00:00:00Z', '2024-03-10 00:00:00.5', '2024-03-10T12:30', '2024-03-10 23:59:59.999'],
  ],
];

describe('a midnight means that no time is known', () => {
  test.each(COLUMNS)('%s: %j is midnight, %j is a time', async (type, midnights, times) => {
    const search = await openSmall(schema(type, [...midnights, ...times]), PACK);
    const timed = times.map((_, at) => String(midnights.length + at));
    const { resources } = await search('Encounter');
    const starts = resources.flatMap(({ id, ...rest }) => ('period' in rest ? [id] : []));
    expect(starts).toEqual(timed);
    expect((await search('Encounter?date:missing=false')).ids).toEqual(timed);
    expect((await search('Encounter?date:missing=true')).ids).toHaveLength(midnights.length + 1);
    expect((await search('Encounter?date=ge2000')).ids).toEqual(timed);
    expect((await search('Encounter?date=lt2024-03-12')).ids).toEqual(timed);
    expect((await search('Encounter?date=lt2024-03-10')).ids.filter(id => !timed.includes(id))).toEqual([]);
  });
});

test('SQL Server compares times of day as times, not as texts', async () => {
  const search = await openSmall(schema('DATETIME2(7)', ['2024-03-10 08:00:00.0000000']), PACK);
  const { mssql } = await search('Encounter?date=ge2024-03-10');
  expect(mssql.join()).toContain('CAST(s.AT AS time(7)) >= @');
  expect(mssql.join()).not.toMatch(/LIKE/);
});
