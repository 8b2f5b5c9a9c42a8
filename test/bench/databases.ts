/**
 * Provides databases of the demo for measurements. In: files, or numbers of patients. Out: the files; those that it
 * built are removed afterwards.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildFixture } from '../../fixtures/build.ts';

export async function withDatabases(
  files: readonly string[],
  patients: readonly number[],
  measure: (files: readonly string[]) => Promise<void>,
): Promise<void> {
  if (files.length > 0) return measure(files);
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  try {
    const built = patients.map(number => {
      const file = join(folder, `${number}-patients.sqlite`);
      buildFixture({ file, patients: number, seed: 1, version: '4.1' });
      return file;
    });
    await measure(built);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
