import { chmodSync, chownSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPrivate, touchPrivate, writePrivate } from '../../src/auth/private-file.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const modeOf = (file: string): number => statSync(file).mode & 0o777;

test('a missing private file and its folder are created, for the owner only', () => {
  const file = join(temporaryFolder(), 'made', 'store');
  touchPrivate(file);
  expect([modeOf(file), readFileSync(file, 'utf8')]).toEqual([0o600, '']);
});

test('a file that everybody can read becomes private, and keeps its content', () => {
  const file = join(temporaryFolder(), 'store');
  writeFileSync(file, 'content');
  chmodSync(file, 0o644);
  touchPrivate(file);
  expect([modeOf(file), readFileSync(file, 'utf8')]).toEqual([0o600, 'content']);
});

test('a written file replaces one that everybody can read, and its folder is made', () => {
  const file = join(temporaryFolder(), 'made', 'keys.json');
  writePrivate(file, { a: 1 });
  expect(modeOf(file)).toBe(0o600);
  chmodSync(file, 0o644);
  writePrivate(file, { a: 2 });
  expect([modeOf(file), readPrivate(file)]).toEqual([0o600, { a: 2 }]);
});

test('a text that is no JSON throws the requested kind of error', () => {
  const file = join(temporaryFolder(), 'keys.json');
  writeFileSync(file, '{');
  expect(() => readPrivate(file)).toThrow(SyntaxError);
  expect(() => readPrivate(file, () => new RangeError('no keys'))).toThrow(RangeError);
  expect(readPrivate(join(file, 'below'))).toBeUndefined();
});

test('a folder that is made for a private file is private', () => {
  const folder = join(temporaryFolder(), 'data');
  writePrivate(join(folder, 'accounts.json'), {});
  expect(modeOf(folder)).toBe(0o700);
  const other = join(temporaryFolder(), 'data');
  touchPrivate(join(other, 'smart.sqlite'));
  expect(modeOf(other)).toBe(0o700);
});

// Only the superuser can change the owner of a file.
test.runIf(process.getuid?.() === 0)('what the superuser writes stays readable to whoever runs the server', () => {
  const folder = temporaryFolder();
  chownSync(folder, 1234, 1235);
  const [made, replaced] = [join(folder, 'clients.json'), join(folder, 'accounts.json')];
  writeFileSync(replaced, '{}');
  chownSync(replaced, 1236, 1237);
  const owners = (file: string) => [statSync(file).uid, statSync(file).gid];
  writePrivate(made, {});
  writePrivate(replaced, {});
  expect([owners(made), owners(replaced)]).toEqual([
    [1234, 1235],
    [1236, 1237],
  ]);
  const empty = join(folder, 'smart.sqlite');
  touchPrivate(empty);
  expect([owners(empty), modeOf(empty)]).toEqual([[1234, 1235], 0o600]);
});

test.runIf(process.getuid?.() === 0)(
  'a link does not make the superuser change the owner of a file outside of the folder',
  () => {
    const folder = temporaryFolder();
    chownSync(folder, 1234, 1235);
    const outside = join(temporaryFolder(), 'made-by-root');
    const link = join(folder, 'smart.sqlite');
    symlinkSync(outside, link);
    touchPrivate(link);
    expect([statSync(outside).uid, modeOf(outside)]).toEqual([0, 0o600]);
  },
);
