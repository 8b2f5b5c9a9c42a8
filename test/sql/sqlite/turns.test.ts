import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from '../../../src/sql/sqlite/turns.ts';

/** How many statements one after the other get done before another client is looked at, of 20. */
async function statementsInOneTurn(patience: number): Promise<number> {
  const turn = createTurns(patience);
  let done = 0;
  const statements = (async () => {
    for (let i = 0; i < 20; i++) {
      await turn();
      done++;
    }
  })();
  await afterEvents();
  const before = done;
  await statements;
  expect(done).toBe(20);
  return before;
}

test('statements that take long in all let others in between', async () => {
  expect(await statementsInOneTurn(0)).toBeLessThan(5);
});

test('statements that are soon over do not wait', async () => {
  expect(await statementsInOneTurn(60_000)).toBe(20);
});
