import { expect, test } from 'vitest';
import { createSingleFlight } from '../../src/cache/single-flight.ts';
import { deadlineOf, endsAt } from '../../src/sql/database.ts';

const always = () => true;

/** Work that ends when the test says so. */
function work() {
  const signals: AbortSignal[] = [];
  const ends: { resolve: (value: string) => void; reject: (error: Error) => void }[] = [];
  const run = (signal: AbortSignal) => {
    signals.push(signal);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    ends.push({ resolve, reject });
    return promise;
  };
  return { run, signals, ends };
}

test('a request during the work shares its result, a later one starts new work', async () => {
  const flights = createSingleFlight<string>(() => 0);
  const { run, ends, signals } = work();
  const [one, two] = [flights.take('k', undefined, always, run), flights.take('k', undefined, always, run)];
  expect([one.joined, two.joined]).toEqual([false, true]);
  ends[0]?.resolve('a');
  expect(await Promise.all([one.promise, two.promise])).toEqual(['a', 'a']);
  flights.take('k', undefined, always, run);
  expect(signals).toHaveLength(2);
});

test('requests with another key, or of too old work, are not joined', () => {
  const time = { now: 0 };
  const flights = createSingleFlight<string>(() => time.now);
  const { run } = work();
  flights.take('k', undefined, always, run);
  expect(flights.take('other', undefined, always, run).joined).toBe(false);
  time.now = 10;
  const recent = (begun: number) => time.now - begun < 10;
  expect(flights.take('k', undefined, recent, run).joined).toBe(false);
  // Callers now join the later work; the end of the earlier work changes nothing.
  expect(flights.take('k', undefined, recent, run).joined).toBe(true);
});

test('a request that is cancelled gets its own error; only the last one cancels the work', async () => {
  const flights = createSingleFlight<string>(() => 0);
  const { run, signals, ends } = work();
  const [first, second] = [new AbortController(), new AbortController()];
  const one = flights.take('k', first.signal, always, run);
  const two = flights.take('k', second.signal, always, run);
  first.abort();
  await expect(one.promise).rejects.toMatchObject({ name: 'DatabaseError', reason: 'cancelled' });
  expect(signals[0]?.aborted).toBe(false);
  second.abort();
  await expect(two.promise).rejects.toMatchObject({ reason: 'cancelled' });
  expect(signals[0]?.aborted).toBe(true);
  // No caller joins cancelled work.
  const three = flights.take('k', undefined, always, run);
  expect(three.joined).toBe(false);
  ends[1]?.resolve('b');
  expect(await three.promise).toBe('b');
});

test('a cancelled request starts no work', async () => {
  const flights = createSingleFlight<string>(() => 0);
  const { run, signals } = work();
  await expect(flights.take('k', AbortSignal.abort(), always, run).promise).rejects.toMatchObject({
    reason: 'cancelled',
  });
  expect(signals).toEqual([]);
});

test('an error goes to all waiting requests, and to none after them', async () => {
  const flights = createSingleFlight<string>(() => 0);
  const { run, ends } = work();
  const [one, two] = [flights.take('k', undefined, always, run), flights.take('k', undefined, always, run)];
  ends[0]?.reject(new Error('broken'));
  await expect(one.promise).rejects.toThrow('broken');
  await expect(two.promise).rejects.toThrow('broken');
  expect(flights.take('k', undefined, always, run).joined).toBe(false);
});

test('shared work has the latest deadline of its waiting requests', () => {
  const flights = createSingleFlight<string>(() => 0);
  const { run, signals } = work();
  const until = (instant: number): AbortSignal => {
    const { signal } = new AbortController();
    endsAt(signal, instant);
    return signal;
  };
  flights.take('k', until(5), always, run);
  expect(deadlineOf(signals[0])).toBe(5);
  flights.take('k', until(9), always, run);
  flights.take('k', until(7), always, run);
  expect(deadlineOf(signals[0])).toBe(9);
});

test('work that sends a statement at once knows its deadline', () => {
  const flights = createSingleFlight<string>(() => 0);
  const { signal } = new AbortController();
  endsAt(signal, 5);
  let atOnce: number | undefined;
  flights.take('k', signal, always, own => {
    atOnce = deadlineOf(own);
    return new Promise(() => {});
  });
  expect(atOnce).toBe(5);
});
