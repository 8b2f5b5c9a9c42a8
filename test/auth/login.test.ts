import { beforeAll, expect, test } from 'vitest';
import type { Account } from '../../src/auth/accounts.ts';
import { createLogin } from '../../src/auth/login.ts';
import { fitsPassword, hashPassword, LONGEST_PASSWORD } from '../../src/auth/password.ts';
import { createThrottle, networkOf } from '../../src/auth/throttle.ts';

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

const RIGHT = 'correct horse battery';
/** Compares like the hash function, but instantly. */
const quick: typeof fitsPassword = async (password, hash) => password === RIGHT && hash === known.get('anna')?.password;

function setUp(fits = quick) {
  let now = 0;
  const login = createLogin({ find: name => known.get(name) }, () => now, fits);
  return {
    login,
    wait: (seconds: number) => {
      now += seconds * 1000;
    },
  };
}

test('the right password is accepted', async () => {
  const { login } = setUp(fitsPassword);
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
])('%s is refused without a reason', async (_title, name, password) => {
  const { login } = setUp(fitsPassword);
  expect(await login.try(name, password, '::1')).toEqual({ kind: 'wrong' });
});

test.each(['anna', 'carl'])('after five failures %s has to wait, with the wait doubling each time', async name => {
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

test('a login after the wait succeeds and clears the failures of the account', async () => {
  const { login, wait } = setUp();
  for (let i = 0; i < 5; i++) await login.try('anna', 'wrong', '::1');
  wait(1);
  expect(await login.try('anna', 'correct horse battery', '::1')).toMatchObject({ kind: 'in' });
  for (let i = 0; i < 5; i++) expect(await login.try('anna', 'wrong', '::1')).toEqual({ kind: 'wrong' });
});

test('simultaneous attempts do not bypass the throttle', async () => {
  const { login } = setUp();
  const results = await Promise.all(Array.from({ length: 12 }, () => login.try('anna', 'wrong', '::1')));
  expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(5);
});

test('one address cannot try passwords of many accounts', async () => {
  const { login } = setUp();
  const results = await Promise.all(Array.from({ length: 60 }, (_, i) => login.try(`user${i}`, 'wrong', '10.0.0.1')));
  expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(50);
  expect(await login.try('anna', 'correct horse battery', '10.0.0.2')).toMatchObject({ kind: 'in' });
});

test('successful logins of one address do not throttle each other', async () => {
  const { login } = setUp();
  for (let i = 0; i < 60; i++) {
    expect(await login.try('anna', 'correct horse battery', '10.0.0.1')).toMatchObject({ kind: 'in' });
  }
});

test('an unknown and a disabled account are refused after the same work as a known one', async () => {
  const work: string[] = [];
  const { login } = setUp(async (password, hash) => {
    const [, algorithm, version, cost] = hash.split('$');
    work.push([algorithm, version, cost, password.length].join());
    return fitsPassword(password, hash);
  });
  for (const name of ['anna', 'bert', 'carl']) {
    expect((await login.try(name, 'wrong', '::1')).kind).toBe('wrong');
    expect((await login.try(name, 'x'.repeat(5000), '::1')).kind).toBe('wrong');
  }
  const one = ['argon2id,v=19,m=19456,t=2,p=1,5', 'argon2id,v=19,m=19456,t=2,p=1,256'];
  expect(work).toEqual([...one, ...one, ...one]);
});

test('the memory of the throttle is bounded, and expires', () => {
  let now = 0;
  const throttle = createThrottle({ free: 1, first: 1000, longest: 4000, keys: 2 }, () => now);
  const attempt = (key: string): number => {
    const wait = throttle.waitOf(key);
    if (wait === 0) throttle.begin(key);
    return wait;
  };
  for (const key of ['a', 'b', 'c']) expect(attempt(key)).toBe(0);
  expect(attempt('a')).toBe(0);
  expect(attempt('c')).toBe(1000);
  now = 1000;
  expect(attempt('c')).toBe(0);
  expect(attempt('c')).toBe(2000);
  now = 10_000;
  expect(attempt('c')).toBe(0);
});

test('a cancelled attempt does not count, those before it do', () => {
  const throttle = createThrottle({ free: 2, first: 1000, longest: 4000, keys: 2 }, () => 0);
  throttle.undo('a');
  expect(throttle.failures('a')).toBe(0);
  for (let i = 0; i < 3; i++) throttle.begin('a');
  throttle.undo('a');
  expect(throttle.failures('a')).toBe(2);
  for (const left of [1, 0, 0]) {
    throttle.undo('a');
    expect(throttle.failures('a')).toBe(left);
  }
});

test('a failure is forgotten once twice the longest wait is over, not before', () => {
  let now = 100_000;
  const throttle = createThrottle({ free: 1, first: 1000, longest: 4000, keys: 2 }, () => now);
  throttle.begin('a');
  now += 8000;
  expect(throttle.failures('a')).toBe(1);
  now += 1;
  expect(throttle.failures('a')).toBe(0);
});

test('a client that repeats an old password does not throttle other users of its address', async () => {
  const { login, wait } = setUp();
  let refused = 0;
  for (let second = 0; second < 120; second++) {
    for (let i = 0; i < 5; i++) if ((await login.try('bert', 'old', '10.0.0.1')).kind === 'wait') refused++;
    wait(1);
  }
  expect(refused).toBeGreaterThan(500);
  for (let i = 0; i < 50; i++) expect(await login.try('anna', RIGHT, '10.0.0.1')).toMatchObject({ kind: 'in' });
});

test('a throttled attempt does not lengthen the wait of its account or address', async () => {
  const { login, wait } = setUp();
  for (let i = 0; i < 5; i++) await login.try('anna', 'wrong', '10.0.0.1');
  for (let i = 0; i < 1000; i++) await login.try('anna', 'wrong', '10.0.0.1');
  expect(await login.try('carl', 'wrong', '10.0.0.1')).toEqual({ kind: 'wrong' });
  wait(1);
  expect(await login.try('anna', RIGHT, '10.0.0.1')).toMatchObject({ kind: 'in' });
});

test('a known pair of account and address is not throttled by guesses at that address or for that account', async () => {
  const { login } = setUp();
  await login.try('anna', RIGHT, '10.0.0.1');
  for (let i = 0; i < 60; i++) await login.try(`user${i}`, 'wrong', '10.0.0.1');
  for (let i = 0; i < 20; i++) await login.try('anna', 'wrong', `10.0.1.${i}`);
  expect(await login.try('anna', 'wrong', '10.0.2.1')).toMatchObject({ kind: 'wait' });
  expect(await login.try('anna', RIGHT, '10.0.0.1')).toMatchObject({ kind: 'in' });
});

test('attempts with unknown names do not evict the failures of real accounts', async () => {
  const { login } = setUp();
  for (let i = 0; i < 5; i++) await login.try('anna', 'wrong', '::1');
  // From no single address, because each address would have to wait.
  const attempts = Array.from({ length: 11_000 }, (_, i) => `invented${i}`);
  const turns = 100;
  for (let at = 0; at < attempts.length; at += turns) {
    const some = attempts.slice(at, at + turns);
    await Promise.all(some.map((name, i) => login.try(name, '', `10.${at / turns}.0.${i}`)));
  }
  expect(await login.try('anna', RIGHT, '::1')).toMatchObject({ kind: 'wait' });
});

test('an impossible name is refused, and counts for its address only', async () => {
  const { login } = setUp();
  for (let i = 0; i < 10; i++) expect(await login.try('x'.repeat(250_000), 'wrong', '::1')).toEqual({ kind: 'wrong' });
  const results = await Promise.all(Array.from({ length: 60 }, () => login.try('x'.repeat(65), 'wrong', '10.0.0.2')));
  expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(50);
});

test('attempts beyond the verification queue have to wait, and do not count as failures', async () => {
  const { login } = setUp();
  const tries = await Promise.all(Array.from({ length: 300 }, (_, i) => login.try(`user${i}`, 'wrong', `10.0.${i}.1`)));
  expect(tries.filter(({ kind }) => kind === 'wrong')).toHaveLength(202);
  expect(tries.filter(({ kind }) => kind === 'wait')).toHaveLength(98);
  expect(await login.try('user299', 'wrong', '10.0.299.1')).toEqual({ kind: 'wrong' });
});

test('several clients that repeat old passwords count once each for their address', async () => {
  const { login, wait } = setUp();
  let refused = 0;
  for (let second = 0; second < 20; second++) {
    for (let client = 0; client < 7; client++)
      if ((await login.try(`old${client}`, 'old', '10.0.0.1')).kind === 'wait') refused++;
    wait(1);
  }
  expect(refused).toBeGreaterThan(50);
  expect(await login.try('anna', RIGHT, '10.0.0.1')).toMatchObject({ kind: 'in' });
});

test('an account that may not log in here is wrong, whatever its password', async () => {
  const { login } = setUp();
  const asked: string[] = [];
  const may = ({ name }: Account): boolean => {
    asked.push(name);
    return false;
  };
  expect(await login.try('anna', RIGHT, '::1', may)).toEqual({ kind: 'wrong' });
  expect(await login.try('carl', RIGHT, '::1', may)).toEqual({ kind: 'wrong' });
  expect(asked).toEqual(['anna']);
  expect(await login.try('anna', RIGHT, '::1', () => true)).toMatchObject({ kind: 'in' });
});

test('a password of the greatest length is compared, a longer one is wrong', async () => {
  const { login } = setUp(async password => password.length === LONGEST_PASSWORD);
  expect(await login.try('anna', 'x'.repeat(LONGEST_PASSWORD + 1), '::1')).toEqual({ kind: 'wrong' });
  expect(await login.try('anna', 'x'.repeat(LONGEST_PASSWORD), '::1')).toMatchObject({ kind: 'in' });
});

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8:1:2::9', '2001:db8:1:2'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001::1:2:3:4:5:6', '2001:0:1:2'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['x'.repeat(100), 'x'.repeat(64)],
])('the throttle counts %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
