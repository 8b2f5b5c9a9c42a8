/**
 * The real driver against a scripted server that is unreachable or does not answer: which callers get an error, and how
 * service resumes.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { openEndpoint } from './endpoint.ts';
import { failureOf, gate, isBack, isQuery, openAt, openScripted, planOf, rowsOf, until } from './open.ts';

describe('the breaker', () => {
  it('refuses at once while the database is away, and recovers by itself', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    await database.query(planOf());
    await endpoint.stop();
    expect((await failureOf(database.query(planOf()))).reason).toBe('unavailable');
    const failure = await failureOf(database.query(planOf()));
    expect(failure).toMatchObject({ reason: 'unavailable', message: 'the database is away' });
    expect(failure.retryAfter).toBeGreaterThan(0);
    await endpoint.start();
    await isBack(database);
    expect(await database.query(planOf())).toEqual([[1]]);
    expect(await database.query(planOf(), { bulkhead: 'export' })).toEqual([[1]]);
  });

  it('opens for a refused login, as during recovery of a server', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    await endpoint.stop();
    await endpoint.start();
    endpoint.script = ({ kind }) => (kind === 'login' ? { error: 18456 } : undefined);
    expect((await failureOf(database.query(planOf()))).reason).toBe('unavailable');
    expect((await failureOf(database.query(planOf()))).message).toBe('the database is away');
    // A query without a connection holds no slot.
    expect(database.load().bulkheads['interactive']).toMatchObject({ taken: 0 });
    endpoint.script = () => undefined;
    await isBack(database);
  });

  it('opens if a login gets no answer in time', async () => {
    const { database, endpoint } = await openScripted(() => undefined, '&connectTimeout=1000');
    await endpoint.stop();
    await endpoint.start();
    endpoint.script = ({ kind }) => (kind === 'login' ? 'deaf' : undefined);
    expect((await failureOf(database.query(planOf()))).reason).toBe('unavailable');
    expect((await failureOf(database.query(planOf()))).message).toBe('the database is away');
  });
});

describe('a server that accepts statements without answering', () => {
  it('is detected on a working connection: waiting statements fail, the breaker opens, and it recovers', async () => {
    const endpoint = await openEndpoint();
    onTestFinished(() => endpoint.stop());
    const { database } = await openAt(endpoint, '&connectTimeout=1000&timeout=600000', { timeLimit: 20 });
    await database.query(planOf());
    endpoint.script = () => 'deaf';
    const failures = await Promise.all([1, 2, 3].map(() => failureOf(database.query(planOf()))));
    for (const { reason, retryAfter } of failures) {
      expect(reason).toBe('unavailable');
      expect(retryAfter).toBeGreaterThan(0);
    }
    expect((await failureOf(database.query(planOf()))).message).toBe('the database is away');
    endpoint.script = () => undefined;
    await isBack(database);
    expect(await database.query(planOf())).toEqual([[1]]);
  });

  it('is distinguished from a slow one', async () => {
    const endpoint = await openEndpoint();
    onTestFinished(() => endpoint.stop());
    const { database } = await openAt(endpoint, '&connectTimeout=1000', { timeLimit: 10 });
    const slow = gate();
    endpoint.script = async asked => {
      if (isQuery(asked)) await slow.passed;
      return rowsOf([1]);
    };
    const asked = database.query(planOf());
    await until(() => endpoint.asked.filter(({ text: sql }) => sql === 'SELECT 1').length > 2);
    slow.open();
    expect(await asked).toEqual([[1]]);
  });
});
