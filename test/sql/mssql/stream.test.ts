/** Rows streamed in lists, by the real driver from a scripted server on loopback. */
import { expect, onTestFinished, test } from 'vitest';
import type { Row } from '../../../src/sql/plan.ts';
import { type Answer, type Asked, NUMBERS, openEndpoint } from './endpoint.ts';
import { failureOf, isQuery, number, openAt, openScripted, planOf, text, until } from './open.ts';

const numbers = (count: number): readonly (readonly [number])[] => Array.from({ length: count }, (_, i) => [i]);

function answering(answer: (asked: Asked) => Answer): (asked: Asked) => Answer {
  return asked => (isQuery(asked) ? answer(asked) : { columns: NUMBERS, rows: [[1]] });
}

/** Returns all lists of a stream. */
async function taken(lists: AsyncIterable<readonly Row[]>): Promise<readonly (readonly Row[])[]> {
  const all: (readonly Row[])[] = [];
  for await (const rows of lists) all.push(rows);
  return all;
}

test.each([0, 1, 9, 10, 11, 2500])('%i rows are read in lists of ten, the last one shorter', async count => {
  const { database } = await openScripted(answering(() => ({ columns: NUMBERS, rows: numbers(count) })));
  const lists = await taken(database.stream(planOf(), 10));
  expect(lists.flat()).toEqual(numbers(count));
  expect(lists.map(rows => rows.length)).toEqual(
    Array.from({ length: Math.ceil(count / 10) }, (_, i) => Math.min(10, count - i * 10)),
  );
});

test('a slow reader applies back-pressure, and still gets every row', async () => {
  const columns = [...NUMBERS, { name: 't', type: 'nvarchar' }] as const;
  const wide = 'x'.repeat(1500);
  const all = 12_000;
  let sent = 0;
  function* many(): Generator<readonly [number, string]> {
    for (; sent < all; sent++) yield [sent, wide];
  }
  const { database } = await openScripted(answering(() => ({ columns, rows: many() })));
  let next = 0;
  let left = 0;
  for await (const rows of database.stream(planOf(undefined, [number, text]), 100)) {
    if (next === 0) {
      // No more rows are sent once both buffers are full, far from the end.
      for (let before = -1; before !== sent; ) {
        before = sent;
        await new Promise(resolve => setTimeout(resolve, 100));
      }
      left = all - sent;
    }
    expect(rows.map(([no]) => no)).toEqual(rows.map(() => next++));
  }
  expect(next).toBe(all);
  expect(left).toBeGreaterThan(all / 2);
});

test('a reader that stops cancels the statement, and the connection is reused', async () => {
  const { database, endpoint } = await openScripted(answering(() => ({ columns: NUMBERS, rows: numbers(200_000) })));
  for await (const rows of database.stream(planOf(), 10)) {
    expect(rows).toHaveLength(10);
    break;
  }
  await until(() => endpoint.asked.some(({ kind }) => kind === 'attention'));
  await until(() => database.load().bulkheads['interactive']?.taken === 0);
  endpoint.script = () => undefined;
  expect(await database.query(planOf())).toEqual([[1]]);
  // On a slow machine the server may have been probed meanwhile, on a separate connection.
  const connections = endpoint.asked.filter(isQuery).map(({ connection }) => connection);
  expect(connections).toHaveLength(2);
  expect(new Set(connections).size).toBe(1);
});

test('an aborted signal ends it between two lists', async () => {
  const { database, endpoint } = await openScripted(answering(() => ({ columns: NUMBERS, rows: numbers(200_000) })));
  const controller = new AbortController();
  const lists = database.stream(planOf(), 10, { signal: controller.signal })[Symbol.asyncIterator]();
  expect((await lists.next()).done).toBe(false);
  controller.abort();
  const rest = async (): Promise<void> => {
    while (!(await lists.next()).done);
  };
  expect((await failureOf(rest())).reason).toBe('cancelled');
  await until(() => endpoint.asked.some(({ kind }) => kind === 'attention'));
});

test('a deadlock before the first list is retried once', async () => {
  let tries = 0;
  const { database } = await openScripted(
    answering(() => (++tries === 1 ? { error: 1205 } : { columns: NUMBERS, rows: [[7]] })),
  );
  expect(await taken(database.stream(planOf(), 10))).toEqual([[[7]]]);
  expect(tries).toBe(2);
});

test('a connection lost after a list is not retried, so no row is repeated', async () => {
  let tries = 0;
  const { database } = await openScripted(
    answering(() => {
      tries++;
      return { columns: NUMBERS, rows: numbers(2000), cut: 'mid-row' };
    }),
  );
  const got: Row[] = [];
  const take = async (): Promise<void> => {
    for await (const rows of database.stream(planOf(), 10)) got.push(...rows);
  };
  expect((await failureOf(take())).reason).toBe('unavailable');
  expect(tries).toBe(1);
  expect(got).toEqual(numbers(got.length));
  expect(got.length).toBeGreaterThan(0);
});

test('a stream keeps its slot in the bulkhead, and others use the rest', async () => {
  const { database } = await openScripted(
    answering(({ text: sql }) =>
      sql.includes('a.T') ? { columns: NUMBERS, rows: [[1]] } : { columns: NUMBERS, rows: numbers(200_000) },
    ),
    '&exportPool=2&exportQueue=1&exportQueueTimeout=20',
  );
  const bulkhead = { bulkhead: 'export' } as const;
  for await (const rows of database.stream(planOf(), 10, bulkhead)) {
    expect(rows).toHaveLength(10);
    expect(await database.query(planOf(undefined, [text]), bulkhead)).toEqual([[1]]);
    break;
  }
});

test('a server that stalls within a stream is detected, even with a slow reader', async () => {
  const endpoint = await openEndpoint();
  onTestFinished(() => endpoint.stop());
  const { database } = await openAt(endpoint, '', { timeLimit: 50 });
  let silent = false;
  endpoint.script = asked => {
    if (isQuery(asked)) return { columns: NUMBERS, rows: numbers(2005), cut: 'deaf' };
    return silent ? 'deaf' : undefined;
  };
  const got: Row[] = [];
  const take = async (): Promise<void> => {
    for await (const rows of database.stream(planOf(), 1000)) {
      got.push(...rows);
      // The caller's own time does not count as the server's silence.
      await new Promise(resolve => setTimeout(resolve, 200));
      silent = got.length === 2000;
    }
  };
  expect(await failureOf(take())).toMatchObject({ reason: 'unavailable', message: 'the database does not answer' });
  expect(got).toEqual(numbers(2000));
});

test.each([
  ['row versioning', [1, 0], 25],
  ['row locks', [0, 0], 10],
  ['no writers', [0, 0, 1], 25],
])(
  'with %s, a stream of 25 rows is one statement of the expected size',
  async (_title, [committed = 0, snapshot = 0, still = 0], rows) => {
    const endpoint = await openEndpoint(({ text: sql }) =>
      sql.includes('sys.databases')
        ? { columns: [...NUMBERS, ...NUMBERS, ...NUMBERS], rows: [[committed, snapshot, still]] }
        : undefined,
    );
    onTestFinished(() => endpoint.stop());
    const { database } = await openAt(endpoint, '&connectTimeout=60000', { timeLimit: 600_000 });
    // As many rows as the statement's limit, which is its first parameter.
    endpoint.script = asked => {
      if (!isQuery(asked)) return undefined;
      const most = asked.bytes.readInt32LE(asked.bytes.indexOf(Buffer.of(0x26, 4, 4)) + 3);
      return { columns: NUMBERS, rows: numbers(Math.min(25, most)) };
    };
    const lists = await taken(database.stream({ ...planOf(), limit: 25 }, 10, { bulkhead: 'export' }));
    // The caller continues after a full list with a further plan (src/sql/database.ts).
    expect(lists.flat()).toEqual(numbers(rows));
    expect(endpoint.asked.filter(isQuery)).toHaveLength(1);
  },
);
