import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchSchema } from '../../src/reload/schema-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A watched schema, of which something may be missing. */
function watched() {
  const schema = { looks: 0, found: 'lacking' as 'whole' | 'lacking', slow: Promise.resolve() };
  const watch = watchSchema({
    pause: 1000,
    async look() {
      schema.looks++;
      await schema.slow;
      return schema.found;
    },
  });
  return { schema, watch };
}

test('a thousand failed statements cause one schema check, and no more if nothing is missing', async () => {
  const { schema, watch } = watched();
  schema.found = 'whole';
  watch.missed();
  expect(schema.looks).toBe(1);
  await vi.advanceTimersByTimeAsync(5000);
  expect(schema.looks).toBe(1);
  for (let i = 0; i < 1000; i++) watch.missed();
  expect(schema.looks).toBe(2);
  await vi.advanceTimersByTimeAsync(500);
  for (let i = 0; i < 1000; i++) watch.missed();
  expect(schema.looks).toBe(2);
  // The watcher had not reported them after its earlier look.
  await vi.advanceTimersByTimeAsync(500);
  expect(schema.looks).toBe(3);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(schema.looks).toBe(3);
});

test('a missing object is checked after each pause until it exists', async () => {
  const { schema, watch } = watched();
  watch.missed();
  await vi.advanceTimersByTimeAsync(3000);
  expect(schema.looks).toBe(4);
  schema.found = 'whole';
  await vi.advanceTimersByTimeAsync(60_000);
  expect(schema.looks).toBe(5);
});

test('a known missing object is checked after a pause', async () => {
  const { schema, watch } = watched();
  schema.found = 'whole';
  watch.lacking();
  watch.lacking();
  expect(schema.looks).toBe(0);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(schema.looks).toBe(1);
});

test('no check begins during another one, or after the end', async () => {
  const { schema, watch } = watched();
  const { promise, resolve } = Promise.withResolvers<void>();
  schema.slow = promise;
  watch.missed();
  await vi.advanceTimersByTimeAsync(60_000);
  watch.missed();
  expect(schema.looks).toBe(1);
  let over = false;
  const stopped = watch.stop().then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(over).toBe(false);
  resolve();
  await stopped;
  watch.missed();
  watch.lacking();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(schema.looks).toBe(1);
});
