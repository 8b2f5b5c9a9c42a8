import { expect, test } from 'vitest';
import { fitsPassword, hashPassword, NO_PASSWORD } from '../../src/auth/password.ts';

test('a password fits its own hash and no other does', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await fitsPassword('correct horse battery', hash)).toBe(true);
  for (const wrong of ['correct horse batterz', 'Correct horse battery', '', 'correct horse battery ']) {
    expect(await fitsPassword(wrong, hash)).toBe(false);
  }
});

test('two hashes of one password differ', async () => {
  expect(await hashPassword('correct horse battery')).not.toBe(await hashPassword('correct horse battery'));
});

test('however a letter is composed, it is the same password', async () => {
  const hash = await hashPassword('Zo\u00eb likes tea'.normalize('NFC'));
  expect(await fitsPassword('Zo\u00eb likes tea'.normalize('NFD'), hash)).toBe(true);
});

test.each(['', 'plain', '$argon2id$v=19$m=19456,t=2,p=1$x$y', '$2b$10$abcdefghijklmnopqrstuv'])(
  'nothing fits %s',
  async hash => {
    expect(await fitsPassword('anything', hash)).toBe(false);
  },
);

test('no password fits the hash of nobody', async () => {
  expect(await fitsPassword('', NO_PASSWORD)).toBe(false);
  expect(await fitsPassword('password', NO_PASSWORD)).toBe(false);
});
