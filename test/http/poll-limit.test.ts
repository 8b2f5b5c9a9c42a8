import { expect, test } from 'vitest';
import { pollLimit } from '../../src/http/export/routes.ts';

test('ten polls are allowed at once, then one per second, for each job', () => {
  let now = 5000;
  const tooFast = pollLimit(() => now);
  const polls = (name: string, count: number): readonly boolean[] => Array.from({ length: count }, () => tooFast(name));
  expect(polls('a', 12)).toEqual([...Array<boolean>(10).fill(false), true, true]);
  expect(polls('b', 1)).toEqual([false]);
  now += 1000;
  expect(polls('a', 2)).toEqual([false, true]);
  now += 60_000;
  expect(polls('a', 11)).toEqual([...Array<boolean>(10).fill(false), true]);
});
