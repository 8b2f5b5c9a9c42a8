/**
 * A time budget's signal has a deadline, which statements on the calling thread need; statements that were interrupted
 * are reported.
 */
import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { cancelled, DatabaseError, deadlineOf, TOO_LONG, wasEnded, within } from '../../src/sql/database.ts';
import { unread } from '../../src/workbench/init/shares.ts';

const tooLong = new DatabaseError('unavailable', 'the statement took too long', { publicText: TOO_LONG });
const away = new DatabaseError('unavailable', 'the database is away');

test('a signal has the earlier deadline of its own and that of the outer signal', () => {
  const before = performance.now();
  const outer = within(1000);
  const instant = deadlineOf(outer) ?? 0;
  expect(instant).toBeGreaterThanOrEqual(before + 1000);
  expect(deadlineOf(within(60_000, outer))).toBe(instant);
  expect(deadlineOf(within(10, outer))).toBeLessThan(instant);
});

test('a signal with a deadline aborts with the outer signal', () => {
  const outer = new AbortController();
  const inner = within(60_000, outer.signal);
  outer.abort();
  expect(inner.aborted).toBe(true);
});

test('a statement counts as interrupted by its deadline or signal, and not by an unreachable database', () => {
  expect([tooLong, cancelled(), away, new Error('another')].map(wasEnded)).toEqual([true, true, false, false]);
});

test('a timeout says nothing of a candidate, and an unreachable database is an error', () => {
  expect(unread(tooLong)).toBeUndefined();
  expect(() => unread(away)).toThrow('away');
});
