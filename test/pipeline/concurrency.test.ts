import { expect, test } from 'vitest';
import { limitConcurrency } from '../../src/pipeline/session.ts';

test('work that fails or completes synchronously releases its slot', async () => {
  const take = limitConcurrency(1);
  const failing = (): never => {
    throw new Error('at once');
  };
  for (let i = 0; i < 3; i++) expect(() => take(failing)).toThrow('at once');
  for (let i = 0; i < 3; i++) expect(take(() => i)).toBe(i);
  await expect(take(async () => 'done')).resolves.toBe('done');
});

test('queued work settles with its own result, synchronous or not', async () => {
  const take = limitConcurrency(1);
  const first = Promise.withResolvers<string>();
  const all = [take(() => first.promise), take(() => 'at once'), take(async () => 'later')];
  const failing = take((): never => {
    throw new Error('at once');
  });
  first.resolve('first');
  await expect(failing).rejects.toThrow('at once');
  expect(await Promise.all(all)).toEqual(['first', 'at once', 'later']);
  expect(take(() => 'free')).toBe('free');
});

test('concurrency is bounded, the queue is in order, and failed work releases its slot', async () => {
  const take = limitConcurrency(2);
  const begun: number[] = [];
  const ends: PromiseWithResolvers<number>[] = [];
  const all = [0, 1, 2, 3, 4].map(async i => {
    try {
      return await take(() => {
        begun.push(i);
        const end = Promise.withResolvers<number>();
        ends[i] = end;
        return end.promise;
      });
    } catch {
      return -1;
    }
  });
  const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve));
  await settle();
  expect(begun).toEqual([0, 1]);
  ends[1]?.reject(new Error('failed'));
  await settle();
  expect(begun).toEqual([0, 1, 2]);
  for (const i of [0, 2]) ends[i]?.resolve(i);
  await settle();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  for (const i of [3, 4]) ends[i]?.resolve(i);
  expect(await Promise.all(all)).toEqual([0, -1, 2, 3, 4]);
});
