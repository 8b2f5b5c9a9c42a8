import { afterEach, expect, test, vi } from 'vitest';
import { countStatements, type StatementCount, tallyStatements } from '../../src/observe/statements.ts';
import { type Database, DatabaseError } from '../../src/sql/database.ts';
import type { Row, SqlPlan } from '../../src/sql/plan.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';

afterEach(() => vi.restoreAllMocks());

const PLAN = {} as SqlPlan;

/** A database whose statements are counted, and the counts. */
function counted(instead: Partial<Database>) {
  const told: StatementCount[] = [];
  return { told, database: countStatements({ ...openSqlite(':memory:'), ...instead }, one => told.push(one)) };
}

const ended = (told: readonly StatementCount[]) =>
  told.map(({ mapping, bulkhead, outcome }) => [mapping, bulkhead, outcome]);

test('a statement is counted by mapping, bulkhead and outcome', async () => {
  const query = vi.fn<Database['query']>();
  const { database, told } = counted({ query });
  query.mockResolvedValueOnce([]);
  await database.query(PLAN, { mapping: 'people', bulkhead: 'export' });
  query.mockRejectedValueOnce(new RangeError('broken'));
  await expect(database.query(PLAN, { mapping: 'people' })).rejects.toThrow('broken');
  query.mockRejectedValueOnce(new DatabaseError('unavailable', 'away'));
  await expect(database.query(PLAN)).rejects.toThrow('away');
  await database.ping();
  expect(ended(told)).toEqual([
    ['people', 'export', 'answered'],
    ['people', 'interactive', 'failed'],
    ['none', 'interactive', 'unavailable'],
  ]);
  await database.close();
});

test('a stream counts as one statement, with the time spent waiting for its lists', async () => {
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const { database, told } = counted({
    async *stream() {
      now += 5;
      yield [[1]];
      now += 7;
      yield [[2]];
    },
  });
  const rows: Row[] = [];
  for await (const list of database.stream(PLAN, 1, { mapping: 'people', bulkhead: 'export' })) {
    rows.push(...list);
    // The caller's own work with the rows.
    now += 1000;
  }
  expect(rows).toEqual([[1], [2]]);
  expect(told).toEqual([
    { mapping: 'people', bulkhead: 'export', outcome: 'answered', statements: 1, milliseconds: 12 },
  ]);
  await database.close();
});

test('a failed and an abandoned stream are counted as such; abandoning ends the statement', async () => {
  let open = 0;
  const { database, told } = counted({
    async *stream(_plan, size) {
      open++;
      try {
        yield [[1]];
        if (size === 2) throw new DatabaseError('unavailable', 'cut');
        yield [[2]];
      } finally {
        open--;
      }
    },
  });
  const read = async (size: number): Promise<void> => {
    for await (const _ of database.stream(PLAN, size, { bulkhead: 'export' })) if (size === 1) break;
  };
  await read(1);
  await expect(read(2)).rejects.toThrow('cut');
  expect(ended(told)).toEqual([
    ['none', 'export', 'cancelled'],
    ['none', 'export', 'unavailable'],
  ]);
  expect(open).toBe(0);
  await database.close();
});

test('an error has its mapping, and a missing schema object is counted as such', async () => {
  const refused = new DatabaseError('failed', 'not there', { engine: { number: 208, state: 1 }, missing: true });
  const { database, told } = counted({
    query: () => Promise.reject(refused),
    // biome-ignore lint/correctness/useYield: it fails before its first list.
    async *stream() {
      throw new DatabaseError('unavailable', 'away', { engine: { code: 'ESOCKET' } });
    },
  });
  await expect(database.query(PLAN, { mapping: 'people' })).rejects.toBe(refused);
  expect(refused.describe()).toEqual({
    ...{ reason: 'failed', database: 'not there', number: 208, state: 1 },
    mapping: 'people',
  });
  const lists = database.stream(PLAN, 1, { mapping: 'weights' })[Symbol.asyncIterator]();
  await expect(lists.next()).rejects.toMatchObject({ mapping: 'weights', engine: { code: 'ESOCKET' } });
  expect(ended(told)).toEqual([
    ['people', 'interactive', 'missing'],
    ['weights', 'interactive', 'unavailable'],
  ]);
  await database.close();
});

test('a tally adds up equal labels, and returns each count once', () => {
  const { count, take } = tallyStatements();
  const one: StatementCount = {
    mapping: 'people',
    bulkhead: 'export',
    outcome: 'answered',
    statements: 1,
    milliseconds: 2,
  };
  for (let i = 0; i < 1000; i++) count(one);
  count({ ...one, outcome: 'failed' });
  expect(take()).toEqual([
    { ...one, statements: 1000, milliseconds: 2000 },
    { ...one, outcome: 'failed' },
  ]);
  expect(take()).toEqual([]);
  count(one);
  expect(take()).toEqual([one]);
});
