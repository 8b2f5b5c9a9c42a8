import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import type { ColumnInfo } from '../../../src/sql/catalog.ts';
import { openSqlite } from '../../../src/sql/sqlite/database.ts';
import { measure } from '../../../src/sql/sqlite/measure.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

async function formsOf(schema: string): Promise<(column: string) => Pick<ColumnInfo, 'form' | 'written'>> {
  const folder = temporaryFolder();
  const written = new DatabaseSync(join(folder, 'a.sqlite'));
  written.exec(schema);
  written.close();
  const database = openSqlite(join(folder, 'a.sqlite'));
  onTestFinished(() => database.close());
  const catalog = await database.forms?.(await database.catalog(), (_, column) => column !== 'unasked');
  return column => {
    const { form, written: rows } = catalog?.tables.get('t')?.columns.get(column) ?? {};
    return { ...(form ? { form } : {}), ...(rows ? { written: rows } : {}) };
  };
}

/** One statement for all rows, because each one commits to the disk. */
const rows = (...values: readonly string[]): string =>
  `CREATE TABLE T (C DATETIME, D DATE, H TIME, UNASKED DATE, TXT TEXT); INSERT INTO T VALUES ${values.join()}`;

test('a form of all rows is proven, ignoring NULL', async () => {
  const form = await formsOf(
    rows("('2024-03-10 08:30:00', '2024-02-29', '08:30', '2024-03-10', 'x')", '(NULL, NULL, NULL, NULL, NULL)'),
  );
  expect(form('c')).toEqual({
    form: { separator: ' ', length: 19 },
    written: [{ form: 'YYYY-MM-DD HH:MM:SS', rows: 1 }],
  });
  expect(form('d')).toMatchObject({ form: { length: 10 } });
  expect(form('h')).toEqual({ form: 'any', written: [{ form: 'HH:MM', rows: 1 }] });
  expect(form('unasked')).toEqual({ form: 'any' });
  expect(form('txt')).toEqual({});
});

test('texts without trailing blanks are proven if a binary index has them', async () => {
  const table = 'CREATE TABLE T (A TEXT, B TEXT, C TEXT, D CHAR(4), E TEXT COLLATE RTRIM, F ENUM, G TEXT, H TEXT)';
  const indexes = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H COLLATE NOCASE'].map(
    (key, i) => `CREATE INDEX I${i} ON T (${key})`,
  );
  const form = await formsOf(
    `${[table, ...indexes, 'CREATE INDEX OTHER ON T (G COLLATE RTRIM)'].join(';')};
     INSERT INTO T VALUES ('a', 'b ', 'c', 'd   ', 'e', 5, 'g', 'h'), ('', NULL, x'30', 'd', 'e', 'f', 'g', 'h')`,
  );
  expect(form('a')).toEqual({ form: 'trimmed', written: [{ form: 'a text', rows: 2 }] });
  expect(form('b')).toEqual({ form: 'declared', written: [{ form: 'a text with blanks at its end', rows: 1 }] });
  expect(form('c')).toMatchObject({ form: 'any' });
  expect(form('d')).toMatchObject({ form: 'declared' });
  expect(form('e')).toEqual({});
  expect(form('f')).toMatchObject({ form: 'any' });
  expect([form('g'), form('h')]).toEqual([{}, {}]);
});

test.each([
  ['2024-03-10T08:30:00.123456', { separator: 'T', length: 26 }],
  ['2024-03-10 08:30', { separator: ' ', length: 16 }],
  ['2024-03-10', { separator: ' ', length: 10 }],
  ['2024-03-10T08:30:00Z', { separator: 'T', length: 20, utc: true }],
  ['2024-03-10 08:30Z', { separator: ' ', length: 17, utc: true }],
  ['2024-03-10T08:30:00.123Z', { separator: 'T', length: 24, utc: true }],
  ['2024-03-10T08:30:00.1234Z', 'any'],
  ['2024-03-10T08:30:00z', 'any'],
  ['2024-03-10T08:30:00 Z', 'any'],
  ['2024-03-10T08:30:00UTC', 'any'],
  ['2024-02-30T08:30:00Z', 'any'],
  ['2024-03-10 08:30:00-05:00', 'any'],
  ['2024-03-10 08:30:00.123456789', 'any'],
  ['2024-02-30 08:30:00', 'any'],
  ['2023-02-29', 'any'],
  ['2024-03-10 24:00:00', 'any'],
  ['2024-03-10 08:60:00', 'any'],
  ['0000-00-00', 'any'],
  [' 2024-03-10', 'any'],
])('%s', async (value, form) => {
  expect((await formsOf(rows(`('${value}', NULL, NULL, NULL, NULL)`)))('c').form).toEqual(form);
});

const MIXED = { separator: ' ', length: 19, mixed: true } as const;

test.each<readonly [odd: string, name: string, found?: ColumnInfo['form']]>([
  ["'2024-03-10T08:30:00'", 'YYYY-MM-DDTHH:MM:SS'],
  ["'2024-02-30 08:30:00'", 'a text that is no date'],
  ["'0000-01-01 00:00:00'", 'a text that is no date', MIXED],
  ["'0000-00-00 00:00:00'", 'a zero date', MIXED],
  ["'2024-03-10 29:30:00'", 'a text that is no date'],
  ["'2024-03-10 08:30:00Z'", 'YYYY-MM-DD HH:MM:SSZ'],
  ["'2024-03-10 08:30:00+0530'", 'YYYY-MM-DD HH:MM:SS±HH:MM'],
  ["' 2024-03-10'", 'YYYY-MM-DD with blanks around it'],
  ['9223372036854775807', 'a whole number', MIXED],
  ['2460380.5', 'a number with digits after the point', MIXED],
  ["CAST('2024-03-10 08:30:00' AS BLOB)", 'bytes', MIXED],
  ["''", 'a blank text', MIXED],
  ["'  '", 'a blank text', MIXED],
  ["'unknown'", 'a text that is no date', MIXED],
  ["'00/00/0000'", 'a text that is no date', MIXED],
  ["'03/10/2024'", 'a text that is no date'],
  ["'2024-00-00'", 'a text that is no date'],
])('one row of another form, %s, is found among many', async (odd, name, found = 'any') => {
  const many = Array.from({ length: 300 }, () => "('2024-03-10 08:30:00', NULL, NULL, NULL, NULL)");
  const form = await formsOf(rows(...many, `(${odd}, NULL, NULL, NULL, NULL)`));
  expect(form('c')).toEqual({
    form: found,
    written: [
      { form: 'YYYY-MM-DD HH:MM:SS', rows: 300 },
      { form: name, rows: 1 },
    ],
  });
});

test.each([
  ['the first rows', ["'0000-00-00'", "''", '0', "'2024-03-10 08:30:00'"], MIXED],
  ['several forms', ["'0000-00-00'", "'2024-03-10'", "'2024-03-10 08:30:00'"], 'any'],
  ['a form of one name, apart and not', ["'N/A'", "'2024-03-10 08:30:00'", "'2024-02-30 08:30:00'"], 'any'],
  ['all rows', ["'0000-00-00'", "''"], 'any'],
  ['instants in UTC', ["''", "'2024-03-10T08:30:00Z'"], { separator: 'T', length: 20, utc: true, mixed: true }],
])('what is no date and sorts apart: %s', async (_, values, form) => {
  const given = values.map(value => `(${value}, ${value === "''" ? value : 'NULL'}, NULL, NULL, NULL)`);
  expect((await formsOf(rows(...given)))('c').form).toEqual(form);
});

test('what is no time and sorts apart from all times', async () => {
  const form = await formsOf(
    `CREATE TABLE T (A TIME, B TIME, C TIME); INSERT INTO T VALUES ('08:30:00', '08:30:00', '08:30:00'), ('', '0', '8:30'), ('noon', 830, NULL)`,
  );
  expect(form('a').form).toEqual({ separator: ' ', length: 8, mixed: true });
  expect(form('b').form).toEqual({ separator: ' ', length: 8, mixed: true });
  expect(form('c').form).toBe('any');
});

test('all rows of a large table are scanned in slices, whatever its column names', async () => {
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120000)`;
  const form = await formsOf(
    `CREATE TABLE T (C DATETIME); ${many} INSERT INTO T (rowid, C) SELECT i * 7, '2024-03-10 08:30:00' FROM n; UPDATE T SET C = '2024-03-10' WHERE rowid = 119999 * 7;`,
  );
  expect(form('c').written).toEqual([
    { form: 'YYYY-MM-DD HH:MM:SS', rows: 119_999 },
    { form: 'YYYY-MM-DD', rows: 1 },
  ]);
  const named = await formsOf(
    `CREATE TABLE T (rowid TEXT, C DATETIME); INSERT INTO T VALUES ('x', '2024-03-10 08:30:00'), (NULL, 5)`,
  );
  expect(named('c').form).toEqual(MIXED);
  const without = await formsOf(
    `CREATE TABLE T (C DATETIME PRIMARY KEY) WITHOUT ROWID; INSERT INTO T VALUES ('2024-03-10')`,
  );
  expect(without('c').form).toEqual({ separator: ' ', length: 10 });
});

test('a later write of another form is detected, by a scan of changed files only', async () => {
  const folder = temporaryFolder();
  const writer = new DatabaseSync(join(folder, 'a.sqlite'));
  writer.exec("CREATE TABLE T (C DATETIME); INSERT INTO T VALUES ('2024-03-10 08:30:00')");
  const database = openSqlite(join(folder, 'a.sqlite'));
  onTestFinished(() => database.close());
  expect(await database.formsChanged?.()).toBe(false);
  await database.forms?.(await database.catalog(), () => true);
  expect(await database.formsChanged?.()).toBe(false);
  writer.exec("INSERT INTO T VALUES ('2024-03-11 08:30:00')");
  expect(await database.formsChanged?.()).toBe(false);
  writer.exec("INSERT INTO T VALUES ('2024-03-11T08:30:00Z')");
  expect(await database.formsChanged?.()).toBe(true);
  // Still true until the mappings are reloaded with the present forms.
  expect(await database.formsChanged?.()).toBe(true);
  await database.forms?.(await database.catalog(), () => true);
  expect(await database.formsChanged?.()).toBe(false);
  writer.close();
});

test('small tables are scanned first, and skipped ones are marked', async () => {
  const folder = temporaryFolder();
  const written = new DatabaseSync(join(folder, 'a.sqlite'));
  written.exec(`CREATE TABLE A_FACT (N INTEGER NOT NULL, AT DATE); CREATE TABLE B_CODE (N INTEGER NOT NULL, AT DATE);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO A_FACT SELECT i, '2024-01-31' FROM n;
    INSERT INTO B_CODE VALUES (1, '2024-01-31');`);
  onTestFinished(() => written.close());
  const database = openSqlite(join(folder, 'a.sqlite'));
  onTestFinished(() => database.close());
  const catalog = await database.catalog();
  const asked: string[] = [];
  const spied = new Proxy(written, {
    get: (of, name) =>
      name === 'prepare'
        ? (text: string) => {
            if (text.includes('COUNT')) asked.push(text.replace(/^.* FROM (\w+).*$/, '$1'));
            return of.prepare(text);
          }
        : Reflect.get(of, name),
  });
  const measured = await measure(
    ask => ask(spied),
    () => true,
    catalog,
    { isAsked: () => true, longest: 60_000 },
  );
  expect(asked).toEqual(['B_CODE', 'A_FACT']);
  expect([...measured.tables.keys()]).toEqual([...catalog.tables.keys()]);
  expect(measured.tables.get('a_fact')?.columns.get('n')).toMatchObject({ form: 'declared' });
  const late = await measure(
    ask => ask(written),
    () => true,
    catalog,
    { isAsked: (_, column) => column === 'n', longest: -1 },
  );
  expect(late.tables.get('a_fact')?.columns.get('n')).toMatchObject({ form: 'any', unseen: true });
  expect(late.tables.get('a_fact')?.columns.get('at')).not.toHaveProperty('unseen');
});

const uuids = (...values: readonly string[]): string =>
  `CREATE TABLE T (C UUID); INSERT INTO T VALUES ${values.map(value => `(${value})`).join()}`;

test.each([
  ["'6FA459EA-EE8A-3CA4-894E-DB77E160355E'", 'declared', 'a UUID in upper case'],
  ["'6fa459ea-ee8a-3ca4-894e-db77e160355e'", 'small', 'a UUID in lower case'],
  ["'6fa459ea-ee8a-3ca4-894e-db77e160355E'", 'any', 'a UUID in both cases'],
  ["'00000000-0000-4000-8000-000000000003'", 'declared', 'a UUID without letters'],
  ["'{6FA459EA-EE8A-3CA4-894E-DB77E160355E}'", 'any', 'a UUID in braces'],
  ["'6fa459eaee8a3ca4894edb77e160355e'", 'any', 'a UUID without hyphens'],
  ["'{6FA459EA-EE8A-3CA4-894E-DB77E160355E'", 'any', 'a text that is no UUID'],
  ["'6fa459ea-ee8a3ca4-894e-db77e160355e'", 'any', 'a text that is no UUID'],
  ["''", 'any', 'a blank text'],
  ["x'6FA459EAEE8A3CA4894EDB77E160355E'", 'any', 'bytes'],
  ['7', 'any', 'a number'],
])('a UUID: %s', async (value, form, name) => {
  expect((await formsOf(uuids(value)))('c')).toEqual({ form, written: [{ form: name, rows: 1 }] });
});

test('a UUID without letters matches either case, in any position', async () => {
  const [small, large, none] = [
    "'6fa459ea-ee8a-3ca4-894e-db77e160355e'",
    "'6FA459EA-EE8A-3CA4-894E-DB77E160355E'",
    "'00000000-0000-4000-8000-000000000003'",
  ];
  expect((await formsOf(uuids(none, small, small)))('c').form).toBe('small');
  expect((await formsOf(uuids(small, none)))('c').form).toBe('small');
  expect((await formsOf(uuids(none, large)))('c').form).toBe('declared');
  expect((await formsOf(uuids(large, none, 'NULL')))('c').form).toBe('declared');
  expect((await formsOf(uuids(none, large, small)))('c').form).toBe('any');
  expect((await formsOf(uuids('NULL')))('c').form).toBe('any');
});
