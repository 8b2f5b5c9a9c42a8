import { expect, test } from 'vitest';
import { loadPack } from '../../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { catalog } from './catalog.ts';

const folder = new URL('./pack', import.meta.url).pathname;

test('the worked example of the design loads', () => {
  const { registry, problems } = loadPack(folder, catalog);
  expect(problems.map(formatProblem)).toEqual([]);
  expect(registry?.mappings.map(mapping => mapping.name)).toEqual(['allergies', 'patients']);
});
