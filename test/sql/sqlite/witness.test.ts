/** Fetched rows that reveal that a column's form differs from the one found at the start. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type Database, FormDisproved } from '../../../src/sql/database.ts';
import type { ColumnExpression } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import type { Row, SqlPlan } from '../../../src/sql/plan.ts';
import { openSqlite } from '../../../src/sql/sqlite/database.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const COLUMNS =
  'A DATETIME, B DATETIME, U DATETIME, D DATE, H TIME, I INT, L BIGINT, F FLOAT, M DECIMAL(9,2), N NUMERIC, Y BIT, G UUID, S UUID, X TEXT';
const PROVEN =
  "'2024-03-10 08:30:00', '2024-03-10T08:30:00.123', '2024-03-10T08:30:00Z', '2024-03-10', '08:30:00', 5, 9007199254740993, 1.5, 97.60, 12.345, 1, '6FA459EA-EE8A-3CA4-894E-DB77E160355E', '6fa459ea-ee8a-3ca4-894e-db77e160355e', 'word'";
const NAMES = ['A', 'B', 'U', 'D', 'H', 'I', 'L', 'F', 'M', 'N', 'Y', 'G', 'S', 'X'] as const;

interface Watched {
  readonly database: Database;
  /** Number of doubts reported. */
  readonly doubts: () => number;
  /** `mixed`: reads date columns as if rows held other values too. */
  read(bulkhead?: 'export', mixed?: boolean): Promise<readonly Row[]>;
  write(sql: string): void;
  find(): Promise<Readonly<Record<string, unknown>>>;
}

async function watched(row = PROVEN): Promise<Watched> {
  const folder = temporaryFolder();
  const writer = new DatabaseSync(join(folder, 'a.sqlite'));
  writer.exec(
    `CREATE TABLE T (K INTEGER PRIMARY KEY, ${COLUMNS}); CREATE INDEX T_X ON T (X); INSERT INTO T VALUES (1, ${row})`,
  );
  const database = openSqlite(join(folder, 'a.sqlite'));
  onTestFinished(async () => {
    await database.close();
    writer.close();
  });
  let doubts = 0;
  database.onFormDisproved?.(() => doubts++);
  const catalog = await database.catalog();
  const find = async (): Promise<Readonly<Record<string, unknown>>> => {
    const found = await database.forms?.(catalog, () => true);
    return Object.fromEntries([...(found?.tables.get('t')?.columns ?? [])].map(([name, { form }]) => [name, form]));
  };
  await find();
  const alias = identifier('t');
  const columns = NAMES.map((name): ColumnExpression => {
    const type = catalog.tables.get('t')?.columns.get(name.toLowerCase())?.type;
    if (!type) throw new Error(`no type of ${name}`);
    const utc = { separator: 'T', length: 20 } as const;
    const inUtc = {
      kind: 'datetime',
      name: 'datetime2',
      fraction: 7,
      form: { kind: 'any', zone: 'UTC', utc },
    } as const;
    return {
      kind: 'column',
      alias,
      column: identifier(name),
      type: name === 'U' ? inUtc : name === 'S' ? { kind: 'uuid', letters: 'small' } : type,
    };
  });
  const plan: SqlPlan = {
    from: { table: { name: identifier('T') }, alias, joins: [], where: { kind: 'true' } },
    columns,
    orderBy: [
      {
        by: { kind: 'column', alias, column: identifier('K'), type: { kind: 'integer', bits: 32 } },
        descending: false,
      },
    ],
    limit: 100,
    shape: 'rows',
  };
  return {
    ...{ database, find, doubts: () => doubts },
    read: async (bulkhead, mixed = false) =>
      database.query(mixed ? { ...plan, columns: columns.map(asMixed) } : plan, bulkhead && { bulkhead }),
    write: sql => writer.exec(sql),
  };
}

function asMixed(column: ColumnExpression): ColumnExpression {
  const { type } = column;
  const isTime = type.kind === 'date' || type.kind === 'datetime' || type.kind === 'time';
  return isTime && column.column !== 'U' ? { ...column, type: { ...type, mixed: true } } : column;
}

test('rows of proven forms raise no doubt', async () => {
  const { read, doubts, write } = await watched();
  write(`INSERT INTO T VALUES (2, ${NAMES.map(() => 'NULL').join()}), (3, ${PROVEN})`);
  const [first] = await read();
  expect(first).toEqual([
    ...['2024-03-10 08:30:00', '2024-03-10T08:30:00.123', '2024-03-10 08:30:00.0000000', '2024-03-10', '08:30:00', 5],
    ...['9007199254740993', 1.5, '97.60', '12.345', 1],
    ...['6FA459EA-EE8A-3CA4-894E-DB77E160355E', '6FA459EA-EE8A-3CA4-894E-DB77E160355E', 'word'],
  ]);
  expect(doubts()).toBe(0);
});

test.each([
  ['A', "'2024-03-10T08:30:00'"],
  ['A', "'2024-03-10 08:30:00.5'"],
  ['A', "'2024-03-10'"],
  ['A', "'2024-02-30 08:30:00'"],
  ['A', "'2024-03-10 08:61:00'"],
  ['A', "'2024-03-10 24:00:00'"],
  ['A', "'2024-03-10 08:30-00'"],
  ['A', '1710059400'],
  ['A', "x'30'"],
  ['B', "'2024-03-10 08:30:00.123'"],
  ['B', "'2024-03-10T08:30:00.12x'"],
  ['U', "'2024-03-10T08:30:00'"],
  ['U', "'2024-03-10T08:30:00z'"],
  ['U', "'2024-03-10T08:30:0Z '"],
  ['U', "'2024-02-30T08:30:00Z'"],
  ['U', "'2024-03-10T08:60:00Z'"],
  ['D', "'2024-02-30'"],
  ['D', "'2024-03-10 00:00:00'"],
  ['H', "'08:30'"],
  ['H', "'29:30:00'"],
  ['I', "'five'"],
  ['I', '5.5'],
  ['I', '3000000000'],
  ['L', "'9223372036854775808'"],
  ['L', "'x'"],
  ['F', "'<5'"],
  ['F', '9e999'],
  ['M', '97.605'],
  ['M', "''"],
  ['M', "'<5'"],
  ['M', '1e20'],
  ['N', "'<5'"],
  ['N', '-9e999'],
  ['Y', "'Y'"],
  ['G', "'6fa459ea-ee8a-3ca4-894e-db77e160355e'"],
  ['G', "'{6FA459EA-EE8A-3CA4-894E-DB77E160355E}'"],
  ['G', "x'6FA459EAEE8A3CA4894EDB77E160355E'"],
  ['S', "'6FA459EA-EE8A-3CA4-894E-DB77E160355E'"],
  ['S', "'none'"],
  ['X', "'word '"],
])('a row of another form disproves its column: %s %s', async (column, value) => {
  const { read, doubts, write, find, database } = await watched();
  expect(await database.formsChanged?.()).toBe(false);
  write(`INSERT INTO T (K, ${column}) VALUES (2, ${value}), (3, ${value})`);
  await read();
  expect(doubts()).toBeGreaterThan(0);
  expect(await database.formsChanged?.()).toBe(true);
  expect((await find())[column.toLowerCase()]).toBe(column === 'X' ? 'declared' : 'any');
  // After one more look the forms of the rows are known.
  const isApart = column === 'A' && !value.startsWith("'");
  expect(await database.formsChanged?.()).toBe(isApart);
  if (isApart) expect((await find())['a']).toEqual({ separator: ' ', length: 19, mixed: true });
  await read();
  expect(await database.formsChanged?.()).toBe(false);
});

test('bytes among texts disprove their column, and the next scan finds them', async () => {
  const { read, doubts, write, find, database } = await watched();
  write("INSERT INTO T (K, X) VALUES (2, x'30')");
  await read();
  expect(doubts()).toBeGreaterThan(0);
  expect((await find())['x']).toBe('declared');
  expect(await database.formsChanged?.()).toBe(true);
  expect((await find())['x']).toBe('any');
  expect(await database.formsChanged?.()).toBe(false);
});

test('an unreadable large integer raises a doubt for each number column', async () => {
  const { read, doubts, write, find, database } = await watched();
  write('INSERT INTO T (K, I) VALUES (2, 9007199254740993)');
  await expect(read()).rejects.toThrow('could not query');
  expect(doubts()).toBeGreaterThan(0);
  expect(await find()).toMatchObject({ i: 'any', a: { length: 19 } });
  // A look at all rows finds out which column it was.
  expect(await database.formsChanged?.()).toBe(true);
  expect(await find()).toMatchObject({ i: 'any', f: 'declared', m: 'declared' });
});

test('a decimal has its stored digits, padded to the declared scale', async () => {
  const { read, write } = await watched();
  write(
    'DELETE FROM T; INSERT INTO T (K, M) VALUES (1, 5), (2, 0.1), (3, -0.0), (4, -12.5), (5, 97.605), (6, 1e-7), (7, NULL)',
  );
  expect((await read()).map(row => row[NAMES.indexOf('M')])).toEqual([
    ...['5.00', '0.10', '0.00', '-12.50', '97.605', '0.0000001', null],
  ]);
});

const APART = "'0000-00-00 00:00:00', '', '0000-00-00', 'N/A', 0";

test('what sorts apart from the dates of a mixed column is absent, before and after the forms were found', async () => {
  const { read, doubts, write, find } = await watched();
  write(`INSERT INTO T (K, A, B, U, D, H) VALUES (2, ${APART}), (3, ${APART.split(', ').toReversed().join()})`);
  const found = await find();
  for (const column of ['a', 'b', 'u', 'd', 'h']) expect(found[column]).toMatchObject({ mixed: true });
  write("INSERT INTO T (K, A, B, U, D, H) VALUES (4, 1, x'30', '-', '~', '')");
  const rows = await read(undefined, true);
  expect(rows.map(row => row.slice(0, 5))).toEqual([
    ['2024-03-10 08:30:00', '2024-03-10T08:30:00.123', '2024-03-10 08:30:00.0000000', '2024-03-10', '08:30:00'],
    ...[2, 3, 4].map(() => [null, null, null, null, null]),
  ]);
  expect(doubts()).toBe(0);
});

test.each([
  ['A', "' 2024-03-10 08:30:00'"],
  ['A', "'2024-03-10'"],
  ['A', "'2024-02-30 08:30:00'"],
  ['B', "' 2024-03-10T08:30:00.123'"],
  ['U', "' 2024-03-10T08:30:00Z'"],
  ['U', "'2024-03-10T08:30:00'"],
  ['D', "' 2024-03-10'"],
  ['D', "'03/10/2024'"],
  ['H', "' 08:30:00'"],
  ['H', "'08:30'"],
])('a date of another form disproves a mixed column: %s %s', async (column, value) => {
  const { read, doubts, write, find } = await watched();
  write(`INSERT INTO T (K, A, B, U, D, H) VALUES (2, ${APART})`);
  expect((await find())[column.toLowerCase()]).toMatchObject({ mixed: true });
  write(`INSERT INTO T (K, ${column}) VALUES (3, ${value})`);
  await read(undefined, true);
  expect(doubts()).toBe(1);
  expect((await find())[column.toLowerCase()]).toBe('any');
});

test('an export stops at the first unexpected row, without writing its list', async () => {
  const { read, write } = await watched();
  expect(await read('export')).toHaveLength(1);
  write("INSERT INTO T (K, A) VALUES (2, '2024-03-10T08:30:00')");
  await expect(read('export')).rejects.toThrow(FormDisproved);
});

test('a column that is disproved repeatedly is no longer proven', async () => {
  const { read, write, find, doubts } = await watched();
  for (let i = 0; i < 5; i++) {
    write("INSERT INTO T (K, A) VALUES (2, '2024-03-10T08:30:00')");
    await read();
    await find();
    write('DELETE FROM T WHERE K = 2');
    await find();
  }
  expect(doubts()).toBe(3);
  expect((await find())['a']).toBe('any');
});

test('property: a doubt is raised exactly if a full scan finds another form', async () => {
  const value = fc.oneof(
    fc.constantFrom('2024-03-10 08:30:00', '2024-03-10T08:30:00', '2024-03-1 08:30:00', '2024-13-10 08:30:00', ' ', ''),
    fc.tuple(fc.nat(10_000), fc.nat(13), fc.nat(32), fc.nat(25), fc.nat(61), fc.nat(61)).map(([y, m, d, h, i, s]) => {
      const two = (n: number): string => String(n).padStart(2, '0');
      return `${String(y).padStart(4, '0')}-${two(m)}-${two(d)} ${two(h)}:${two(i)}:${two(s)}`;
    }),
    fc.string({ minLength: 19, maxLength: 19 }),
  );
  await fc.assert(
    fc.asyncProperty(value, async text => {
      const { read, doubts, write, database } = await watched();
      write(`INSERT INTO T (K, A) VALUES (2, '${text.replaceAll("'", "''")}')`);
      const { form } =
        (await database.forms?.(await database.catalog(), () => true))?.tables.get('t')?.columns.get('a') ?? {};
      const isOther = form === 'any' || (typeof form === 'object' && form.mixed === true);
      const again = await watched();
      again.write(`INSERT INTO T (K, A) VALUES (2, '${text.replaceAll("'", "''")}')`);
      await again.read();
      expect(again.doubts() > 0).toBe(isOther);
      await read();
      expect(doubts()).toBe(0);
    }),
    { numRuns: 60 },
  );
});
