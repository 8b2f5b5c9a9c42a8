import { expect, test } from 'vitest';
import { ACTIVE, load, problemsOf, SMALL } from './problems-of.ts';

const SCT = 'http://snomed.info/sct';

const withTree = (lines: string, files: Readonly<Record<string, string>> = {}) => ({
  'm.yaml': ACTIVE,
  'pack.yaml': `${SMALL}systems: { sct: ${SCT} }
hierarchies:
${lines}
`,
  ...files,
});

test('a file of a pack defines the hierarchy of a system, named by alias or URL', () => {
  const text = 'parent,code\na,b\n"a","c, d"\nb,e\na,b\n';
  for (const system of ['sct', SCT]) {
    const { registry, problems } = load(withTree(`  ${system}: tree.csv`, { 'tree.csv': text }));
    expect(problems).toEqual([]);
    expect(registry?.pack.hierarchies).toEqual(
      new Map([
        [
          SCT,
          new Map([
            ['a', ['b', 'c, d']],
            ['b', ['e']],
          ]),
        ],
      ]),
    );
    expect(registry?.codeMaps).toEqual([]);
  }
});

test('a pack without such a file has no hierarchy', () => {
  expect(load({ 'm.yaml': ACTIVE }).registry?.pack.hierarchies?.size).toBe(0);
});

test('its errors are reported with their line', () => {
  expect(problemsOf(withTree('  sct: tree.cvs', { 'tree.csv': 'raw,code\n' }))).toContain(
    'pack.yaml:7:8: no such file in the pack; found tree.cvs; did you mean tree.csv?',
  );
  expect(problemsOf(withTree('  scd: tree.csv', { 'tree.csv': 'parent,code\na,b\n' }))).toEqual([
    'pack.yaml:7:3: unknown system; expected an alias of `systems` in pack.yaml or an absolute URI; found scd; did you mean sct?',
  ]);
  expect(problemsOf(withTree('  sct: tree.csv', { 'tree.csv': 'code,parent\na,b\n' }))).toEqual([
    'tree.csv:1:1: not a hierarchy; expected a first line parent,code',
  ]);
  expect(problemsOf(withTree('  sct: tree.csv', { 'tree.csv': 'parent,code\na,a\na\n,b\na,b,c\n' }))).toEqual([
    'tree.csv:2:1: not a code and one below it; found a,a',
    'tree.csv:3:1: not a code and one below it; found a',
    'tree.csv:4:1: not a code and one below it; found ,b',
    'tree.csv:5:1: not a code and one below it; found a,b,c',
  ]);
});
