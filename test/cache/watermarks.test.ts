import { expect, test } from 'vitest';
import { createWatermarks } from '../../src/cache/watermarks.ts';

function marks() {
  const time = { now: 1000 };
  const state = { mark: 'a', asked: 0, fails: false };
  const read = async () => {
    state.asked++;
    if (state.fails) throw new Error('away');
    return state.mark;
  };
  return { time, state, watermarks: createWatermarks(new Map([['t', read]]), () => time.now) };
}

test('a table counts as unchanged from its first watermark until the watermark differs', async () => {
  const { time, state, watermarks } = marks();
  const before = watermarks.moment();
  expect(watermarks.of(['t']).since(before, 1000)).toBe('changed');
  await watermarks.of(['t']).ask(1000);
  const after = watermarks.moment();
  // The watermark was seen after this moment, so rows read at this moment may be older.
  expect(watermarks.of(['t']).since(before, 1000)).toBe('changed');
  expect(watermarks.of(['t']).since(after, 1000)).toBe('unchanged');
  time.now = 2000;
  expect(watermarks.of(['t']).since(after, 2000)).toBe('unknown');
  await watermarks.of(['t']).ask(2000);
  expect(watermarks.of(['t']).since(after, 2000)).toBe('unchanged');
  state.mark = 'b';
  time.now = 3000;
  await watermarks.of(['t']).ask(3000);
  expect(watermarks.of(['t']).since(after, 3000)).toBe('changed');
});

test('a smaller watermark is a change, too: rows may have been deleted, clocks set back', async () => {
  const { time, state, watermarks } = marks();
  state.mark = 'z';
  await watermarks.of(['t']).ask(1000);
  const moment = watermarks.moment();
  state.mark = 'a';
  time.now = 2000;
  await watermarks.of(['t']).ask(2000);
  expect(watermarks.of(['t']).since(moment, 2000)).toBe('changed');
});

test('simultaneous requests query a watermark once, and not again while it is fresh', async () => {
  const { time, state, watermarks } = marks();
  await Promise.all([watermarks.of(['t']).ask(1000), watermarks.of(['t']).ask(1000), watermarks.of(['t']).ask(500)]);
  expect(state.asked).toBe(1);
  time.now = 1500;
  await watermarks.of(['t']).ask(1000);
  expect(state.asked).toBe(1);
  await watermarks.of(['t']).ask(1500);
  expect(state.asked).toBe(2);
  expect(watermarks.statements()).toBe(2);
});

test('a watermark query that began too early is awaited, then sent again', async () => {
  const { time, state, watermarks } = marks();
  const early = watermarks.of(['t']).ask(1000);
  time.now = 2000;
  await watermarks.of(['t']).ask(2000);
  await early;
  expect(state.asked).toBe(2);
});

test('a table whose watermark query fails counts as changed until it succeeds', async () => {
  const { time, state, watermarks } = marks();
  await watermarks.of(['t']).ask(1000);
  const moment = watermarks.moment();
  state.fails = true;
  time.now = 2000;
  await watermarks.of(['t']).ask(2000);
  expect(watermarks.of(['t']).since(moment, 2000)).toBe('changed');
  state.fails = false;
  time.now = 3000;
  await watermarks.of(['t']).ask(3000);
  expect(watermarks.of(['t']).since(moment, 3000)).toBe('changed');
  expect(watermarks.of(['t']).since(watermarks.moment(), 3000)).toBe('unchanged');
});

test('tables without a watermark are never queried', async () => {
  const { watermarks } = marks();
  expect([watermarks.watches('t'), watermarks.watches('u')]).toEqual([true, false]);
  await watermarks.of(['u']).ask(1000);
  expect(watermarks.of(['u']).since(0, 1000)).toBe('unchanged');
  expect(watermarks.statements()).toBe(0);
});
