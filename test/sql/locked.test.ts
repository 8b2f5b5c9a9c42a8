import { expect, it } from 'vitest';
import { createLockedTables } from '../../src/sql/locked.ts';
import { retryIn } from '../../src/sql/retry-after.ts';

function at(): { readonly locks: ReturnType<typeof createLockedTables>; readonly go: (by: number) => void } {
  let now = 0;
  const locks = createLockedTables({ pause: 100, clock: () => now });
  return {
    locks,
    go: by => {
      now += by;
    },
  };
}

it('admits one statement per pause', () => {
  const { locks, go } = at();
  locks.locked(['a']);
  expect(() => locks.check(['a'])).toThrow('a is locked');
  go(100);
  expect(() => locks.check(['a', 'b'])).not.toThrow();
  expect(() => locks.check(['a'])).toThrow('a is locked');
});

it('a statement refused for one locked table does not count as a try for another', () => {
  const { locks, go } = at();
  locks.locked(['a']);
  go(100);
  locks.locked(['b']);
  expect(() => locks.check(['a', 'b'])).toThrow('b is locked');
  expect(locks.check(['a'])).toBe(true);
});

it('marks the statement that probes the lock', () => {
  const { locks, go } = at();
  expect(locks.check(['a'])).toBe(false);
  locks.locked(['a']);
  go(100);
  expect(locks.check(['a'])).toBe(true);
});

it('forgets tables after an answer, and after a long time without use', () => {
  const { locks, go } = at();
  locks.locked(['a', 'b']);
  locks.answered(['a']);
  expect(() => locks.check(['a', 'b'])).toThrow();
  locks.answered(['a', 'b', 'c']);
  expect(() => locks.check(['a', 'b'])).not.toThrow();
  locks.locked(['a']);
  go(100_000);
  expect(() => locks.check(['a'])).not.toThrow();
  expect(() => locks.check(['a'])).not.toThrow();
});

it('remembers a bounded number of tables', () => {
  const { locks } = at();
  for (let i = 0; i < 1000; i++) locks.locked([`t${i}`]);
  expect(() => locks.check(['t0'])).not.toThrow();
  expect(() => locks.check(['t999'])).toThrow();
});

it('gives clients varied retry times, none too early', () => {
  const delays = [0, 0.2, 0.5, 0.999].map(random => retryIn(5, () => random));
  expect(delays).toEqual([5, 7, 10, 15]);
  expect([0, 0.5, 0.999].map(random => retryIn(1, () => random))).toEqual([1, 2, 3]);
});
