/** Configuration of a mutation run: the test files of files.json, in order, in one process. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { putTemporaryFoldersInMemory } from '../../test/memory-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const files: string[] = JSON.parse(readFileSync(resolve(process.env['MUTATION_WORK'] ?? '', 'files.json'), 'utf8'));

class AsGiven extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => files.findIndex(file => moduleId.endsWith(`/${file}`));
    return specifications.toSorted((a, b) => place(a) - place(b));
  }
}

putTemporaryFoldersInMemory();

export default defineConfig({
  root,
  test: {
    include: files,
    setupFiles: [resolve(import.meta.dirname, 'setup.ts')],
    maxWorkers: 1,
    isolate: false,
    // Node loads the code, with mutants in it (hook.ts).
    experimental: { viteModuleRunner: false, nodeLoader: false },
    testTimeout: 150_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: AsGiven },
  },
});
