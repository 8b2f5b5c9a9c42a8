import { DatabaseSync } from 'node:sqlite';
import { setImmediate as afterEvents } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { registerFunctions } from '../../../src/sql/sqlite/functions.ts';
import { createTimeSlices } from '../../../src/sql/sqlite/time-limits.ts';

/** Number of consecutive statements (of 20) before another client gets its turn. */
async function statementsInOneTurn(slice: number): Promise<number> {
  const turn = createTimeSlices(slice);
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

test('a long series of statements yields to others', async () => {
  expect(await statementsInOneTurn(0)).toBeLessThan(5);
});

test('short statements do not wait', async () => {
  expect(await statementsInOneTurn(60_000)).toBe(20);
});

test('statements that wait together also run one by one', async () => {
  const turn = createTimeSlices(0);
  const order: string[] = [];
  const statements = Array.from({ length: 10 }, async (_, i) => {
    await turn();
    order.push(String(i));
  });
  for (let i = 0; i < 5; i++) {
    await afterEvents();
    order.push('another client');
  }
  await Promise.all(statements);
  expect(order.filter(one => one !== 'another client')).toEqual(Array.from({ length: 10 }, (_, i) => String(i)));
  expect(order.lastIndexOf('another client')).toBeLessThan(order.indexOf('9'));
});

test('waiting statements share a time slice, and the rest run in the next', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  try {
    const turn = createTimeSlices(10);
    expect(turn()).toBeUndefined();
    let now = 10;
    clock.mockReturnValue(now);
    let done = 0;
    const statements = Array.from({ length: 15 }, async () => {
      await turn();
      done++;
      clock.mockReturnValue(++now);
    });
    await afterEvents();
    expect(done).toBe(10);
    await afterEvents();
    expect(done).toBe(15);
    await Promise.all(statements);
  } finally {
    clock.mockRestore();
  }
});

test.each([
  ['a long statement leaves others the rounds in which a request is accepted, read and answered', 500, 100],
  ['a short one leaves one', 20, 1],
])('%s', async (_, milliseconds, rounds) => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  try {
    const turn = createTimeSlices(10);
    expect(turn()).toBeUndefined();
    clock.mockReturnValue(milliseconds);
    let isDone = false;
    const waiting = [turn(), turn()].map(async one => {
      await one;
      isDone = true;
    });
    let passed = 0;
    while (!isDone) {
      await afterEvents();
      passed++;
    }
    expect(passed).toBeGreaterThanOrEqual(rounds);
    expect(passed).toBeLessThan(rounds + 3);
    await Promise.all(waiting);
  } finally {
    clock.mockRestore();
  }
});

test('rounds in which others work for long end early', async () => {
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  try {
    const turn = createTimeSlices(10);
    expect(turn()).toBeUndefined();
    now = 500;
    let isDone = false;
    const waiting = turn()?.then(() => {
      isDone = true;
    });
    let passed = 0;
    for (; !isDone; passed++) {
      await afterEvents();
      now += 60;
    }
    expect(passed).toBeLessThan(10);
    await waiting;
  } finally {
    clock.mockRestore();
  }
});

test('every SQL function on rows observes the time limit', () => {
  const database = new DatabaseSync(':memory:');
  const ended = (): never => {
    throw new Error('too long');
  };
  registerFunctions(database, { look: ended, check: ended });
  const functions = database.prepare(`SELECT name, narg FROM pragma_function_list WHERE name LIKE 'lintel%'`).all();
  expect(functions.length).toBeGreaterThan(10);
  for (const { name, narg } of functions) {
    const statement = database.prepare(`SELECT ${name}(${Array(Number(narg)).fill('NULL').join(', ')})`);
    expect(() => statement.get(), String(name)).toThrow('too long');
  }
});
