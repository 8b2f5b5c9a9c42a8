import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { testFilesIn } from '../../../src/check/pack-tests.ts';
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

test('a linked file is read', () => {
  const [made, linked] = [folder(), folder()];
  rmSync(join(linked, 'patient.yaml'));
  symlinkSync(join(made, 'patient.yaml'), join(linked, 'patient.yaml'));
  expect(readPackFiles(linked).version).toBe(readPackFiles(made).version);
});

describe('is one problem with its place, and the other files are read:', () => {
  const NOWHERE =
    'there is nothing: the file was removed, or is a link that leads nowhere; expected a file, or no link';
  const CIRCLE = 'links that lead back to themselves; expected a link to a file';

  const problemsOf = (made: string): readonly string[] => {
    const { problems = [], mappings } = readPackFiles(made);
    expect(mappings.length).toBeGreaterThan(0);
    return problems.map(formatProblem);
  };

  test.each([
    ['a link that leads nowhere', 'gone.yaml', NOWHERE],
    ['links in a circle', 'extra.yaml', CIRCLE],
  ])('%s', (_title, target, text) => {
    const made = folder();
    for (const name of ['extra.yaml', 'extra.csv', 'extra.test.yaml', 'schema.lock.json']) {
      rmSync(join(made, name), { force: true });
      symlinkSync(target === 'extra.yaml' ? name : target, join(made, name));
    }
    mkdirSync(join(made, 'inner'));
    symlinkSync(target, join(made, 'inner', 'extra.yaml'));
    const names = ['extra.csv', 'extra.test.yaml', 'extra.yaml', 'inner/extra.yaml', 'schema.lock.json'];
    expect(problemsOf(made)).toEqual(names.map(name => `${name}:1:1: ${text}`));
    expect(pathsOfPack(made).filter(path => names.includes(path))).toEqual([]);
    expect(testFilesIn(made)).not.toContain('extra.test.yaml');
  });

  test.each([
    ['that leads nowhere', 'gone.yaml', NOWHERE],
    ['to itself', 'pack.yaml', CIRCLE],
  ])('a pack.yaml that is a link %s, of the pack and of the one below', (_title, target, text) => {
    const root = temporaryFolder();
    const [base, site] = [join(root, 'base'), join(root, 'site')];
    for (const made of [base, site]) cpSync(PACK, made, { recursive: true });
    rmSync(join(base, 'pack.yaml'));
    symlinkSync(target, join(base, 'pack.yaml'));
    writeFileSync(join(site, 'pack.yaml'), 'name: site\nextends: ../base\n');
    expect(problemsOf(base)).toEqual([`pack.yaml:1:1: ${text}`]);
    expect(problemsOf(site)).toEqual([expect.stringContaining('no pack in the folder that `extends` names')]);
  });

  test('a file or folder without permission', () => {
    const made = folder();
    for (const name of ['inner', 'closed']) mkdirSync(join(made, name));
    writeFileSync(join(made, 'inner', 'secret.yaml'), '');
    chmodSync(join(made, 'inner', 'secret.yaml'), 0);
    chmodSync(join(made, 'closed'), 0);
    for (const name of [made, join(made, 'inner')]) chmodSync(name, 0o755);
    const text = 'no permission to read it; expected permission for the user of this program';
    const problems = asNobody(() => problemsOf(made));
    chmodSync(join(made, 'closed'), 0o755);
    expect(problems).toEqual([`closed:1:1: ${text}`, `inner/secret.yaml:1:1: ${text}`]);
  });

  test('a name with control characters', () => {
    const made = folder();
    writeFileSync(join(made, 'a\nb.yaml:1:1: all is well.yaml'), '');
    expect(problemsOf(made)).toEqual([
      'a\ufffdb.yaml:1:1: all is well.yaml:1:1: a name with control characters; expected letters, digits, _ - .',
    ]);
  });
});

/** Acts without the permissions of the superuser, who may read everything. */
function asNobody<T>(act: () => T): T {
  if (process.geteuid?.() !== 0) return act();
  process.seteuid?.(65_534);
  try {
    return act();
  } finally {
    process.seteuid?.(0);
  }
}
