/**
 * A database that is unreachable for a second, a minute and ten minutes, by a fake clock: the real driver against a
 * scripted server.
 */
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openEndpoint } from './endpoint.ts';
import { failureOf, openAt, planOf } from './open.ts';

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Milliseconds; the server's settings. */
const PAUSE = 1000;

/** Lets sockets proceed, by the real clock. */
async function spin(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setImmediate(resolve));
}

test.each([1, 60, 600])(
  'outage of %i s: 503 at once, one login per second, served within 5 s of the return',
  async seconds => {
    const endpoint = await openEndpoint();
    onTestFinished(() => endpoint.stop());
    const how = { probePause: PAUSE, timeLimit: 3_600_000 };
    const { database } = await openAt(endpoint, '&connectTimeout=60000', how);
    expect(await database.query(planOf())).toEqual([[1]]);
    endpoint.script = () => 'drop';
    endpoint.drop();
    // The query that detects the outage fails as well.
    expect((await failureOf(database.query(planOf()))).reason).toBe('unavailable');
    const logins = (): number => endpoint.asked.filter(({ kind }) => kind === 'login').length;
    const before = logins();
    for (let second = 1; second <= seconds; second++) {
      const begun = logins();
      const asked = endpoint.asked.length;
      // The fake clock stands still meanwhile: no query waits.
      const failures = await Promise.all([1, 2, 3].map(() => failureOf(database.query(planOf()))));
      for (const { message, retryAfter } of failures) {
        expect(message).toBe('the database is away');
        expect(retryAfter).toBeGreaterThan(0);
      }
      expect(endpoint.asked).toHaveLength(asked);
      vi.advanceTimersByTime(PAUSE);
      await spin(() => logins() > begun);
      // Waits until the login has failed and the next probe is scheduled.
      await spin(() => endpoint.connections() === 0 && vi.getTimerCount() > 0);
      for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
    }
    expect(logins() - before).toBeLessThanOrEqual(seconds + 1);
    endpoint.script = () => undefined;
    const back = Date.now();
    for (;;) {
      vi.advanceTimersByTime(100);
      for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve));
      if (!database.load().away) break;
    }
    expect(Date.now() - back).toBeLessThanOrEqual(5000);
    expect(await database.query(planOf())).toEqual([[1]]);
  },
);
