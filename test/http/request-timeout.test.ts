import { expect, test } from 'vitest';
import { createSingleFlight } from '../../src/cache/single-flight.ts';
import { deadlineOf, endsAt } from '../../src/sql/database.ts';
import { appUnderTest } from './app-under-test.ts';

test('database queries of a request know the deadline of REQUEST_TIMEOUT', async () => {
  const { app, calls } = appUnderTest({ REQUEST_TIMEOUT: '7' });
  const before = performance.now();
  expect((await app.request('http://localhost/fhir/Widget')).status).toBe(200);
  const deadline = deadlineOf(calls[0]?.context.signal) ?? Number.NaN;
  expect(deadline).toBeGreaterThanOrEqual(before + 7000);
  expect(deadline).toBeLessThanOrEqual(performance.now() + 7000);
});

test('shared work has the latest deadline of its requests', async () => {
  const flights = createSingleFlight<number>(() => 0);
  const caller = (until: number): AbortSignal => {
    const { signal } = new AbortController();
    endsAt(signal, until);
    return signal;
  };
  const end = Promise.withResolvers<number>();
  const seen: (number | undefined)[] = [];
  let own: AbortSignal | undefined;
  const work = (signal: AbortSignal): Promise<number> => {
    own = signal;
    seen.push(deadlineOf(signal));
    return end.promise;
  };
  const takes = [5, 9, 7].map(until => flights.take('same', caller(until), () => true, work));
  expect(takes.map(({ joined }) => joined)).toEqual([false, true, true]);
  expect(seen).toEqual([5]);
  expect(deadlineOf(own)).toBe(9);
  end.resolve(1);
  expect(await Promise.all(takes.map(({ promise }) => promise))).toEqual([1, 1, 1]);
});
