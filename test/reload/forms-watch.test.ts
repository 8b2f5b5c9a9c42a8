import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchForms } from '../../src/reload/forms-watch.ts';

test('looks again and again, tells a change once, and ends', async () => {
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

test('a doubt is looked into at once, whoever asks may wait for it, and many doubts are one look', async () => {
  let looks = 0;
  let changes = 0;
  const watch = watchForms({
    pause: 3_600_000,
    look: async () => ++looks === 1,
    changed: async () => {
      changes++;
      // While the mappings are made anew.
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

test('what changes all the time is not followed without end', async () => {
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
