/**
 * Logins that are refused, slow or too many, by the real driver: how often they are retried, and what continues
 * meanwhile.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { DatabaseError } from '../../../src/sql/database.ts';
import { LoginFailed } from '../../../src/sql/mssql/failure.ts';
import { createLogins } from '../../../src/sql/mssql/logins.ts';
import { createStallDetector } from '../../../src/sql/stall-detector.ts';
import { type Asked, openEndpoint } from './endpoint.ts';
import { failureOf, gate, isQuery, openAt, openScripted, planOf, rowsOf, text, until } from './open.ts';

const isLogin = ({ kind }: Asked): boolean => kind === 'login';

describe('a rotated password', () => {
  it('is tried at most four times in 15 minutes, two at once, whatever the load', async () => {
    let now = 0;
    let tries = 0;
    let most = 0;
    let running = 0;
    const logins = createLogins({ pause: 1000, clock: () => now });
    onTestFinished(() => logins.close());
    const create = async (): Promise<never> => {
      tries++;
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      throw new Error('refused');
    };
    const ask = (): Promise<unknown> =>
      logins
        .logIn(
          create,
          () => ({ number: 18456, state: 1 }),
          () => false,
        )
        .catch((error: unknown) => error);
    const first = await Promise.all(Array.from({ length: 50 }, ask));
    expect(first.every(error => error instanceof LoginFailed)).toBe(true);
    expect(most).toBeLessThanOrEqual(2);
    for (; now < 15 * 60_000; now += 1000) await Promise.all([ask(), ask(), ask()]);
    // Two logins may have begun before the first refusal.
    expect(tries).toBeLessThanOrEqual(4 * 2);
    const inFirstQuarter = tries;
    for (; now < 75 * 60_000; now += 1000) await ask();
    expect(tries - inFirstQuarter).toBeLessThanOrEqual(5);
  });

  it('keeps existing connections working, without a new login per request', async () => {
    const endpoint = await openEndpoint();
    onTestFinished(() => endpoint.stop());
    // A pause longer than the test.
    const how = { probePause: 60_000, timeLimit: 600_000 };
    const { database } = await openAt(endpoint, '&pool=3&connectTimeout=60000&queueTimeout=60000', how);
    await database.query(planOf());
    endpoint.script = asked => (isLogin(asked) ? { error: 18456 } : rowsOf([7]));
    const before = endpoint.asked.filter(isLogin).length;
    const answers = await Promise.all(Array.from({ length: 12 }, () => database.query(planOf())));
    expect(answers).toEqual(Array.from({ length: 12 }, () => [[7]]));
    expect(endpoint.asked.filter(isLogin).length - before).toBeLessThanOrEqual(2);
    expect(database.load().away).toBe(false);
  });
});

it('a slow login fails its waiting statements, without opening the breaker for working connections', async () => {
  const { database, endpoint } = await openScripted(() => undefined, '&pool=2&connectTimeout=2000');
  await database.query(planOf());
  const long = gate();
  endpoint.script = async asked => {
    if (isLogin(asked)) return 'deaf';
    if (isQuery(asked) && asked.text.includes('a.T')) await long.passed;
    return rowsOf([7]);
  };
  const longer = database.query(planOf(undefined, [text]));
  await until(() => endpoint.asked.some(asked => isQuery(asked) && asked.text.includes('a.T')));
  // The only connection is busy.
  const failed = await failureOf(database.query(planOf()));
  expect(failed).toMatchObject({ reason: 'unavailable', engine: { code: 'ETIMEOUT' } });
  expect(database.load().away).toBe(false);
  long.open();
  expect(await longer).toEqual([[7]]);
  expect(await database.query(planOf())).toEqual([[7]]);
});

describe('the stall probe', () => {
  const never = new Promise<never>(() => undefined);

  it('ends nothing if it fails while statements are answered', async () => {
    let silent = 0;
    let failed = 0;
    const probing = gate();
    const failing = gate();
    const probe = async (): Promise<void> => {
      probing.open();
      await failing.passed;
      if (failed++ === 0) throw new Error('slow login');
      // No statement is answered any more, without an error.
      await never;
    };
    const detector = createStallDetector({ probe, timeLimit: 5, onStall: () => silent++ });
    const ended: unknown[] = [];
    void detector.during(signal => {
      signal.addEventListener('abort', () => ended.push(signal.reason));
      return never;
    });
    await probing.passed;
    await detector.during(async () => 'an answer');
    failing.open();
    await new Promise(resolve => setTimeout(resolve, 30));
    expect([silent, ended]).toEqual([0, []]);
  });

  it('counts a refused login as an answer', async () => {
    let silent = 0;
    const probe = (): Promise<void> => Promise.reject(new Error('refused'));
    const detector = createStallDetector({ probe, timeLimit: 5, isThere: () => true, onStall: () => silent++ });
    const statement = gate();
    const asked = detector.during(() => statement.passed);
    await new Promise(resolve => setTimeout(resolve, 40));
    statement.open();
    await asked;
    expect(silent).toBe(0);
  });

  it('ends waiting statements if it fails without answers, with varied retry times', async () => {
    const detector = createStallDetector({
      probe: () => Promise.reject(new Error('away')),
      timeLimit: 5,
      onStall: () => undefined,
    });
    const waiting = Array.from({ length: 60 }, () =>
      detector.during(
        signal =>
          new Promise<never>((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
      ),
    );
    const failures = await Promise.all(waiting.map(one => failureOf(one)));
    expect(failures.every(error => error instanceof DatabaseError && error.reason === 'unavailable')).toBe(true);
    expect(new Set(failures.map(({ retryAfter }) => retryAfter)).size).toBeGreaterThan(1);
  });

  it('sends one statement at a time, on one connection', async () => {
    const endpoint = await openEndpoint();
    onTestFinished(() => endpoint.stop());
    const { database } = await openAt(endpoint, '&connectTimeout=60000', { timeLimit: 5 });
    const slow = gate();
    endpoint.script = async asked => {
      if (isQuery(asked)) await slow.passed;
      return rowsOf([1]);
    };
    const waiting = Array.from({ length: 30 }, () => database.query(planOf()));
    const probes = () => endpoint.asked.filter(({ text }) => text === 'SELECT 1');
    await until(() => probes().length > 3);
    slow.open();
    await Promise.all(waiting);
    expect(new Set(probes().map(({ connection }) => connection)).size).toBe(1);
  });
});
