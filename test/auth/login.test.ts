import { beforeAll, expect, test } from 'vitest';
import type { Account } from '../../src/auth/accounts.ts';
import { createLogin } from '../../src/auth/login.ts';
import { hashPassword } from '../../src/auth/password.ts';
import { createThrottle } from '../../src/auth/throttle.ts';

let known: ReadonlyMap<string, Account>;
beforeAll(async () => {
  const password = await hashPassword('correct horse battery');
  known = new Map(
    [
      { name: 'anna', password, disabled: false },
      { name: 'bert', password, disabled: true },
    ].map(account => [account.name, account]),
  );
});

function setUp() {
  let now = 0;
  const login = createLogin({ find: name => known.get(name) }, () => now);
  return {
    login,
    wait: (seconds: number) => {
      now += seconds * 1000;
    },
  };
}

test('the right password lets in', async () => {
  const { login } = setUp();
  expect(await login.try('anna', 'correct horse battery', '::1')).toMatchObject({
    kind: 'in',
    account: { name: 'anna' },
  });
});

test.each([
  ['a wrong password', 'anna', 'wrong'],
  ['an unknown account', 'carl', 'correct horse battery'],
  ['a disabled account', 'bert', 'correct horse battery'],
  ['a password without end', 'anna', `correct horse battery${'x'.repeat(1000)}`],
])('%s is wrong, and nothing more is said', async (_title, name, password) => {
  const { login } = setUp();
  expect(await login.try(name, password, '::1')).toEqual({ kind: 'wrong' });
});

test.each(['anna', 'carl'])('after five failures %s has to wait, twice as long each time', async name => {
  const { login, wait } = setUp();
  for (let i = 0; i < 5; i++) expect(await login.try(name, 'wrong', '::1')).toEqual({ kind: 'wrong' });
  expect(await login.try(name, 'wrong', '::1')).toEqual({ kind: 'wait', seconds: 1 });
  wait(1);
  expect(await login.try(name, 'wrong', '::1')).toEqual({ kind: 'wrong' });
  expect(await login.try(name, 'wrong', '::1')).toEqual({ kind: 'wait', seconds: 2 });
  wait(2);
  expect(await login.try(name, 'wrong', '::1')).toEqual({ kind: 'wrong' });
  expect(await login.try(name, 'correct horse battery', '::1')).toEqual({ kind: 'wait', seconds: 4 });
});

test('who waits gets in, and then nothing is held against the account', async () => {
  const { login, wait } = setUp();
  for (let i = 0; i < 5; i++) await login.try('anna', 'wrong', '::1');
  wait(1);
  expect(await login.try('anna', 'correct horse battery', '::1')).toMatchObject({ kind: 'in' });
  for (let i = 0; i < 5; i++) expect(await login.try('anna', 'wrong', '::1')).toEqual({ kind: 'wrong' });
});

test('many attempts at once are no way around', async () => {
  const { login } = setUp();
  const results = await Promise.all(Array.from({ length: 12 }, () => login.try('anna', 'wrong', '::1')));
  expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(5);
});

test('one address cannot go through many accounts', async () => {
  const { login } = setUp();
  const results = await Promise.all(Array.from({ length: 60 }, (_, i) => login.try(`user${i}`, 'wrong', '10.0.0.1')));
  expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(50);
  expect(await login.try('anna', 'correct horse battery', '10.0.0.2')).toMatchObject({ kind: 'in' });
});

test('people behind one address do not lock each other out by logging in', async () => {
  const { login } = setUp();
  for (let i = 0; i < 60; i++) {
    expect(await login.try('anna', 'correct horse battery', '10.0.0.1')).toMatchObject({ kind: 'in' });
  }
});

test('an unknown account takes as long to refuse as a known one', async () => {
  const { login } = setUp();
  const times = { anna: Number.POSITIVE_INFINITY, carl: Number.POSITIVE_INFINITY };
  for (let round = 0; round < 2; round++) {
    for (const name of ['anna', 'carl'] as const) {
      const start = performance.now();
      await login.try(name, 'wrong', '::1');
      times[name] = Math.min(times[name], performance.now() - start);
    }
  }
  // A hash is derived for both; only its absence would be two orders of magnitude.
  expect(times.carl).toBeGreaterThan(times.anna / 20);
});

test('what a throttle keeps is bounded, and forgotten in time', () => {
  let now = 0;
  const throttle = createThrottle({ free: 1, first: 1000, longest: 4000, keys: 2 }, () => now);
  for (const key of ['a', 'b', 'c']) expect(throttle.begin(key)).toBe(0);
  expect(throttle.begin('a')).toBe(0);
  expect(throttle.begin('c')).toBe(1000);
  now = 1000;
  expect(throttle.begin('c')).toBe(0);
  expect(throttle.begin('c')).toBe(2000);
  now = 10_000;
  expect(throttle.begin('c')).toBe(0);
});
