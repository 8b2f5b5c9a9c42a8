/** Makes a folder, which is removed at the end of the test that calls it; with `afterAll`, at the end of its file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export function temporaryFolder(over: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  over(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
