import { describe, expect, it } from 'vitest';
import { createBulkhead } from '../../src/sql/bulkhead.ts';
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

describe('a bulkhead', () => {
  it('admits a bounded number, and then the next in order', async () => {
    const bulkhead = createBulkhead({ size: 2, queue: 5, wait: LONG });
    const [first] = [await bulkhead.enter(), await bulkhead.enter()];
    const order: string[] = [];
    const third = bulkhead.enter().then(leave => {
      order.push('third');
      return leave;
    });
    const fourth = bulkhead.enter().then(leave => {
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

  it('refuses at once with a full queue, with a time to retry', async () => {
    const bulkhead = createBulkhead({ size: 1, queue: 1, wait: LONG });
    const leave = await bulkhead.enter();
    const second = bulkhead.enter();
    await expect(bulkhead.enter()).rejects.toMatchObject({
      reason: 'unavailable',
      retryAfter: expect.toBeOneOf([1, 2, 3]),
    });
    leave();
    (await second)();
  });

  it('refuses an entry that waited too long, and keeps the slot for others', async () => {
    const bulkhead = createBulkhead({ size: 1, queue: 1, wait: 5 });
    const leave = await bulkhead.enter();
    expect(await reasonOf(bulkhead.enter())).toBe('unavailable');
    leave();
    (await bulkhead.enter())();
  });

  it('removes a cancelled entry from the queue', async () => {
    const bulkhead = createBulkhead({ size: 1, queue: 1, wait: LONG });
    const leave = await bulkhead.enter();
    const controller = new AbortController();
    const waiting = reasonOf(bulkhead.enter(controller.signal));
    controller.abort();
    expect(await waiting).toBe('cancelled');
    const next = bulkhead.enter();
    leave();
    (await next)();
    expect(await reasonOf(bulkhead.enter(AbortSignal.abort()))).toBe('cancelled');
  });

  it('counts refused entries, not cancelled ones', async () => {
    const bulkhead = createBulkhead({ size: 1, queue: 1, wait: LONG });
    const leave = await bulkhead.enter();
    const leaving = new AbortController();
    const waiting = reasonOf(bulkhead.enter(leaving.signal));
    expect(await reasonOf(bulkhead.enter())).toBe('unavailable');
    expect(bulkhead.load()).toEqual({ size: 1, taken: 1, waiting: 1, refused: 1 });
    leaving.abort();
    await waiting;
    leave();
    expect(bulkhead.load()).toEqual({ size: 1, taken: 0, waiting: 0, refused: 1 });
  });

  it('frees one slot only, however often it is released', async () => {
    const bulkhead = createBulkhead({ size: 1, queue: 0, wait: LONG });
    const leave = await bulkhead.enter();
    leave();
    leave();
    await bulkhead.enter();
    expect(await reasonOf(bulkhead.enter())).toBe('unavailable');
  });
});
