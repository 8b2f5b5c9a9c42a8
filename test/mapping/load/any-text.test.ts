import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { load } from './problems-of.ts';

const read = (name: string): string => readFileSync(new URL(`./pack/${name}`, import.meta.url), 'utf8');
const PACK = ['pack.yaml', 'codes.yaml', 'patient.yaml', 'allergy.yaml'] as const;
const sound = Object.fromEntries(PACK.map(name => [name, read(name)]));
/** Words of the language, to insert in wrong places. */
const words = [...new Set(PACK.flatMap(name => read(name).match(/[A-Za-z-]+|[{}[\]:#,&*$"]/g) ?? []))];

const change = fc.record({
  file: fc.constantFrom(...PACK),
  at: fc.nat(2000),
  remove: fc.nat(12),
  insert: fc.array(fc.constantFrom(...words, '$x', '\n', '  ', ''), { maxLength: 3 }),
});

test('any pack text gives problems or a registry, never an exception', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), changes => {
      const files: Record<string, string> = { ...sound };
      for (const { file, at, remove, insert } of changes) {
        const text = files[file] ?? '';
        const start = at % (text.length + 1);
        files[file] = text.slice(0, start) + insert.join(' ') + text.slice(start + remove);
      }
      const { registry, problems } = load(files);
      expect(registry === undefined).toBe(problems.some(p => p.severity === 'error'));
      for (const problem of problems) {
        expect(formatProblem(problem)).toMatch(/^\S+:[1-9]\d*:[1-9]\d*: \S/);
        expect(problem.position.file in files || problem.position.file.endsWith('.json')).toBe(true);
      }
    }),
    { numRuns: Number(process.env['RUNS'] ?? 100) },
  );
});
