import { expect, test } from 'vitest';
import { fitsPassword, hashPassword, NO_PASSWORD } from '../../src/auth/password.ts';

test('a hash accepts its own password and no other', async () => {
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

test('composed and decomposed Unicode letters are the same password', async () => {
  const hash = await hashPassword('Zo\u00eb likes tea'.normalize('NFC'));
  expect(await fitsPassword('Zo\u00eb likes tea'.normalize('NFD'), hash)).toBe(true);
});

test.each(['', 'plain', '$argon2id$v=19$m=19456,t=2,p=1$x$y', '$2b$10$abcdefghijklmnopqrstuv'])(
  'no password matches the malformed hash %s',
  async hash => {
    expect(await fitsPassword('anything', hash)).toBe(false);
  },
);

test('no password matches the hash that stands for an unknown account', async () => {
  expect(await fitsPassword('', NO_PASSWORD)).toBe(false);
  expect(await fitsPassword('password', NO_PASSWORD)).toBe(false);
});
