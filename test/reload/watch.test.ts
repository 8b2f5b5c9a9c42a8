import { mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchFolder } from '../../src/reload/watch.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const PATIENT = { timeout: 60_000, interval: 10 };

function watched(outcome: () => 'done' | 'later' = () => 'done') {
  const root = temporaryFolder();
  const folder = join(root, 'pack');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), 'a');
  let calls = 0;
  const watch = watchFolder(folder, {
    every: 5,
    async changed() {
      calls++;
      return outcome();
    },
  });
  onTestFinished(() => watch.stop());
  return {
    root,
    folder,
    calls: () => calls,
    called: (times: number) => vi.waitFor(() => expect(calls).toBe(times), PATIENT),
  };
}

test('the watch calls back once at first, and once per change of any kind', async () => {
  const { root, folder, called } = watched();
  await called(1);
  writeFileSync(join(folder, 'a.yaml'), 'longer');
  await called(2);
  writeFileSync(join(folder, 'b.yaml'), 'new');
  await called(3);
  unlinkSync(join(folder, 'b.yaml'));
  await called(4);
  // As editors write files, and as orchestrators swap mounted ones.
  writeFileSync(join(root, 'a.tmp'), 'longer');
  renameSync(join(root, 'a.tmp'), join(folder, 'a.yaml'));
  await called(5);
  mkdirSync(join(root, 'other'));
  writeFileSync(join(root, 'other', 'c.yaml'), 'elsewhere');
  symlinkSync(join(root, 'other', 'c.yaml'), join(folder, 'c.yaml'));
  await called(6);
  writeFileSync(join(root, 'other', 'c.yaml'), 'changed elsewhere');
  await called(7);
});

test('a link that leads nowhere, such as the lock of an editor, hides no change of other files', async () => {
  const { folder, called } = watched();
  symlinkSync('nobody@host.1234', join(folder, '.#a.yaml'));
  await called(1);
  await new Promise(resolve => setTimeout(resolve, 50));
  writeFileSync(join(folder, 'a.yaml'), 'longer');
  await called(2);
  unlinkSync(join(folder, '.#a.yaml'));
  writeFileSync(join(folder, 'a.yaml'), 'longer still');
  await called(3);
});

test('changes of a base pack are detected, also of one added later', async () => {
  const { root, folder, called } = watched();
  await called(1);
  writeFileSync(join(folder, 'pack.yaml'), 'extends: ../base\n');
  await called(2);
  mkdirSync(join(root, 'base'));
  writeFileSync(join(root, 'base', 'pack.yaml'), 'name: base\n');
  await called(3);
  writeFileSync(join(root, 'base', 'a.yaml'), 'new');
  await called(4);
  writeFileSync(join(folder, 'pack.yaml'), 'name: alone\n');
  await called(5);
  writeFileSync(join(root, 'base', 'a.yaml'), 'longer');
  await new Promise(resolve => setTimeout(resolve, 100));
  await called(5);
});

test('a replaced folder is detected', async () => {
  const { root, folder, called } = watched();
  await called(1);
  renameSync(folder, join(root, 'old'));
  await called(2);
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.yaml'), 'other');
  await called(3);
});

test('a failed callback is repeated until it succeeds', async () => {
  let tries = 0;
  const { called, calls } = watched(() => (++tries < 4 ? 'later' : 'done'));
  await called(4);
  await new Promise(resolve => setTimeout(resolve, 100));
  expect(calls()).toBe(4);
});
