import { expect, test } from 'vitest';
import { takeTurns } from '../../src/pipeline/turns.ts';

test('work that fails before it is under way leaves its turn', async () => {
  const take = takeTurns(1);
  const failing = (): Promise<never> => {
    throw new Error('at once');
  };
  for (let i = 0; i < 3; i++) await expect(take(failing)).rejects.toThrow('at once');
  await expect(take(async () => 'done')).resolves.toBe('done');
});

test('so much runs at a time, the rest follows in its order, and what fails leaves its turn', async () => {
  const take = takeTurns(2);
  const begun: number[] = [];
  const ends: PromiseWithResolvers<number>[] = [];
  const all = [0, 1, 2, 3, 4].map(i =>
    take(() => {
      begun.push(i);
      const end = Promise.withResolvers<number>();
      ends[i] = end;
      return end.promise;
    }).catch(() => -1),
  );
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
