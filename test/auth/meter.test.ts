import { expect, test } from 'vitest';
import { createMeters, perMinute } from '../../src/auth/meter.ts';

test('ten requests are allowed at once, then one per second, for each key', () => {
  let now = 5000;
  const meters = createMeters({ burst: 10, perSecond: 1 }, () => now);
  const refused = (key: string, count: number): readonly boolean[] =>
    Array.from({ length: count }, () => meters(key).take() > 0);
  expect(refused('a', 12)).toEqual([...Array<boolean>(10).fill(false), true, true]);
  expect(refused('b', 1)).toEqual([false]);
  now += 1000;
  expect(refused('a', 2)).toEqual([false, true]);
  now += 60_000;
  expect(refused('a', 11)).toEqual([...Array<boolean>(10).fill(false), true]);
});

test('a client that waits for the stated time is admitted, and refused requests cost nothing', () => {
  let now = 0;
  const meter = createMeters(perMinute(30), () => now)('a');
  for (let i = 0; i < 30; i++) expect(meter.take()).toBe(0);
  for (let i = 0; i < 100; i++) expect(meter.take()).toBe(2000);
  now += 1999;
  expect(meter.take()).toBeCloseTo(1);
  now += 1;
  expect(meter.take()).toBe(0);
  expect(meter.take()).toBe(2000);
});

test('a charge after the request becomes a debt, up to one burst', () => {
  let now = 0;
  const meter = createMeters({ burst: 10, perSecond: 1 }, () => now)('a');
  expect(meter.take()).toBe(0);
  meter.charge(12);
  expect(meter.take()).toBe(4000);
  meter.charge(1000);
  expect(meter.take()).toBe(11_000);
  now += 11_000;
  expect(meter.take()).toBe(0);
});

test('keys are bounded: the least recently used one is forgotten', () => {
  const meters = createMeters({ burst: 1, perSecond: 1 }, () => 0);
  expect(meters('first').take()).toBe(0);
  expect(meters('first').take()).toBeGreaterThan(0);
  for (let i = 0; i < 10_000; i++) meters(`other ${i}`).take();
  expect(meters('first').take()).toBe(0);
});
