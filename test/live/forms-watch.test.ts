import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchForms } from '../../src/live/forms-watch.ts';

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
