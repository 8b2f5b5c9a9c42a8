/**
 * A table that another session has locked, and the effect on statements on it and on others: the real driver against a
 * scripted server.
 */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../../src/sql/database.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import type { SqlPlan } from '../../../src/sql/plan.ts';
import type { Asked } from './endpoint.ts';
import { failureOf, gate, openScripted, planOf, rowsOf, until } from './open.ts';

const planOn = (table: string, ...joined: readonly string[]): SqlPlan => {
  const plan = planOf();
  const joins = joined.map((name, i) => ({
    kind: 'left' as const,
    table: { name: identifier(name) },
    alias: identifier(`j${i}`),
    on: { kind: 'true' as const },
  }));
  return { ...plan, from: { ...plan.from, table: { name: identifier(table) }, joins } };
};
const asks =
  (table: string) =>
  ({ kind, text }: Asked): boolean =>
    kind === 'rpc' && new RegExp(`\\b${table} AS`).test(text);
const isBusy = asks('BUSY');
const lockedFailure = { reason: 'unavailable', publicText: 'A table that this needs is locked by another program' };

describe('a locked table', () => {
  it('leaves connections for others, however many statements wait for it', async () => {
    const free = gate();
    const { database, endpoint } = await openScripted(async asked => {
      if (isBusy(asked)) await free.passed;
      return rowsOf([1]);
    }, '&pool=4&queue=40');
    const waiting = Array.from({ length: 20 }, () => database.query(planOn('BUSY')));
    await until(() => endpoint.asked.filter(isBusy).length === 3);
    for (let i = 0; i < 20; i++) expect(await database.query(planOn('OTHER'))).toEqual([[1]]);
    expect(endpoint.asked.filter(isBusy)).toHaveLength(3);
    // A join with the locked table waits as well.
    const joined = database.query(planOn('OTHER', 'BUSY'));
    expect(await database.query(planOn('OTHER'))).toEqual([[1]]);
    free.open();
    await Promise.all([...waiting, joined]);
  });

  it('leaves room in the queue, too', async () => {
    const free = gate();
    const { database, endpoint } = await openScripted(async asked => {
      if (asked.kind === 'rpc') await free.passed;
      return rowsOf([1]);
    }, '&pool=1&queue=4');
    const first = database.query(planOn('BUSY'));
    await until(() => endpoint.asked.some(isBusy));
    const queued = [1, 2, 3].map(() => database.query(planOn('BUSY')));
    expect((await failureOf(database.query(planOn('BUSY')))).message).toContain('too many statements');
    const other = database.query(planOn('OTHER'));
    free.open();
    expect(await Promise.all([first, ...queued, other])).toHaveLength(5);
  });

  it('after error 1222 is refused at once with a reason, except for one probe per pause', async () => {
    // A quarter of the time in the queue: long enough that no pause ends within the test.
    const { database, endpoint } = await openScripted(
      asked => (isBusy(asked) ? { error: 1222 } : rowsOf([1])),
      '&lockTimeout=600000&queueTimeout=999999',
    );
    const first = await failureOf(database.query(planOn('BUSY')));
    expect(first).toMatchObject({ ...lockedFailure, engine: { number: 1222 } });
    for (let i = 0; i < 5; i++) expect(await failureOf(database.query(planOn('BUSY')))).toMatchObject(lockedFailure);
    expect(await failureOf(database.query(planOn('OTHER', 'BUSY')))).toMatchObject(lockedFailure);
    expect(endpoint.asked.filter(isBusy)).toHaveLength(1);
    expect(await database.query(planOn('OTHER'))).toEqual([[1]]);
  });

  it('is queried again after a pause, and works as before', async () => {
    let locked = true;
    const { database } = await openScripted(
      asked => (isBusy(asked) && locked ? { error: 1222 } : rowsOf([1])),
      '&lockTimeout=5',
    );
    await failureOf(database.query(planOn('BUSY')));
    locked = false;
    await until(() => serves(database));
    expect(await database.query(planOn('BUSY'))).toEqual([[1]]);
    expect(await database.query(planOn('BUSY'))).toEqual([[1]]);
  });

  it('is not confused with another table of the same statement', async () => {
    const { database } = await openScripted(
      asked => (isBusy(asked) ? { error: 1222 } : rowsOf([1])),
      '&lockTimeout=600000&queueTimeout=999999',
    );
    await failureOf(database.query(planOn('OTHER', 'BUSY')));
    expect(await database.query(planOn('OTHER'))).toEqual([[1]]);
    expect(await failureOf(database.query(planOn('OTHER', 'BUSY')))).toMatchObject(lockedFailure);
  });
});

async function serves(database: Database): Promise<boolean> {
  return Promise.resolve(database.query(planOn('BUSY'))).then(
    () => true,
    () => false,
  );
}

it.each([
  ['&lockTimeout=5000&queueTimeout=4000', '1000'],
  ['&lockTimeout=700&queueTimeout=4000', '700'],
  ['', '1250'],
])('with "%s" no statement of a request waits for a lock longer than %s ms', async (options, most) => {
  const { database, endpoint } = await openScripted(() => undefined, options);
  endpoint.script = () => undefined;
  await database.query(planOf());
  expect(endpoint.asked.findLast(({ kind }) => kind === 'batch')?.text).toContain(`SET LOCK_TIMEOUT ${most}\n`);
});
