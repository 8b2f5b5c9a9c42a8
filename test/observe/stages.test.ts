import { tracingChannel } from 'node:diagnostics_channel';
import { afterEach, expect, test, vi } from 'vitest';
import { type StageEvent, startStopwatch } from '../../src/observe/statements.ts';

afterEach(() => vi.restoreAllMocks());

/** A manual clock. */
function clock(): { now: number } {
  const time = { now: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => time.now);
  return time;
}

test('each stage has its duration, also if its work fails', () => {
  const time = clock();
  const stopwatch = startStopwatch('r');
  stopwatch.time('parse', () => {
    time.now += 2;
  });
  stopwatch.time('write', () => {
    time.now += 3;
  });
  const failing = () =>
    stopwatch.time('write', () => {
      time.now += 4;
      throw new RangeError('broken');
    });
  expect(failing).toThrow('broken');
  expect(stopwatch.spent()).toEqual({ stages: { parse: 2, plan: 0, sql: 0, write: 7 }, statements: 0 });
});

test('overlapping statements count their time once', async () => {
  const time = clock();
  const stopwatch = startStopwatch('r');
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const both = Promise.all([
    stopwatch.statement('a', () => first.promise),
    stopwatch.statement('b', () => second.promise),
  ]);
  time.now = 10;
  first.resolve();
  await first.promise;
  time.now = 15;
  second.resolve();
  await both;
  time.now = 100;
  expect(stopwatch.spent()).toMatchObject({ stages: { sql: 15 }, statements: 2 });
});

test('a channel subscriber gets the stage, its request and its mapping', async () => {
  const told: unknown[] = [];
  const listen = (name: string) => {
    const channel = tracingChannel<StageEvent>(`lintel:${name}`);
    const handlers = {
      start: ({ request, mapping }: StageEvent) => told.push([name, request, mapping]),
      asyncEnd: () => told.push([name, 'end']),
      end: () => {},
      error: () => told.push([name, 'error']),
      asyncStart: () => {},
    };
    channel.subscribe(handlers);
    return () => channel.unsubscribe(handlers);
  };
  const stop = [listen('plan'), listen('sql')];
  const stopwatch = startStopwatch('r-1');
  expect(stopwatch.time('plan', () => 5)).toBe(5);
  await stopwatch.statement('people', async () => []);
  for (const end of stop) end();
  stopwatch.time('plan', () => 6);
  expect(told).toEqual([
    ['plan', 'r-1', undefined],
    ['sql', 'r-1', 'people'],
    ['sql', 'end'],
  ]);
});
