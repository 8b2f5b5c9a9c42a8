/**
 * Dates as SQLite files hold them, through the whole pipeline: searches, sorting and paging agree with the emitted
 * values.
 */
import { describe, expect, it } from 'vitest';
import { openSmall, searchSmall } from './small-pack.ts';

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
  it('is searched by the emitted values', async () => {
    expect(await found('Observation?date=2025-10-15')).toEqual(['1', '2', '3', '4', '5', '6', '12']);
    expect(await found('Observation?date=ge2025-10-16')).toContain('7');
    expect(await found('Observation?date:missing=true')).toEqual(['9', '10', '11', '13']);
    expect(await found('Observation?date:missing=false')).toHaveLength(9);
    expect(await found('Observation?_lastUpdated=lt2025-10-15')).toEqual(['8']);
  });

  it('is sorted by time, across all pages', async () => {
    const order = ['8', '6', '5', '4', '1', '3', '2', '12', '7'];
    expect((await found('Observation?_sort=date')).filter(id => order.includes(id))).toEqual(order);
    const ids: string[] = [];
    let query: string | undefined = 'Observation?_sort=-_lastUpdated&_count=2';
    // Each page is requested from a new database with the same contents.
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

  it('is compared with literals by its emitted value', async () => {
    expect(await found('Observation', MIXED, ', where: { AT: { before: "2025-10-15" } }')).toEqual(['8']);
    expect(await found('Observation', MIXED, ', where: { AT: { ge: "2025-10-16" } }')).toEqual(['7']);
    expect(await found('Observation', MIXED, ', where: { AT: { is: "2025-10-15" } }').catch(() => [])).toEqual([]);
    expect(await found('Observation', MIXED, ', where: { present: [AT] }')).toHaveLength(9);
    expect(await found('Observation', MIXED, ', where: { AT: "2025-10-15 04:00:00" }')).toEqual(['4']);
  });
});

describe('two columns of several forms', () => {
  const SCHEMA = `CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, AT DATETIME, ON_DAY DATE, SEEN TIMESTAMP, NAME TEXT);
    INSERT INTO VISIT VALUES
      (1, '2025-10-15T09:15:00', '2025-10-15', '2025-10-15 09:15:00.000', 'a'),
      (2, '2025-10-15T09:15:00', '2025-10-16', '2025-10-15 09:14:59.999', 'b'),
      (3, '2025-10-16T00:00:00', '2025-10-16', '2025-10-17 00:00:00.000', 'a')`;
  const where = (test: string): Promise<readonly string[]> =>
    searchSmall(SCHEMA, pack(`, where: { ${test} }`), 'Observation').then(({ ids }) => ids);

  it('are compared by their meaning', async () => {
    expect(await where('AT: { same-as: SEEN }')).toEqual(['1']);
    expect(await where('AT: { after: SEEN }')).toEqual(['2']);
    expect(await where('AT: { before: SEEN }')).toEqual(['3']);
    expect(await where('AT: { same-as: ON_DAY }')).toEqual(['3']);
    expect(await where('ON_DAY: { before: SEEN }')).toEqual(['1', '3']);
  });

  it('form one resource per day, or per moment', async () => {
    const onePer = {
      ...pack(),
      'visit.yaml': `mapping: days
resource: Observation
source: { table: VISIT, as: v, key: [NO], one-per: [NAME], where: { AT: { ge: "2025-10-15" } } }
id: "{NAME}"
elements:
  status: final
  code: { text: Weight }
  effectiveDateTime: { from: AT }
`,
    };
    expect((await searchSmall(SCHEMA, onePer, 'Observation')).ids.toSorted()).toEqual(['a', 'b']);
    const byDay = {
      'visit.yaml': onePer['visit.yaml'].replace('[NAME]', '[ON_DAY]').replace('{NAME}', 'day-{ON_DAY}'),
    };
    const days = async (query: string, schemaOf = SCHEMA): Promise<readonly string[]> =>
      (await searchSmall(schemaOf, { ...onePer, ...byDay }, query)).ids;
    expect(await days('Observation')).toEqual(['day-2025-10-15', 'day-2025-10-16']);
    expect(await days('Observation?_id=day-2025-10-16')).toEqual(['day-2025-10-16']);
    expect(await days('Observation?_id=day-2025-10-16,day-16,day-2025-10-17')).toEqual(['day-2025-10-16']);
    expect(await days('Observation?_sort=-_id')).toEqual(['day-2025-10-16', 'day-2025-10-15']);
    const both = {
      'visit.yaml': byDay['visit.yaml']
        .replace('[ON_DAY]', '[NAME, ON_DAY]')
        .replace('day-{ON_DAY}', '{NAME}-{ON_DAY}'),
    };
    const pairs = await searchSmall(SCHEMA, { ...onePer, ...both }, 'Observation?_id=a-2025-10-16');
    expect(pairs.ids).toEqual(['a-2025-10-16']);
    // In the id a time is written as its digits.
    const byMoment = {
      'visit.yaml': onePer['visit.yaml'].replace('[NAME]', '[AT]').replace('{NAME}', 'at-{AT}'),
    };
    const moments = async (query: string, schemaOf = SCHEMA): Promise<readonly string[]> =>
      (await searchSmall(schemaOf, { ...onePer, ...byMoment }, query)).ids;
    expect(await moments('Observation?_sort=-_id')).toEqual(['at-20251016T000000', 'at-20251015T091500']);
    expect(await moments('Observation?_id=at-20251015T091500,at-20251015T091501,at-x')).toEqual(['at-20251015T091500']);
    const several = SCHEMA.replace("(2, '2025-10-15T09:15:00'", "(2, '2025-10-15 09:15'");
    expect(await moments('Observation?_sort=-_id', several)).toEqual(['at-20251016T000000', 'at-20251015T091500']);
    expect(await moments('Observation?_id=at-20251015T091500', several)).toEqual(['at-20251015T091500']);
    // The same day in two forms counts as one.
    const mixed = SCHEMA.replace("'2025-10-16', '2025-10-17", "'2025-10-16 00:00:00', '2025-10-17");
    expect(await days('Observation', mixed)).toEqual(['day-2025-10-15', 'day-2025-10-16']);
    expect(await days('Observation?_id=day-2025-10-16', mixed)).toEqual(['day-2025-10-16']);
  });

  it('a day is an instant if the mapping has the time', async () => {
    const at = (changed: string): Readonly<Record<string, string>> => {
      const files = pack();
      return { ...files, 'visit.yaml': (files['visit.yaml'] ?? '').replace('changed: AT', `changed: ${changed}`) };
    };
    const days = at('{ from: ON_DAY, via: { date: { at: "06:30" } } }');
    const { resources } = await searchSmall(SCHEMA, days, 'Observation');
    expect(resources[0]?.meta?.lastUpdated).toBe('2025-10-15T06:30:00.000-04:00');
    const found = async (query: string): Promise<readonly string[]> => (await searchSmall(SCHEMA, days, query)).ids;
    expect(await found('Observation?_lastUpdated=gt2025-10-15T06:30:00-04:00')).toEqual(['2', '3']);
    expect(await found('Observation?_lastUpdated=2025-10-15T10:30:00.000Z')).toEqual(['1']);
    expect(await found('Observation?_sort=-_lastUpdated&_count=1')).toHaveLength(1);
    await expect(searchSmall(SCHEMA, at('ON_DAY'), 'Observation')).rejects.toThrow('at: \\"00:00\\"');
  });

  it('a column of numbers is read by the codec that defines their unit', async () => {
    const schemaOf = (value: string): string =>
      `CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, AT DATETIME); INSERT INTO VISIT VALUES (1, ${value}), (2, '2025-10-15 08:00:00'), (3, NULL)`;
    const via = (codec: string): Readonly<Record<string, string>> => {
      const files = pack();
      const text = (files['visit.yaml'] ?? '').replace('changed: AT', `changed: { from: AT, via: ${codec} }`);
      return { ...files, 'visit.yaml': text.replace('{ from: AT }', `{ from: AT, via: ${codec} }`) };
    };
    for (const [value, codec] of [
      ['1760534100', 'epoch'],
      ['1760534100000', '{ epoch: { unit: milliseconds } }'],
      ["julianday('2025-10-15 13:15:00')", 'julian'],
    ] as const) {
      const ask = (query: string) => searchSmall(schemaOf(value), via(codec), query);
      const { resources } = await ask('Observation?date=2025-10-15');
      expect(resources.map(({ id, meta }) => [id, meta?.lastUpdated])).toEqual([
        ['1', '2025-10-15T09:15:00.000-04:00'],
      ]);
      expect((await ask('Observation?date:missing=true')).ids).toEqual(['2', '3']);
      expect((await ask('Observation?_sort=-date')).ids).toHaveLength(3);
      expect((await ask('Observation?_lastUpdated=lt2025-10-15')).ids).toEqual([]);
    }
  });
});

describe('a column of one form', () => {
  it.each([
    ['2025-10-15T09:15:00', '2025-10-14T09:15:00', '2025-10-16T00:00:00'],
    ['2025-10-15 09:15', '2025-10-14 09:15', '2025-10-16 00:00'],
    ['2025-10-15', '2025-10-14', '2025-10-16'],
    ['2025-10-15T09:15:00.123', '2025-10-14T09:15:00.000', '2025-10-16T00:00:00.999'],
    ['2025-10-15 09:15:00', '2025-10-14 23:59:59', '2025-10-16 00:00:00'],
  ])('keeps its index: %s', async (...values) => {
    const rows = values.map((value, i) => `${i + 1}, '${value}'`);
    const search = await openSmall(schema(rows), pack());
    const { ids, sql, served } = await search('Observation?date=2025-10-15');
    expect(ids).toEqual(['1']);
    expect(sql.join('\n')).not.toContain('lintel_');
    expect(served.join()).toMatch(/SEARCH v USING (COVERING )?INDEX V \(AT>\? AND AT<\?\)/);
    expect((await search('Observation?_sort=date')).served.join()).toMatch(/USING (COVERING )?INDEX V/);
    expect((await search('Observation?_lastUpdated=2025-10-15')).served.join()).toMatch(
      /SEARCH v USING (COVERING )?INDEX V \(AT>\? AND AT<\?\)/,
    );
    expect(await found('Observation?_sort=-date', rows)).toEqual(['3', '1', '2']);
    expect(await found('Observation', rows, ', where: { AT: { ge: "2025-10-15 00:00:01" } }')).toEqual(
      values[0]?.length === 10 ? ['3'] : ['1', '3'],
    );
  });
});

describe('a column of instants in UTC', () => {
  // In New York: 09:15 and midnight of the 15th, 23:59:59 of the 14th, midnight of the 16th.
  const MOMENTS = ['2025-10-15T13:15', '2025-10-15T04:00', '2025-10-15T03:59', '2025-10-16T04:00'];
  const LAYOUTS: readonly (readonly [string, string])[] = [
    ['T', 'Z'],
    [' ', 'Z'],
    ['T', ':00Z'],
    [' ', ':00Z'],
    ['T', ':00.5Z'],
    ['T', ':00.000Z'],
  ];

  it.each(LAYOUTS)('is searched, sorted and paged directly, by its index: %s%s', async (separator, end) => {
    const rows = MOMENTS.map((text, i) => `${i + 1}, '${text.replace('T', separator)}${end}'`);
    const search = await openSmall(schema([...rows, '5, NULL']), pack());
    const found = await search('Observation?date=2025-10-15');
    expect(found.ids).toEqual(['1', '2']);
    expect(found.served.join()).toMatch(/SEARCH v USING (COVERING )?INDEX V \(AT>\? AND AT<\?\)/);
    expect(found.resources[0]).toMatchObject({
      effectiveDateTime: expect.stringMatching(/^2025-10-15T09:15:00-04:00$/),
    });
    expect((await search('Observation?date=lt2025-10-15')).ids).toEqual(['3']);
    expect((await search('Observation?date:missing=true')).ids).toEqual(['5']);
    const changed = await search('Observation?_lastUpdated=2025-10-16');
    expect(changed.ids).toEqual(['4']);
    expect(changed.served.join()).toMatch(/SEARCH v USING (COVERING )?INDEX V \(AT>\? AND AT<\?\)/);
    const sorted = await search('Observation?_sort=-date&_count=2&date:missing=false');
    expect(sorted.ids).toEqual(['4', '1']);
    expect(sorted.served.join()).toMatch(/USING (COVERING )?INDEX V/);
    expect(sorted.served.join()).not.toContain('TEMP B-TREE FOR ORDER BY');
    expect((await search(sorted.next ?? '')).ids).toEqual(['2', '3']);
  });

  it('is computed if a codec defines midnight, and in conditions', async () => {
    const rows = MOMENTS.map((text, i) => `${i + 1}, '${text}:00Z'`);
    const files = pack();
    const midnight = (files['visit.yaml'] ?? '').replace(
      '{ from: AT }',
      '{ from: AT, via: { datetime: { midnight: date } } }',
    );
    const search = await openSmall(schema(rows), { ...files, 'visit.yaml': midnight });
    const { resources } = await search('Observation?date=2025-10-15');
    expect(resources.map(({ effectiveDateTime }) => effectiveDateTime)).toEqual([
      '2025-10-15T09:15:00-04:00',
      '2025-10-15',
    ]);
    expect(await found('Observation', rows, ', where: { AT: { before: "2025-10-15" } }')).toEqual(['3']);
    expect(await found('Observation', rows, ', where: { AT: "2025-10-15 00:00:00" }')).toEqual(['2']);
  });

  it.each([
    '2025-10-15T13:15:00z',
    '2025-10-15T13:15:00 UTC',
    '2025-10-15T13:15:00 Z',
    '2025-10-15T13:15:00+00:00',
    '2025-10-15T13:15:00.0000Z',
  ])('one row of another form, %s, makes the column computed', async odd => {
    const search = await openSmall(schema(["1, '2025-10-15T13:15:00Z'", `2, '${odd}'`]), pack());
    const { ids, sql } = await search('Observation?date=2025-10-15T09:15:00-04:00');
    expect(ids).toEqual(['1', '2']);
    expect(sql.join()).toContain('lintel_moment');
  });

  it('has no value at the ends of the calendar, where the local year is invalid', async () => {
    const search = await openSmall(schema(["1, '0001-01-01T00:00:00Z'", "2, '9999-12-31T23:59:59Z'"]), pack());
    expect((await search('Observation?date=lt2025')).ids).toEqual([]);
    expect((await search('Observation?date=gt2025')).ids).toEqual(['2']);
    expect((await search('Observation?date:missing=true')).ids).toEqual(['1']);
  });
});
