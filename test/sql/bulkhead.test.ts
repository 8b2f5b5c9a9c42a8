import { describe, expect, it } from 'vitest';
import { createLane } from '../../src/sql/bulkhead.ts';
import { DatabaseError } from '../../src/sql/database.ts';

async function reasonOf(action: Promise<unknown>): Promise<string> {
  try {
    await action;
  } catch (error) {
    if (error instanceof DatabaseError) return error.reason;
    throw error;
  }
  return 'none';
}

const LONG = 60_000;

describe('a lane', () => {
  it('lets so many in, and the next when one leaves, in their order', async () => {
    const lane = createLane({ size: 2, queue: 5, wait: LONG });
    const [first] = [await lane.enter(), await lane.enter()];
    const order: string[] = [];
    const third = lane.enter().then(leave => {
      order.push('third');
      return leave;
    });
    const fourth = lane.enter().then(leave => {
      order.push('fourth');
      return leave;
    });
    await Promise.resolve();
    expect(order).toEqual([]);
    first?.();
    (await third)();
    await fourth;
    expect(order).toEqual(['third', 'fourth']);
  });

  it('refuses at once when the queue is full, and says when to come again', async () => {
    const lane = createLane({ size: 1, queue: 1, wait: LONG });
    const leave = await lane.enter();
    const second = lane.enter();
    await expect(lane.enter()).rejects.toMatchObject({
      reason: 'unavailable',
      retryAfter: expect.toBeOneOf([1, 2, 3]),
    });
    leave();
    (await second)();
  });

  it('refuses one that waited too long, and keeps its place free for others', async () => {
    const lane = createLane({ size: 1, queue: 1, wait: 5 });
    const leave = await lane.enter();
    expect(await reasonOf(lane.enter())).toBe('unavailable');
    leave();
    (await lane.enter())();
  });

  it('forgets one that is cancelled while it waits', async () => {
    const lane = createLane({ size: 1, queue: 1, wait: LONG });
    const leave = await lane.enter();
    const controller = new AbortController();
    const waiting = reasonOf(lane.enter(controller.signal));
    controller.abort();
    expect(await waiting).toBe('cancelled');
    const next = lane.enter();
    leave();
    (await next)();
    expect(await reasonOf(lane.enter(AbortSignal.abort()))).toBe('cancelled');
  });

  it('counts whom it refused, and not whoever left by himself', async () => {
    const lane = createLane({ size: 1, queue: 1, wait: LONG });
    const leave = await lane.enter();
    const leaving = new AbortController();
    const waiting = reasonOf(lane.enter(leaving.signal));
    expect(await reasonOf(lane.enter())).toBe('unavailable');
    expect(lane.load()).toEqual({ size: 1, taken: 1, waiting: 1, refused: 1 });
    leaving.abort();
    await waiting;
    leave();
    expect(lane.load()).toEqual({ size: 1, taken: 0, waiting: 0, refused: 1 });
  });

  it('frees one place only, however often its leaver leaves', async () => {
    const lane = createLane({ size: 1, queue: 0, wait: LONG });
    const leave = await lane.enter();
    leave();
    leave();
    await lane.enter();
    expect(await reasonOf(lane.enter())).toBe('unavailable');
  });
});
