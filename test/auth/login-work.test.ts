/**
 * What a failed login costs says nothing of the account: the same work is done for each. Counted, and not measured by a clock.
 */
import { expect, test, vi } from 'vitest';
import { someAccounts } from '../../src/auth/accounts.ts';
import { createLogin } from '../../src/auth/login.ts';
import { hashPassword, LONGEST_PASSWORD } from '../../src/auth/password.ts';

/** Costs of the hashes that were derived: `m=…,t=…,p=…`. */
const derived = vi.hoisted((): string[] => []);

vi.mock('node:crypto', async importOriginal => {
  const real = await importOriginal<typeof import('node:crypto')>();
  const argon2: typeof real.argon2 = (algorithm, parameters, callback) => {
    const { memory, passes, parallelism, tagLength } = parameters;
    derived.push([algorithm, memory, passes, parallelism, tagLength].join());
    real.argon2(algorithm, parameters, callback);
  };
  return { ...real, argon2 };
});

test('an unknown, a disabled and a known account are refused after the same work', async () => {
  const password = await hashPassword('correct horse');
  const accounts = someAccounts(
    { name: 'anna', password, disabled: false },
    { name: 'gone', password, disabled: true },
  );
  const login = createLogin(accounts);
  const costs: (readonly string[])[] = [];
  for (const [name, word] of [
    ['anna', 'wrong'],
    ['nobody', 'wrong'],
    ['gone', 'wrong'],
    ['gone', 'correct horse'],
    ['anna', 'x'.repeat(LONGEST_PASSWORD + 1)],
    ['nobody', 'x'.repeat(LONGEST_PASSWORD + 1)],
  ] as const) {
    derived.length = 0;
    expect((await login.try(name, word, '::1')).kind).toBe('wrong');
    costs.push([...derived]);
  }
  expect(costs[0]).toHaveLength(1);
  for (const cost of costs) expect(cost).toEqual(costs[0]);
});
