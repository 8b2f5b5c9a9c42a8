import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchForms } from '../../src/reload/forms-watch.ts';

test('the watch polls, reports a change once, and stops', async () => {
  const found = [false, true, false];
  let looks = 0;
  let changes = 0;
  const watch = watchForms({
    pause: 1,
    look: async () => found[looks++] ?? false,
    changed: async () => {
      changes++;
    },
  });
  while (looks < 4) await pause(2);
  await watch.stop();
  const ended = looks;
  await pause(20);
  expect(looks).toBe(ended);
  expect(changes).toBe(1);
});

test('a doubt starts a scan at once, callers can await it, and many doubts share one scan', async () => {
  let looks = 0;
  let changes = 0;
  const watch = watchForms({
    pause: 3_600_000,
    look: async () => ++looks === 1,
    changed: async () => {
      changes++;
      // While the mappings are reloaded.
      watch.doubt();
    },
  });
  expect(watch.settled()).toBeUndefined();
  for (let i = 0; i < 10; i++) watch.doubt();
  await watch.settled();
  expect(watch.settled()).toBeUndefined();
  expect([looks, changes]).toEqual([2, 1]);
  watch.doubt();
  await watch.stop();
  expect(looks).toBe(2);
});

test('constant changes do not cause endless scans', async () => {
  let looks = 0;
  const watch = watchForms({
    pause: 3_600_000,
    look: async () => {
      looks++;
      return true;
    },
    changed: async () => {},
  });
  watch.doubt();
  await watch.settled();
  expect(looks).toBe(5);
  await watch.stop();
});
