import { expect, test } from 'vitest';
import { settledClock } from '../../src/audit/settled-clock.ts';

const HOUR = 3_600_000;

test('a clock is trusted once it has not been set for an hour, however far it was set', () => {
  let [wall, steady] = [1_700_000_000_000, 5000];
  const pass = (milliseconds: number): void => {
    wall += milliseconds;
    steady += milliseconds;
  };
  const isSettled = settledClock(
    () => wall,
    () => steady,
  );
  expect(isSettled()).toBe(false);
  pass(HOUR - 1);
  expect(isSettled()).toBe(false);
  pass(1);
  expect(isSettled()).toBe(true);
  for (const set of [30 * 365 * 24 * HOUR, -HOUR, 61_000]) {
    wall += set;
    expect(isSettled()).toBe(false);
    pass(HOUR - 1);
    expect(isSettled()).toBe(false);
    pass(1);
    expect(isSettled()).toBe(true);
  }
  // The gradual correction of a time service does not count as setting the clock.
  wall += 50_000;
  expect(isSettled()).toBe(true);
});
