/** The real driver against a scripted server: statements that time out, and too many statements. */
import { describe, expect, it } from 'vitest';
import { ByteLimit } from '../../../src/sql/row-limits.ts';
import { failureOf, gate, isQuery, openScripted, planOf, rowsOf, text, until } from './open.ts';

describe('an abandoned query', () => {
  it('is cancelled on the server by its caller, and the connection is reused', async () => {
    const asking = gate();
    const { database, endpoint } = await openScripted(asked => {
      if (!isQuery(asked)) return undefined;
      asking.open();
      return 'hang';
    });
    const controller = new AbortController();
    const failing = failureOf(database.query(planOf(), { signal: controller.signal }));
    await asking.passed;
    controller.abort();
    expect((await failing).reason).toBe('cancelled');
    await until(() => endpoint.asked.some(({ kind }) => kind === 'attention'));
    endpoint.script = () => undefined;
    const connections = endpoint.asked.filter(({ kind }) => kind === 'login').length;
    expect(await database.query(planOf())).toEqual([[1]]);
    expect(endpoint.asked.filter(({ kind }) => kind === 'login')).toHaveLength(connections);
  });

  it('is not sent if it had not begun', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    const error = await failureOf(database.query(planOf(), { signal: AbortSignal.abort() }));
    expect(error.reason).toBe('cancelled');
    expect(endpoint.asked.filter(isQuery)).toEqual([]);
  });

  it('is cancelled on the server after a timeout', async () => {
    const { database, endpoint } = await openScripted(asked => (isQuery(asked) ? 'hang' : undefined), '&timeout=500');
    // Logged in before, so that the server's part of the time runs out, and not the login's.
    await database.ping();
    expect(await failureOf(database.query(planOf()))).toMatchObject({
      reason: 'unavailable',
      message: 'the statement took too long and was cancelled',
    });
    await until(() => endpoint.asked.some(({ kind }) => kind === 'attention'));
    endpoint.script = () => undefined;
    expect(await database.query(planOf())).toEqual([[1]]);
  });

  it('fails at once if the server ignores the cancellation, and its connection is dropped', async () => {
    const { database, endpoint } = await openScripted(asked => (isQuery(asked) ? 'deaf' : undefined), '&timeout=30');
    await failureOf(database.query(planOf()));
    const deaf = endpoint.asked.findLast(isQuery)?.connection;
    endpoint.script = () => undefined;
    expect(await database.query(planOf())).toEqual([[1]]);
    expect(endpoint.asked.findLast(isQuery)?.connection).not.toBe(deaf);
    await until(() => endpoint.connections() === 1);
  });
});

describe('rows of many bytes', () => {
  const columns = [{ name: 't', type: 'nvarchar' }] as const;
  const rows = Array.from({ length: 2000 }, (_, i) => [`${i}`.padStart(1000, 'x')]);
  const plan = planOf(undefined, [text]);

  it('end the statement, which is cancelled on the server, and the connection is reused', async () => {
    const { database, endpoint } = await openScripted(asked => (isQuery(asked) ? { columns, rows } : undefined));
    const bytes = new ByteLimit(4500, 1);
    const found = await database.query(plan, { bytes });
    expect(found).toEqual(rows.slice(0, 4));
    expect([bytes.reached, bytes.bytes]).toEqual([true, 4000]);
    expect(endpoint.asked.some(({ kind }) => kind === 'attention')).toBe(true);
    const connections = endpoint.asked.filter(({ kind }) => kind === 'login').length;
    expect(await database.query(plan, { bytes: new ByteLimit(10_000_000, 1) })).toEqual(rows);
    expect(endpoint.asked.filter(({ kind }) => kind === 'login')).toHaveLength(connections);
  });

  it('arrive in shorter lists in a stream, and none is left out', async () => {
    const { database } = await openScripted(asked => (isQuery(asked) ? { columns, rows } : undefined));
    const lists: number[] = [];
    const found: unknown[] = [];
    for await (const list of database.stream(plan, 100, { bytes: new ByteLimit(4500, 1) })) {
      lists.push(list.length);
      found.push(...list);
    }
    expect(found).toEqual(rows);
    expect(Math.max(...lists)).toBe(4);
  });

  it('are cancelled by the caller as ever', async () => {
    const { database } = await openScripted(asked => (isQuery(asked) ? 'hang' : undefined));
    const controller = new AbortController();
    const failing = failureOf(database.query(plan, { bytes: new ByteLimit(1, 1), signal: controller.signal }));
    controller.abort();
    expect((await failing).reason).toBe('cancelled');
  });
});

describe('more statements than connections', () => {
  it('wait in the queue, and those beyond it are refused with a time to retry', async () => {
    const free = gate();
    const { database, endpoint } = await openScripted(async asked => {
      if (isQuery(asked)) await free.passed;
      return rowsOf([1]);
    }, '&pool=2&queue=1');
    const three = [1, 2, 3].map(() => database.query(planOf()));
    await until(() => endpoint.asked.filter(isQuery).length === 2);
    expect(await failureOf(database.query(planOf()))).toMatchObject({
      reason: 'unavailable',
      retryAfter: expect.toBeOneOf([1, 2, 3]),
    });
    free.open();
    expect(await Promise.all(three)).toEqual([[[1]], [[1]], [[1]]]);
  });

  it('of an export do not delay a request', async () => {
    const free = gate();
    const { database, endpoint } = await openScripted(async asked => {
      if (isQuery(asked) && asked.text.includes('a.T')) await free.passed;
      return rowsOf([1]);
    }, '&exportPool=2&pool=1');
    const slow = planOf(undefined, [text]);
    const exports = [1, 2, 3].map(() => database.query(slow, { bulkhead: 'export' }));
    await until(() => endpoint.asked.filter(isQuery).length === 2);
    expect(await database.query(planOf())).toEqual([[1]]);
    free.open();
    await Promise.all(exports);
  });

  it('an abandoned statement keeps its slot until its connection is free', async () => {
    const { database, endpoint } = await openScripted(
      asked => (isQuery(asked) ? 'deaf' : undefined),
      '&pool=1&queue=1&queueTimeout=20&timeout=500',
    );
    // Logged in before, so that the server's part of the time runs out, and not the login's.
    await database.ping();
    await failureOf(database.query(planOf()));
    expect((await failureOf(database.query(planOf()))).message).toContain('no connection');
    expect(endpoint.asked.filter(isQuery)).toHaveLength(1);
  });
});
