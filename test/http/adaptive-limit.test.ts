import { expect, test } from 'vitest';
import { createPlaces } from '../../src/http/middleware/limits.ts';

function setUp(most = 10, least = 2, queue = 100) {
  let now = 0;
  const places = createPlaces({ most, least, queue, wait: 600_000 }, () => now);
  return {
    places,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    /** Serves this number of answers, each of this duration, one batch after another. */
    async serve(times: number, each: number): Promise<void> {
      for (let done = 0; done < times; ) {
        const free = places.load().size - places.load().taken;
        const leaves = await Promise.all(Array.from({ length: Math.min(free, times - done) }, () => places.enter()));
        now += each;
        for (const leave of leaves) leave();
        done += leaves.length;
      }
    },
  };
}

test('the limit falls if most answers are slow, and rises if requests wait and most are fast', async () => {
  const { places, serve, pass } = setUp(100, 4);
  await serve(2000, 800);
  expect(places.load().size).toBe(4);
  const held = await Promise.all(Array.from({ length: 4 }, () => places.enter()));
  const rest = Array.from({ length: 90 }, async () => {
    const leave = await places.enter();
    pass(30);
    leave();
  });
  pass(30);
  for (const leave of held) leave();
  await Promise.all(rest);
  expect(places.load().size).toBeGreaterThan(4);
  expect(places.load()).toMatchObject({ taken: 0, waiting: 0, refused: 0 });
});

test('one slow answer among fast ones does not lower the limit', async () => {
  const { places, serve } = setUp();
  const slow = await places.enter();
  await serve(500, 20);
  slow();
  expect(places.load().size).toBe(10);
});

test('the queue is bounded by its size and by the expected wait', async () => {
  const { places } = setUp(1, 1, 3);
  await places.enter();
  const waiting = Array.from({ length: 3 }, () => places.enter());
  expect(places.isFull()).toBe(true);
  await expect(places.enter()).rejects.toMatchObject({ reason: 'unavailable', retryAfter: expect.any(Number) });
  expect(places.load()).toEqual({ size: 1, taken: 1, waiting: 3, refused: 1 });
  expect(waiting).toHaveLength(3);
});

test('refused clients get varied Retry-After values', async () => {
  const { places } = setUp(1, 1, 0);
  await places.enter();
  const told = await Promise.all(
    Array.from({ length: 100 }, () => places.enter().catch((error: { retryAfter: number }) => error.retryAfter)),
  );
  expect(new Set(told).size).toBeGreaterThan(1);
});

test('the limiter detects stalled answers', async () => {
  const { places, pass } = setUp(1);
  pass(60_000);
  const leave = await places.enter();
  expect(places.isStalled()).toBe(false);
  pass(10_001);
  expect(places.isStalled()).toBe(true);
  leave();
  expect(places.isStalled()).toBe(false);
});
