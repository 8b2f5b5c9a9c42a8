import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readPackFiles } from '../../../src/mapping/load/read/files.ts';

const PACK = join(import.meta.dirname, 'pack');

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'lintel-files-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  cpSync(PACK, made, { recursive: true });
  return made;
}

test('what is named like a file of the pack and is none is left out, and nobody waits for it', () => {
  const made = folder();
  const { version } = readPackFiles(made);
  execFileSync('mkfifo', [join(made, 'pipe.yaml')]);
  symlinkSync('/dev/zero', join(made, 'device.yaml'));
  mkdirSync(join(made, 'folder.yaml'));
  symlinkSync(made, join(made, 'loop.yaml'));
  expect(readPackFiles(made).version).toBe(version);
});

test('files are followed to where links lead; one that leads nowhere is an error', () => {
  const [made, linked] = [folder(), folder()];
  rmSync(join(linked, 'patient.yaml'));
  symlinkSync(join(made, 'patient.yaml'), join(linked, 'patient.yaml'));
  expect(readPackFiles(linked).version).toBe(readPackFiles(made).version);
  rmSync(join(made, 'patient.yaml'));
  expect(() => readPackFiles(linked)).toThrow(/ENOENT/);
});
