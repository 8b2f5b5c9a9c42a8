/** What connections of this process are, which no server can see in what they say. */
import { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { openScripted, planOf } from './open.ts';

afterEach(() => vi.restoreAllMocks());

test('the last packet of a long statement does not wait until those before are acknowledged', async () => {
  const told = vi.spyOn(Socket.prototype, 'setNoDelay');
  const { database, endpoint } = await openScripted(() => undefined);
  const plan = planOf();
  await Promise.all([database.query(plan), database.query(plan, { lane: 'export' })]);
  const logins = endpoint.asked.filter(({ kind }) => kind === 'login');
  expect(logins.length).toBeGreaterThan(2);
  expect(new Set(told.mock.contexts).size).toBe(logins.length);
  expect(told.mock.calls.every(([on]) => on !== false)).toBe(true);
});
