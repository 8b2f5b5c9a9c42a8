import { expect, test, vi } from 'vitest';
import { andEnd, andThen } from '../src/common/awaitable.ts';

test('a plain value continues at once, a promise when it resolves', async () => {
  expect(andThen(1, one => one + 1)).toBe(2);
  const later = andThen(Promise.resolve(1), one => one + 1);
  expect(later).toBeInstanceOf(Promise);
  await expect(later).resolves.toBe(2);
});

test('the end handler runs once, after the work, and receives its error', async () => {
  const error = new Error('broken');
  const failing = (): never => {
    throw error;
  };
  const end = vi.fn();
  expect(andEnd(() => 'now', end)).toBe('now');
  expect(() => andEnd(failing, end)).toThrow(error);
  const { promise, resolve } = Promise.withResolvers<string>();
  const later = andEnd(() => promise, end);
  expect(end.mock.calls).toEqual([[], [error]]);
  resolve('later');
  await expect(later).resolves.toBe('later');
  await expect(andEnd(async () => failing(), end)).rejects.toThrow(error);
  expect(end.mock.calls).toEqual([[], [error], [], [error]]);
});
