import { describe, expect, test } from 'vitest';
import { ACTIVE, HEAD, PEOPLE, problemsOf, SMALL } from './problems-of.ts';

describe('macros are expanded before anything else is checked', () => {
  test('a row of the wrong length and a name that is never used are rejected', () => {
    const files = {
      'm.yaml': `${HEAD}variants:
  - with: [$v, $w]
    rows: [[a, b], [c]]
    variant: $v
    id: "$v-{PT_NO}"
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:16: $w is never used',
      'm.yaml:7:20: row of the wrong length; expected 2; found 1',
    ]);
  });

  test('a name that no macro gives a value is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': `${HEAD}variants:
  - with: [$var]
    rows: [[a]]
    variant: $var
    id: "$vr-{PT_NO}"
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:9:9: unknown macro name; found $vr; did you mean $var?; in the row m.yaml:7:12',
    ]);
  });

  test('a condition of a variant is refused with the alternative', () => {
    const files = {
      'm.yaml': `${HEAD}variants:
  - variant: a
    id: "a-{PT_NO}"
    where: { SEX: M }
  - { variant: b, id: "b-{PT_NO}", if: { SEX: F } }
elements:
  active: "true"
`,
    };
    const expected = 'a mapping of its own for other rows of the table, with `where` in its `source`';
    expect(problemsOf(files)).toEqual([
      `m.yaml:8:5: a variant has no \`where\`: its rows are those of the mapping; expected ${expected}`,
      `m.yaml:9:36: a variant has no \`if\`: its rows are those of the mapping; expected ${expected}`,
    ]);
  });

  test('rows without names are rejected', () => {
    const files = {
      'm.yaml': `${HEAD}rows: [[a]]
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:5:7: `with: [$name, …]` and `rows: [[…], …]` require each other']);
  });

  test('an unknown fragment is reported with the nearest spelling', () => {
    const files = {
      'pack.yaml': `${SMALL}fragments: { family-name: { family: { from: $col } } }
`,
      'm.yaml': `${PEOPLE}  name: { insert: famly-name, use: usual }
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:6:19: unknown fragment; found famly-name; did you mean family-name?']);
  });

  test('an argument that the fragment does not use is rejected', () => {
    const files = {
      'pack.yaml': `${SMALL}fragments: { family-name: { family: { from: LST_NM } } }
`,
      'm.yaml': `${PEOPLE}  name: { insert: family-name, $col: LST_NM }
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:6:32: fragment family-name does not use $col']);
  });

  test('a fragment parameter without an argument is reported at its place', () => {
    const files = {
      'pack.yaml': `${SMALL}fragments: { family-name: { family: { from: $col } } }
`,
      'm.yaml': `${PEOPLE}  name: { insert: family-name }
`,
    };
    expect(problemsOf(files)).toEqual(['pack.yaml:5:45: unknown macro name; found $col; inserted at m.yaml:6:19']);
  });

  test('a fragment that inserts itself is rejected', () => {
    const files = {
      'pack.yaml': `${SMALL}fragments: { loop: { use: usual, insert: loop } }
`,
      'm.yaml': `${PEOPLE}  name: { insert: loop }
`,
    };
    expect(problemsOf(files)).toEqual(['pack.yaml:5:42: fragment loop inserts itself; inserted at m.yaml:6:19']);
  });

  test('a fragment that is no map cannot be merged', () => {
    const files = {
      'pack.yaml': `${SMALL}fragments: { usual: usual }
`,
      'm.yaml': `${PEOPLE}  name: { insert: usual, family: A }
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:6:19: fragment usual is no map and cannot be merged with further keys']);
  });

  test('an error of a macro with many rows is reported once', () => {
    const files = {
      'm.yaml': `${HEAD}variants:
  - with: [$v]
    rows: [[a], [b], [c]]
    variant: $v
    id: "$v-{PT_NO}"
    elements: { gendr: male }
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:10:17: unknown element of Patient; found gendr; did you mean gender?; in the row m.yaml:7:12 and 2 more',
    ]);
  });

  test('a patch of a path or mapping that does not exist is rejected', () => {
    const files = {
      'm.yaml': `${ACTIVE}---
mapping: people
only: { schema: "4.1" }
patch: { elements.activ: "false", elements.name.0: A }
---
mapping: peopl
only: { schema: "4.1" }
patch: { elements: {} }
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:10:10: patch of a path that does not exist: elements.activ; found activ; did you mean active?',
      'm.yaml:10:35: patch of a path that does not exist: elements.name.0; found name',
      'm.yaml:12:10: patch of an unknown mapping; found peopl; did you mean people?',
    ]);
  });

  test('documents with `only` that no schema version selects are reported', () => {
    const only = (version: string) =>
      `---\nmapping: people\nonly: { schema: "${version}" }\npatch: { elements.active: "false" }\n`;
    const pack = (lines: string) => `name: small\ntitle: Small\nzone: UTC\n${lines}`;
    const files = { 'm.yaml': `${ACTIVE}${only('5.3')}${only('5.4')}` };
    expect(problemsOf({ ...files, 'pack.yaml': pack('schema: 5.5\n') })).toEqual([
      'pack.yaml:4:9: warning: no `only` names this version of the schema: 2 documents with `only` are left out; expected 5.3 or 5.4, or `schemas` with all versions; found 5.5; did you mean 5.3?',
    ]);
    expect(problemsOf({ ...files, 'pack.yaml': pack('') })).toEqual([
      'pack.yaml:1:1: warning: pack.yaml names no `schema`: 2 documents with `only` are left out; expected 5.3 or 5.4, or `schemas` with all versions',
    ]);
    expect(problemsOf({ ...files, 'pack.yaml': pack('schema: 5.4\n') })).toEqual([]);
    const listed = (schema: string) => pack(`schema: "${schema}"\nschemas: ["5.2", "5.4"]\n`);
    const wrong = 'version of the schema that `schemas` does not list; expected 5.2 or 5.4; found';
    expect(problemsOf({ ...files, 'pack.yaml': listed('5.2') })).toEqual([
      `m.yaml:9:17: ${wrong} 5.3; did you mean 5.2?`,
    ]);
    expect(problemsOf({ 'm.yaml': `${ACTIVE}${only('5.4')}`, 'pack.yaml': listed('5.5') })).toEqual([
      `pack.yaml:4:9: ${wrong} 5.5; did you mean 5.2?`,
    ]);
    expect(problemsOf({ 'm.yaml': `${ACTIVE}${only('5.4')}`, 'pack.yaml': listed('5.2') })).toEqual([]);
  });

  test('a patch without only is rejected', () => {
    const files = {
      'm.yaml': `${ACTIVE}---
mapping: people
patch: { elements.active: "false" }
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:8:1: `patch` requires `only`; expected only: {schema: …}, or a mapping of the pack that `extends` names',
    ]);
  });

  test('a name used by two mappings is rejected', () => {
    const files = { 'm.yaml': ACTIVE, 'n.yaml': ACTIVE };
    expect(problemsOf(files)).toEqual(['n.yaml:1:1: name of a mapping used twice; found people']);
  });
});
