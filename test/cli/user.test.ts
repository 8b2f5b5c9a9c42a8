import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readAccounts } from '../../src/auth/accounts.ts';
import { fitsPassword } from '../../src/auth/password.ts';
import { run } from '../../src/cli/main.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let file: string;
beforeEach(() => {
  const folder = temporaryFolder();
  file = join(folder, 'accounts.json');
});

async function user(argv: readonly string[], secret = 'correct horse battery') {
  const out: string[] = [];
  const notes: string[] = [];
  const code = await run(['user', ...argv], {
    out: text => out.push(text),
    note: text => notes.push(text),
    environment: { ACCOUNTS: file },
    secret: async () => secret,
  });
  return { code, out: out.join('\n'), notes: notes.join('\n') };
}

test('an account is added with its password as a hash only', async () => {
  expect(await user(['add', 'anna'])).toMatchObject({ code: 0, out: 'anna: added' });
  const [anna] = readAccounts(file);
  expect(anna).toMatchObject({ name: 'anna', disabled: false });
  expect(await fitsPassword('correct horse battery', anna?.password ?? '')).toBe(true);
  expect(readFileSync(file, 'utf8')).not.toContain('horse');
});

test('another password replaces the first', async () => {
  await user(['add', 'anna']);
  expect((await user(['passwd', 'anna'], 'something quite else')).code).toBe(0);
  const [anna] = readAccounts(file);
  expect(await fitsPassword('something quite else', anna?.password ?? '')).toBe(true);
  expect(await fitsPassword('correct horse battery', anna?.password ?? '')).toBe(false);
});

test('an account is disabled, enabled and listed', async () => {
  await user(['add', 'anna']);
  await user(['add', 'bert']);
  expect((await user(['disable', 'anna'])).code).toBe(0);
  expect((await user(['list'])).out).toBe('anna (disabled)\nbert');
  await user(['enable', 'anna']);
  expect((await user(['list'])).out).toBe('anna\nbert');
});

test('a password is generated on request', async () => {
  const { code, out } = await user(['add', 'anna', '--generate'], '');
  expect(code).toBe(0);
  const password = /^Password: (\S{20})$/m.exec(out)?.[1] ?? '';
  expect(await fitsPassword(password, readAccounts(file)[0]?.password ?? '')).toBe(true);
});

test.each<[argv: readonly string[], secret: string, code: number, note: RegExp]>([
  [['add', 'anna'], 'short', 1, /12 to 256 characters/],
  [['add', 'anna keller'], 'correct horse battery', 1, /1 to 64 letters/],
  [['passwd', 'nobody'], 'correct horse battery', 1, /no account nobody/],
  [['disable', 'nobody'], 'correct horse battery', 1, /no account nobody/],
  [['remove', 'anna'], 'correct horse battery', 2, /Expected add/],
  [['add'], 'correct horse battery', 2, /Expected add/],
])('%j is refused', async (argv, secret, code, note) => {
  expect(await user(argv, secret)).toMatchObject({ code, notes: expect.stringMatching(note) });
  expect(readAccounts(file)).toEqual([]);
});

test('an account cannot be added twice', async () => {
  await user(['add', 'anna']);
  expect(await user(['add', 'anna'])).toMatchObject({ code: 1, notes: 'There is an account anna already.' });
});

test('removing an account removes only that one', async () => {
  await user(['add', 'anna']);
  await user(['add', 'bert']);
  expect(await user(['rm', 'anna'])).toMatchObject({ code: 0, out: 'anna: removed' });
  expect((await user(['list'])).out).toBe('bert');
  expect(await user(['rm', 'anna'])).toMatchObject({ code: 1, notes: 'There is no account anna.' });
});

test('the REST password is allowed and denied', async () => {
  await user(['add', 'anna']);
  expect(readAccounts(file)[0]?.restPassword).toBeUndefined();
  expect((await user(['allow-password', 'anna'])).code).toBe(0);
  expect(readAccounts(file)[0]?.restPassword).toBe(true);
  await user(['passwd', 'anna'], 'something quite else');
  expect(readAccounts(file)[0]?.restPassword).toBe(true);
  expect((await user(['deny-password', 'anna'])).code).toBe(0);
  expect(readAccounts(file)[0]?.restPassword).toBeUndefined();
  expect((await user(['allow-password', 'bert'])).code).toBe(1);
});
