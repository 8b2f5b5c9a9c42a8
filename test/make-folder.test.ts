import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { makeFolder, whyNotWritable } from '../src/common/make-folder.ts';
import { clinic } from './export/exporting.ts';
import { temporaryFolder } from './temporary-folder.ts';

const LINTEL = fileURLToPath(new URL('../bin/lintel.mjs', import.meta.url));

test('a folder is made with its parents, and an existing one is unchanged', () => {
  const top = temporaryFolder();
  const folder = join(top, 'a', 'b', 'c');
  makeFolder(folder, 0o700);
  writeFileSync(join(folder, 'kept'), '');
  makeFolder(folder, 0o755);
  expect([join(top, 'a'), folder].map(one => statSync(one).mode & 0o777)).toEqual([0o700, 0o700]);
  expect(existsSync(join(folder, 'kept'))).toBe(true);
});

test('a file at its path is reported', () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  expect(() => makeFolder(file)).toThrow('EEXIST');
  expect(() => makeFolder(join(file, 'below'))).toThrow('ENOTDIR');
});

test('a folder is tested for writing, without leaving a file', () => {
  const folder = temporaryFolder();
  expect([whyNotWritable(folder), whyNotWritable(join(folder, 'a', 'b'))]).toEqual([undefined, undefined]);
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(join(folder, 'file'), '');
  expect(whyNotWritable(join(folder, 'file', 'below'))).toBe('ENOTDIR');
});

// Even the superuser, who has all permissions, cannot create anything there.
test.skipIf(!existsSync('/proc/self'))('a read-only folder is refused', () => {
  expect(whyNotWritable('/proc/lintel/data')).toMatch(/^E(NOENT|ACCES|PERM)$/);
});

// Below /proc nothing can be created; the system reports it as if the parent folder were missing.
test.skipIf(!existsSync('/proc/self'))('an export into an impossible folder ends at once with a reason', () => {
  const { environment } = clinic();
  const { status, stderr } = spawnSync(process.execPath, [LINTEL, 'export', '/proc/lintel/out', '--type', 'Patient'], {
    env: environment,
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect(stderr).toContain('/proc/lintel is not there (ENOENT)');
  expect(status).toBe(1);
});
