/** Each decision on an error number, on the scripted endpoint: retried or not, in which session, and what continues. */
import { describe, expect, it } from 'vitest';
import { failureOf, isQuery, openScripted, planOf, rowsOf, until } from './open.ts';

const inAnotherSession = [596, 1219];
const again = [1205, 3958, 3961, 3966, 3967];
const later = [701, 802, 1101, 1105, 1204, 1222, 8628, 8645, 8651];

describe.each([...again, ...inAnotherSession])('%i', number => {
  it('is retried once, and answered', async () => {
    const asked: number[] = [];
    const { database } = await openScripted(one => {
      if (!isQuery(one)) return undefined;
      asked.push(one.connection);
      return asked.length === 1 ? { error: number } : rowsOf([7]);
    });
    expect(await database.query(planOf())).toEqual([[7]]);
    expect(asked).toHaveLength(2);
    if (inAnotherSession.includes(number)) expect(asked[1]).not.toBe(asked[0]);
  });

  it('is not retried twice, is no outage, and has its number', async () => {
    let tries = 0;
    const { database } = await openScripted(asked => {
      if (!isQuery(asked)) return undefined;
      tries++;
      return { error: number };
    });
    const error = await failureOf(database.query(planOf()));
    expect(error).toMatchObject({ reason: 'unavailable', message: expect.stringContaining(`(${number})`) });
    // The database is reachable, so the message does not say otherwise.
    expect(error.publicText).toMatch(/^The database (?:is out of resources|gave way|ended the session)/);
    expect(tries).toBe(2);
    expect(database.load()).toMatchObject({ away: false, unexplained: [] });
    await database.ping();
  });
});

describe.each(later)('%i', number => {
  it('is 503 with a reason, not retried, and no outage', async () => {
    let tries = 0;
    const { database } = await openScripted(asked => {
      if (!isQuery(asked)) return undefined;
      tries++;
      return { error: number };
    });
    const error = await failureOf(database.query(planOf()));
    expect(error).toMatchObject({ reason: 'unavailable', engine: { number } });
    expect(error.publicText).toMatch(/locked by another program|out of resources/);
    expect(error.retryAfter).toBeGreaterThan(0);
    expect(tries).toBe(1);
    expect(database.load().away).toBe(false);
    await database.ping();
  });
});

describe.each([916, 18452, 18456, 18470, 18486, 18487, 18488])('%i at a login', number => {
  it('is reported by number, and is an outage if no connection works', async () => {
    const { database, endpoint } = await openScripted(() => undefined);
    await endpoint.stop();
    await endpoint.start();
    endpoint.script = ({ kind }) => (kind === 'login' ? { error: number } : undefined);
    const error = await failureOf(database.query(planOf()));
    expect(error.message).toBe(`the server refuses the login (${number})`);
    expect(error.engine.number).toBe(number);
    expect(database.load().away).toBe(true);
  });
});

it.each([468, 447, 8114, 245])(
  '%i is a fault of the statement or of a row: 500, and nothing else suffers',
  async number => {
    const { database } = await openScripted(asked => (isQuery(asked) ? { error: number } : undefined));
    expect(await failureOf(database.query(planOf()))).toMatchObject({ reason: 'failed', engine: { number } });
    expect(database.load()).toMatchObject({ away: false, unexplained: [] });
  },
);

it('unlisted error numbers are counted, at most 20 of them', async () => {
  let number = 90_000;
  const { database } = await openScripted(asked => (isQuery(asked) ? { error: number } : undefined));
  await failureOf(database.query(planOf()));
  await failureOf(database.query(planOf()));
  for (number = 90_001; number < 90_100; number++) await failureOf(database.query(planOf()));
  const { unexplained = [] } = database.load();
  expect(unexplained).toHaveLength(20);
  expect(unexplained[0]).toEqual({ number: 90_000, times: 2 });
});

describe('connections that end', () => {
  it('all at once are no outage: running and new statements get new connections', async () => {
    const { database, endpoint } = await openScripted(() => undefined, '&pool=8');
    let killing = true;
    // Opens connections that are idle during the fault.
    await Promise.all([1, 2, 3].map(() => database.query(planOf(), { bulkhead: 'export' })));
    endpoint.script = asked => {
      if (!isQuery(asked) || !killing) return undefined;
      if (endpoint.asked.filter(isQuery).length < 3 + 6) return 'hang';
      killing = false;
      endpoint.drop();
      return 'drop';
    };
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => database.query(planOf())));
    expect(answers).toEqual(Array.from({ length: 6 }, () => [[1]]));
    expect(await database.query(planOf(), { bulkhead: 'export' })).toEqual([[1]]);
    expect(database.load().away).toBe(false);
  });

  it('leave no pool behind', async () => {
    let tries = 0;
    const { database, endpoint } = await openScripted(asked =>
      isQuery(asked) && ++tries % 2 === 1 ? 'drop' : undefined,
    );
    for (let i = 0; i < 10; i++) expect(await database.query(planOf())).toEqual([[1]]);
    await until(() => endpoint.connections() <= 1);
  });
});
