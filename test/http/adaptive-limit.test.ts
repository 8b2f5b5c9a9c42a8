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
    /** So many answers, each of which takes so long, one list after the other. */
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

test('where most answers take long there are fewer places, and more where some wait and most are quick', async () => {
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

test('one slow answer among quick ones takes no place away', async () => {
  const { places, serve } = setUp();
  const slow = await places.enter();
  await serve(500, 20);
  slow();
  expect(places.load().size).toBe(10);
});

test('no more wait than are served before they have waited too long, and no more than the queue takes', async () => {
  const { places } = setUp(1, 1, 3);
  await places.enter();
  const waiting = Array.from({ length: 3 }, () => places.enter());
  expect(places.isFull()).toBe(true);
  await expect(places.enter()).rejects.toMatchObject({ reason: 'unavailable', retryAfter: expect.any(Number) });
  expect(places.load()).toEqual({ size: 1, taken: 1, waiting: 3, refused: 1 });
  expect(waiting).toHaveLength(3);
});

test('who is refused is told different seconds', async () => {
  const { places } = setUp(1, 1, 0);
  await places.enter();
  const told = await Promise.all(
    Array.from({ length: 100 }, () => places.enter().catch((error: { retryAfter: number }) => error.retryAfter)),
  );
  expect(new Set(told).size).toBeGreaterThan(1);
});

test('it is known when answers no longer go out', async () => {
  const { places, pass } = setUp(1);
  pass(60_000);
  const leave = await places.enter();
  expect(places.isStalled()).toBe(false);
  pass(10_001);
  expect(places.isStalled()).toBe(true);
  leave();
  expect(places.isStalled()).toBe(false);
});
