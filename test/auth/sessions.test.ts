import { expect, test } from 'vitest';
import type { Account } from '../../src/auth/accounts.ts';
import { createSessions, type SessionLimits } from '../../src/auth/sessions.ts';

const LIMITS: SessionLimits = { idle: 1000, lifetime: 5000, most: 3, mostPerAccount: 2 };

function setUp(limits: Partial<SessionLimits> = {}) {
  let now = 0;
  const known = new Map<string, Account>();
  const add = (name: string, change: Partial<Account> = {}): Account => {
    const account = { name, password: `hash of ${name}`, disabled: false, ...change };
    known.set(name, account);
    return account;
  };
  const sessions = createSessions({ find: name => known.get(name) }, { ...LIMITS, ...limits }, () => now);
  return {
    sessions,
    add,
    remove: (name: string) => known.delete(name),
    wait: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

test('a session id is long, and new at each login', () => {
  const { sessions, add } = setUp({ most: 100, mostPerAccount: 100 });
  const anna = add('anna');
  const ids = Array.from({ length: 50 }, () => sessions.open(anna, undefined));
  expect(new Set(ids).size).toBe(50);
  for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('a session identifies its account until it is closed', () => {
  const { sessions, add } = setUp();
  const id = sessions.open(add('anna'), undefined);
  expect(sessions.account(id)?.name).toBe('anna');
  expect(sessions.account('something else')).toBeUndefined();
  sessions.close(id);
  expect(sessions.account(id)).toBeUndefined();
});

test('an idle session expires; use prolongs it', () => {
  const { sessions, add, wait } = setUp();
  const id = sessions.open(add('anna'), undefined);
  wait(999);
  expect(sessions.account(id)).toBeDefined();
  wait(999);
  expect(sessions.account(id)).toBeDefined();
  wait(1000);
  expect(sessions.account(id)).toBeUndefined();
});

test('a session expires at the end of its lifetime, even in use', () => {
  const { sessions, add, wait } = setUp();
  const id = sessions.open(add('anna'), undefined);
  for (let i = 0; i < 9; i++) {
    wait(500);
    expect(sessions.account(id)).toBeDefined();
  }
  wait(500);
  expect(sessions.account(id)).toBeUndefined();
});

test('login ends the session that the request came with', () => {
  const { sessions, add } = setUp();
  const anna = add('anna');
  const before = sessions.open(anna, undefined);
  const id = sessions.open(anna, before);
  expect(id).not.toBe(before);
  expect(sessions.account(before)).toBeUndefined();
  expect(sessions.account(id)).toBeDefined();
});

test.each(['disabled', 'another password', 'removed'])('a session ends when its account is %s', what => {
  const { sessions, add, remove } = setUp();
  const id = sessions.open(add('anna'), undefined);
  if (what === 'removed') remove('anna');
  else add('anna', what === 'disabled' ? { disabled: true } : { password: 'another' });
  expect(sessions.account(id)).toBeUndefined();
  add('anna');
  expect(sessions.account(id)).toBeUndefined();
});

test('a session ends when its account gets another era, even if nobody used the session meanwhile', () => {
  const { sessions, add } = setUp();
  const id = sessions.open(add('anna', { era: 'first' }), undefined);
  add('anna', { era: 'second' });
  expect(sessions.account(id)).toBeUndefined();
});

test('sessions of one account are bounded; the longest idle is removed', () => {
  const { sessions, add, wait } = setUp();
  const anna = add('anna');
  const [first, second] = [sessions.open(anna, undefined), sessions.open(anna, undefined)];
  wait(10);
  sessions.account(first);
  const third = sessions.open(anna, undefined);
  expect(sessions.account(second)).toBeUndefined();
  expect(sessions.account(first)).toBeDefined();
  expect(sessions.account(third)).toBeDefined();
});

test('an expired session is removed before an idle one', () => {
  const { sessions, add, wait } = setUp();
  const anna = add('anna');
  const old = sessions.open(anna, undefined);
  for (let i = 0; i < 9; i++) {
    wait(500);
    sessions.account(old);
  }
  const idle = sessions.open(anna, undefined);
  wait(400);
  sessions.account(old);
  wait(101);
  sessions.open(anna, undefined);
  expect(sessions.account(old)).toBeUndefined();
  expect(sessions.account(idle)).toBeDefined();
});

test('the sessions of all accounts are bounded, too', () => {
  const { sessions, add } = setUp();
  const ids = ['a', 'b', 'c', 'd', 'e'].map(name => sessions.open(add(name), undefined));
  expect(ids.map(id => sessions.account(id) !== undefined)).toEqual([false, false, true, true, true]);
});
