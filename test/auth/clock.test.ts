/** Setting the system clock back or forward changes neither the life of a session nor the delay of a throttle. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createSessions } from '../../src/auth/sessions.ts';
import { createThrottle } from '../../src/auth/throttle.ts';

const DAY = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test.each([-365 * DAY, -3_600_000, 365 * DAY])('a clock set by %i ms changes no session and no throttle', jump => {
  const anna = { name: 'anna', password: 'hash', disabled: false };
  const limits = { idle: 1000, lifetime: 5000, most: 3, mostPerAccount: 2 };
  const sessions = createSessions({ find: () => anna }, limits);
  const throttle = createThrottle({ free: 1, first: 1000, longest: 8000, keys: 10 });
  const id = sessions.open(anna, undefined);
  throttle.begin('anna');
  vi.setSystemTime(Date.now() + jump);
  // Neither has ended before its time, …
  vi.advanceTimersByTime(900);
  expect(sessions.account(id)).toBe(anna);
  expect(throttle.waitOf('anna')).toBe(100);
  vi.setSystemTime(Date.now() + jump);
  // … and both end in time.
  vi.advanceTimersByTime(1001);
  expect(sessions.account(id)).toBeUndefined();
  expect(throttle.waitOf('anna')).toBe(0);
});
