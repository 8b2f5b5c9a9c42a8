import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { pathsOfPack, readPackFiles } from '../../../src/mapping/load/read/files.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const PACK = join(import.meta.dirname, 'pack');

function folder(): string {
  const made = temporaryFolder();
  cpSync(PACK, made, { recursive: true });
  return made;
}

test('a folder or pipe named like a pack file is ignored without blocking', () => {
  const made = folder();
  const { version } = readPackFiles(made);
  execFileSync('mkfifo', [join(made, 'pipe.yaml')]);
  symlinkSync('/dev/zero', join(made, 'device.yaml'));
  mkdirSync(join(made, 'folder.yaml'));
  symlinkSync(made, join(made, 'loop.yaml'));
  expect(readPackFiles(made).version).toBe(version);
});

test('a file of any kind that is too large is an error, and is not read into memory', () => {
  const made = folder();
  for (const name of ['huge.csv', 'huge.yaml', 'schema.lock.json']) {
    writeFileSync(join(made, name), '');
    truncateSync(join(made, name), 64_000_001);
  }
  const { tables, mappings, lock, problems = [] } = readPackFiles(made);
  expect(problems.map(formatProblem)).toEqual([
    'huge.csv:1:1: file of more than 64000000 bytes',
    'huge.yaml:1:1: file of more than 64000000 bytes',
    'schema.lock.json:1:1: file of more than 64000000 bytes',
  ]);
  expect([...tables, ...mappings, lock].map(file => file?.path)).not.toEqual(
    expect.arrayContaining([expect.stringContaining('huge')]),
  );
  expect(lock).toBeUndefined();
  expect(pathsOfPack(made)).not.toContain('huge.csv');
});

describe('a symbolic link of a pack', () => {
  /** A folder with two subfolders, each of which contains the pack. */
  function beside(): { readonly root: string; readonly pack: string; readonly other: string } {
    const root = temporaryFolder();
    const [pack, other] = [join(root, 'pack'), join(root, 'other')];
    for (const made of [pack, other]) cpSync(PACK, made, { recursive: true });
    return { root, pack, other };
  }

  function linked(pack: string, to: string): void {
    rmSync(join(pack, 'patient.yaml'));
    symlinkSync(to, join(pack, 'patient.yaml'));
  }

  test('to a file outside is an error, and the file is not read', () => {
    const { pack } = beside();
    const away = join(beside().other, 'patient.yaml');
    linked(pack, away);
    const { mappings, problems = [] } = readPackFiles(pack);
    expect(mappings.map(({ path }) => path)).not.toContain('patient.yaml');
    expect(problems.map(formatProblem)).toEqual([
      'patient.yaml:1:1: the file is a link to a place outside; expected a link to a file in this folder or beside it',
    ]);
    expect(pathsOfPack(pack)).not.toContain('patient.yaml');
  });

  test('to a file outside is an error in the base pack, too', () => {
    const { root, other } = beside();
    linked(other, join(beside().other, 'patient.yaml'));
    const site = join(root, 'site');
    mkdirSync(site);
    writeFileSync(join(site, 'pack.yaml'), 'extends: ../other\n');
    expect(readPackFiles(site).problems?.map(formatProblem)).toEqual([
      expect.stringMatching(/^\.\.\/other\/patient\.yaml:1:1: the file is a link to a place outside/),
    ]);
  });

  test('to a file beside the pack is followed, and so is a link to the pack', () => {
    const { root, pack, other } = beside();
    const { version } = readPackFiles(pack);
    linked(pack, join(other, 'patient.yaml'));
    expect(readPackFiles(pack).version).toBe(version);
    const elsewhere = beside().root;
    symlinkSync(other, join(elsewhere, 'current'));
    const current = readPackFiles(join(elsewhere, 'current'));
    expect([current.version, current.problems]).toEqual([version, undefined]);
    expect(root).not.toBe(elsewhere);
  });

  test('through a hidden folder, as Kubernetes mounts files, is followed', () => {
    const { pack } = beside();
    const { version } = readPackFiles(pack);
    mkdirSync(join(pack, '..2026_01_01'));
    renameSync(join(pack, 'patient.yaml'), join(pack, '..2026_01_01', 'patient.yaml'));
    symlinkSync('..2026_01_01', join(pack, '..data'));
    symlinkSync('..data/patient.yaml', join(pack, 'patient.yaml'));
    const { version: mounted, problems } = readPackFiles(pack);
    expect([mounted, problems]).toEqual([version, undefined]);
  });
});

test('a linked file is read; a dangling link is an error', () => {
  const [made, linked] = [folder(), folder()];
  rmSync(join(linked, 'patient.yaml'));
  symlinkSync(join(made, 'patient.yaml'), join(linked, 'patient.yaml'));
  expect(readPackFiles(linked).version).toBe(readPackFiles(made).version);
  rmSync(join(made, 'patient.yaml'));
  expect(() => readPackFiles(linked)).toThrow(/ENOENT/);
});
