import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type Account,
  AccountsError,
  accountsOfFile,
  accountsThat,
  isAccountName,
  joinAccounts,
  readAccounts,
  someAccounts,
  whyUnreadable,
  writeAccounts,
} from '../../src/auth/accounts.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function newFile(): string {
  const folder = temporaryFolder();
  return join(folder, 'inner', 'accounts.json');
}

const account = (name: string, password = 'hash'): Account => ({ name, password, disabled: false });

test('an unreadable file is reported by name, a readable one is not', () => {
  const file = newFile();
  expect(whyUnreadable(file)).toBeUndefined();
  writeAccounts(file, [account('anna')]);
  expect(whyUnreadable(file)).toBeUndefined();
  writeFileSync(file, 'null');
  expect(whyUnreadable(file)).toBe(
    `${file}: The file of accounts is not in the form that \`lintel user\` writes. None of its accounts can log in. Put a copy back, or remove it and make them anew.`,
  );
  expect(whyUnreadable(join(file, '..'))).toMatch(/It cannot be read \(EISDIR\)/);
});

test('without a file there are no accounts', () => {
  const file = newFile();
  expect(readAccounts(file)).toEqual([]);
  expect(accountsOfFile(file).find('anna')).toBeUndefined();
});

test('a written file can be read back, by its owner only, without temporary files left', () => {
  const file = newFile();
  writeAccounts(file, [account('anna'), { ...account('bert'), disabled: true }]);
  expect(readAccounts(file).map(({ name, disabled }) => [name, disabled])).toEqual([
    ['anna', false],
    ['bert', true],
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(file, '..'))).toEqual(['accounts.json']);
});

test('a running server picks up changes of the file', () => {
  const file = newFile();
  const accounts = accountsOfFile(file);
  expect(accounts.find('anna')).toBeUndefined();
  writeAccounts(file, [account('anna', 'one')]);
  expect(accounts.find('anna')?.password).toBe('one');
  writeAccounts(file, [account('anna', 'two')]);
  expect(accounts.find('anna')?.password).toBe('two');
  rmSync(file);
  expect(accounts.find('anna')).toBeUndefined();
});

test.each([
  'no json',
  '[]',
  '{"accounts":[{"name":"anna"}]}',
  '{"accounts":[{"name":"../x","password":"h","disabled":false}]}',
])('a file that says %s is refused', text => {
  const file = newFile();
  writeAccounts(file, []);
  writeFileSync(file, text);
  expect(() => readAccounts(file)).toThrow(AccountsError);
});

test.each([
  ['anna', true],
  ['a.b_c-d@example.org', true],
  ['7', true],
  ['', false],
  ['.anna', false],
  ['anna keller', false],
  ['__proto__', false],
  ['x'.repeat(65), false],
])('%s as a name: %s', (name, fits) => {
  expect(isAccountName(name)).toBe(fits);
});

test('the first of two account sources takes precedence', () => {
  const both = joinAccounts(someAccounts(account('demo', 'one')), someAccounts(account('anna')));
  expect(both.find('demo')?.password).toBe('one');
  expect(both.find('anna')?.name).toBe('anna');
  expect(both.find('bert')).toBeUndefined();
});

test('an account that does not satisfy the condition is not found', () => {
  const some = accountsThat(({ name }) => name === 'anna', someAccounts(account('anna'), account('demo')));
  expect(some.find('anna')?.name).toBe('anna');
  expect(some.find('demo')).toBeUndefined();
  expect(some.find('bert')).toBeUndefined();
});

test('an account may reference a person, and may allow or deny the REST login', () => {
  const file = newFile();
  const anna = { ...account('anna'), fhirUser: 'Practitioner/7', restPassword: true } as const;
  writeAccounts(file, [anna]);
  expect(readAccounts(file)).toEqual([anna]);
  for (const wrong of [
    { fhirUser: 7 },
    { fhirUser: 'nobody' },
    { fhirUser: null },
    { restPassword: false },
    { name: '' },
    { password: undefined },
    { disabled: undefined },
  ]) {
    writeFileSync(file, JSON.stringify({ accounts: [{ ...anna, ...wrong }] }));
    expect(() => readAccounts(file), JSON.stringify(wrong)).toThrow(AccountsError);
  }
  writeFileSync(file, JSON.stringify({ accounts: [null] }));
  expect(() => readAccounts(file)).toThrow(AccountsError);
});
