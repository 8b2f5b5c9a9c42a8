/**
 * Of a mutation run: the test files of files.json, in their order, in one process, over a folder of src with mutants
 * in it.
 */
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { mutantsOf, withMutants } from './mutants.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = process.env['MUTATION_FOLDER'] ?? '';
const files: string[] = JSON.parse(readFileSync(resolve(process.env['MUTATION_WORK'] ?? '', 'files.json'), 'utf8'));

class AsGiven extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => files.findIndex(file => moduleId.endsWith(`/${file}`));
    return specifications.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  root,
  plugins: [
    {
      name: 'mutants',
      enforce: 'pre',
      load(id) {
        const file = relative(root, id.split('?')[0] ?? '');
        if (!file.startsWith(`${folder}/`) || !file.endsWith('.ts')) return null;
        const text = readFileSync(resolve(root, file), 'utf8');
        return { code: withMutants(text, mutantsOf(file, text)), map: null };
      },
    },
  ],
  test: {
    include: files,
    setupFiles: [resolve(import.meta.dirname, 'setup.ts')],
    maxWorkers: 1,
    isolate: false,
    // Of another folder the same file has no mutants.
    fsModuleCache: false,
    testTimeout: 150_000,
    hookTimeout: 120_000,
    sequence: { sequencer: AsGiven },
  },
});
