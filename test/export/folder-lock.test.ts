import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderLock } from '../../src/export/folder-lock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { clinic, kickOff, served } from './exporting.ts';

/** Another process, which takes the lock of a folder and prints a line then. */
async function holder(folder: string): Promise<ChildProcess> {
  const module = JSON.stringify(new URL('../../src/export/folder-lock.ts', import.meta.url).href);
  const script = `const { folderLock } = await import(${module});
    const lock = folderLock(process.argv[1]);
    console.log(lock.take());
    // Keeps a reference: a lock that is collected as garbage closes its file and is free again.
    setInterval(() => lock, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  expect(String(said)).toBe('true\n');
  return child;
}

test('the lock of a killed process is free at once, that of a living one is not', async () => {
  const folder = temporaryFolder();
  const child = await holder(folder);
  const lock = folderLock(folder);
  expect(lock.take()).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(lock.take()).toBe(true);
  expect(folderLock(folder).take()).toBe(false);
  lock.release();
  expect(folderLock(folder).take()).toBe(true);
});

test('only the owner can read the file of the lock, also one that another version left', () => {
  const folder = temporaryFolder();
  const modeOf = (): number => statSync(join(folder, 'lock')).mode & 0o777;
  const lock = folderLock(folder);
  expect(lock.take()).toBe(true);
  expect(modeOf()).toBe(0o600);
  lock.release();
  chmodSync(join(folder, 'lock'), 0o644);
  expect(lock.take()).toBe(true);
  expect(modeOf()).toBe(0o600);
});

test('a second server does not start with the export folder of another', async () => {
  const where = clinic(3);
  const first = await served(where);
  await kickOff(`${first.fhir}/$export`);
  await expect(served(where)).rejects.toMatchObject({
    problems: [expect.stringContaining('DATA_DIR: another server uses ')],
  });
  await first.stop();
  await served(where);
});

test('of two servers without an export folder, the first one that exports locks it', async () => {
  const where = clinic(3);
  const [first, second] = [await served(where), await served(where)];
  await kickOff(`${first.fhir}/$export`);
  await expect(kickOff(`${second.fhir}/$export`)).rejects.toThrow('409');
  expect((await fetch(`${second.fhir}/Patient/1`)).status).toBe(200);
});
