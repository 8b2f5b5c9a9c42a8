import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createBreaker } from '../../src/sql/breaker.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('passes everything until an outage is reported', () => {
  const breaker = createBreaker({ probe: () => Promise.resolve(), pause: 1000 });
  expect(() => breaker.check()).not.toThrow();
  breaker.trip();
  expect(() => breaker.check()).toThrow(
    expect.objectContaining({ reason: 'unavailable', retryAfter: expect.toBeOneOf([1, 2, 3]) }),
  );
  breaker.close();
});

it('probes once per pause until the database is back', async () => {
  let away = true;
  const probe = vi.fn(() => (away ? Promise.reject(new Error('away')) : Promise.resolve()));
  const breaker = createBreaker({ probe, pause: 1000 });
  breaker.trip();
  breaker.trip();
  await vi.advanceTimersByTimeAsync(3500);
  expect(probe).toHaveBeenCalledTimes(3);
  expect(() => breaker.check()).toThrow();
  away = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(() => breaker.check()).not.toThrow();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(probe).toHaveBeenCalledTimes(4);
});

it('stops probing after it is closed', async () => {
  const probe = vi.fn(() => Promise.reject(new Error('away')));
  const breaker = createBreaker({ probe, pause: 1000 });
  breaker.trip();
  breaker.close();
  await vi.advanceTimersByTimeAsync(5000);
  expect(probe).not.toHaveBeenCalled();
});
