/** Edits rows of code maps in the text of their files: everything around them stays as written. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CodeEdit, CodeEditError } from '../../../src/mapping/load/codes/code-edit.ts';
import { editCodeMap } from '../../../src/mapping/load/codes/edit-codes.ts';
import { createReport } from '../../../src/mapping/load/problem.ts';
import { readCsv } from '../../../src/mapping/load/read/csv.ts';
import type { PackFiles } from '../../../src/mapping/load/read/files.ts';
import { readYaml } from '../../../src/mapping/load/read/read.ts';
import { child, entriesOf, textOf } from '../../../src/mapping/load/read/tree.ts';
import { runsOf } from '../../share.ts';

function filesOf(texts: Readonly<Record<string, string>>, level?: number): PackFiles {
  const files = Object.entries(texts).map(([path, text]) => ({
    path,
    text,
    ...(level === undefined ? {} : { level }),
  }));
  return {
    pack: undefined,
    codes: files.filter(({ path }) => path.endsWith('codes.yaml')),
    tables: files.filter(({ path }) => path.endsWith('.csv')),
    ...{ mappings: [], ccds: undefined, lock: undefined, version: '', changed: 0 },
  };
}

/** The text of codes.yaml after the edits of the map `sex`. */
function edited(text: string, ...edits: readonly CodeEdit[]): string | undefined {
  return editCodeMap(filesOf({ 'codes.yaml': text }), 'sex', edits).get('codes.yaml');
}

const FEMALE = { raw: 'F', to: { code: 'female' } };

describe('rows in one line', () => {
  const text = `# Ours.
sex:
  system: admin # HL7's
  rows: { F: female, M: male } # asked Anna
other: { rows: { A: b } }
`;
  test('a new row stands behind the last', () => {
    expect(edited(text, { raw: 'X', to: { code: 'other', display: 'Another' } })).toBe(
      text.replace('M: male }', 'M: male, X: other Another }'),
    );
  });
  test('a row is changed in its place, and renamed', () => {
    expect(edited(text, { raw: 'F', to: { code: 'f', system: 'ours' } })).toBe(
      text.replace('F: female', 'F: "ours#f"'),
    );
    expect(edited(text, { raw: 'F', rename: 'W', to: { code: 'female' } })).toBe(text.replace('F:', 'W:'));
  });
  test('rows are removed, the last one too', () => {
    expect(edited(text, { raw: 'F', to: null })).toBe(text.replace('F: female, ', ''));
    expect(edited(text, { raw: 'M', to: null })).toBe(text.replace(', M: male', ''));
    expect(edited(text, { raw: 'F', to: null }, { raw: 'M', to: null })).toBe(
      text.replace('{ F: female, M: male }', '{}'),
    );
  });
  test('a long line is broken', () => {
    const rows = Array.from({ length: 12 }, (_, i) => ({
      raw: `K${i}`,
      to: { code: 'unknown', display: 'Not known' },
    }));
    const lines = edited(text, ...rows)?.split('\n') ?? [];
    expect(Math.max(...lines.map(line => line.length))).toBeLessThanOrEqual(121);
  });
});

describe('rows in lines of their own', () => {
  const text = `sex:
  fold: true
  rows:
    F: female   # Anna says so
    # Rare.
    "1": male

# Another map.
other:
  rows: { A: b }
`;
  test('a new row stands behind the last, before what follows', () => {
    expect(edited(text, { raw: '2', to: { code: 'female' } })).toBe(
      text.replace('    "1": male\n', '    "1": male\n    "2": female\n'),
    );
  });
  test('a row is removed with its line', () => {
    expect(edited(text, { raw: '1', to: null })).toBe(text.replace('    "1": male\n', ''));
    expect(edited(text, { raw: 'F', to: null })).toBe(text.replace('    F: female   # Anna says so\n', ''));
  });
  test('a comment behind a row stays', () => {
    expect(edited(text, { raw: 'F', to: { code: 'absent' } })).toBe(text.replace('female', 'absent'));
  });
  test('the text ends without a new line', () => {
    expect(edited('sex:\n  rows:\n    F: f', { raw: 'M', to: { code: 'm' } })).toBe(
      'sex:\n  rows:\n    F: f\n    M: m',
    );
  });
});

describe('a map without rows gets them', () => {
  test('in lines', () => {
    expect(edited('sex:\n  system: admin\nother: { system: x }\n', FEMALE)).toBe(
      'sex:\n  system: admin\n  rows:\n    F: female\nother: { system: x }\n',
    );
    expect(edited('sex:\n  rows: {}\n  fold: true\n', FEMALE)).toBe('sex:\n  rows:\n    F: female\n  fold: true\n');
    expect(edited('sex:\n  system: admin\n  rows:\n', FEMALE)).toBe('sex:\n  system: admin\n  rows:\n    F: female\n');
  });
  test('in one line', () => {
    expect(edited('sex: { system: admin }\n', FEMALE)).toBe('sex: { system: admin, rows: { F: female } }\n');
  });
});

describe('a CSV file', () => {
  const text = 'raw,code,display\nF,female,\n"M,1",male,"He ""or"" him"\n';
  const changed = (...edits: readonly CodeEdit[]) =>
    editCodeMap(filesOf({ 'sex.csv': text }), 'sex', edits).get('sex.csv');
  test('has rows changed, added and removed, all others as they were', () => {
    expect(changed({ raw: 'F', to: { code: 'f', display: 'Fem, in' } })).toBe(
      text.replace('F,female,', 'F,f,"Fem, in"'),
    );
    expect(changed({ raw: 'X', to: { code: 'other' } })).toBe(`${text}X,other,\n`);
    expect(changed({ raw: 'F', to: null })).toBe(text.replace('F,female,\n', ''));
  });
  test('gets a column that it lacks', () => {
    expect(changed({ raw: 'X', to: { code: 'o', system: 'ours' } })).toBe(
      `${text.replace('display\n', 'display,system\n')}X,o,,ours\n`,
    );
  });
  test('that is empty becomes a code map with its header', () => {
    expect(editCodeMap(filesOf({ 'sex.csv': '' }), 'sex', [FEMALE]).get('sex.csv')).toBe('raw,code\nF,female\n');
  });
  test('keeps its line ends, its blank lines, and what columns of its own hold', () => {
    const own = 'raw,code,note\r\nF,female,seen\r\n\r\nM,male,\r\n';
    const changed = editCodeMap(filesOf({ 'sex.csv': own }), 'sex', [{ raw: 'F', to: { code: 'f' } }]);
    expect(changed.get('sex.csv')).toBe(own.replace('F,female,seen', 'F,f,seen'));
  });
  test('gets the new rows if the map has rows in CSV and YAML', () => {
    const files = filesOf({ 'sex.csv': text, 'codes.yaml': 'sex:\n  rows: { A: a }\n' });
    expect([...editCodeMap(files, 'sex', [{ raw: 'X', to: { code: 'x' } }]).keys()]).toEqual(['sex.csv']);
    expect([...editCodeMap(files, 'sex', [{ raw: 'A', to: { code: 'x' } }]).keys()]).toEqual(['codes.yaml']);
  });
});

test('invalid changes are refused', () => {
  const refused = (work: () => unknown, why: RegExp): void => {
    expect(work).toThrow(CodeEditError);
    expect(work).toThrow(why);
  };
  refused(() => edited('sex: { rows: { F: f } }', { raw: ' ', to: { code: 'x' } }), /blank/);
  refused(() => edited('sex: { rows: { F: f } }', { raw: 'X', to: { code: 'a b' } }), /no blanks/);
  refused(() => edited('sex: { rows: { F: f } }', { raw: 'X', to: { code: 'a', system: 'b#c' } }), /system/);
  refused(() => editCodeMap(filesOf({ 'codes.yaml': 'sex: { rows: { F: f } }' }, 1), 'sex', [FEMALE]), /below/);
  refused(() => edited('sex: {}\n', FEMALE), /empty/);
  refused(() => editCodeMap(filesOf({ 'sex.csv': 'value,meaning\nF,f\n' }), 'sex', [FEMALE]), /no raw and code/);
});

test('any typed text is read back, and nothing else changes', () => {
  const texts = [
    'a: { rows: { Q: q } } # one\nsex:\n  system: admin\n  rows: { F: female, M: male } # two\nz: { rows: { Q: q } }\n',
    'a: { rows: { Q: q } } # one\nsex:\n  rows:\n    F: female # two\n    # three\n    M: male\nz: { rows: { Q: q } }\n',
  ];
  const word = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    .filter(one => /^\S+$/.test(one) && !/[\p{C}\u2028\u2029]/u.test(one));
  const arbitrary = fc.record({
    text: fc.constantFrom(...texts),
    raw: fc.oneof(fc.constantFrom('F', 'M'), word),
    code: word.filter(one => !one.includes('#')),
    display: fc.oneof(fc.constant(''), word),
  });
  fc.assert(
    fc.property(arbitrary, ({ text, raw, code, display }) => {
      const after = edited(text, { raw, to: { code, display } }) ?? '';
      const report = createReport();
      const [document] = readYaml('codes.yaml', after, report);
      expect(report.problems()).toEqual([]);
      const rows = entriesOf(child(child(document, 'sex'), 'rows'));
      expect(rows.map(({ key }) => key)).toContain(raw);
      const found = rows.find(({ key }) => key === raw);
      expect(found && textOf(found.value)).toBe(code === 'absent' || display === '' ? code : `${code} ${display}`);
      for (const remark of ['# one', '# two']) expect(after).toContain(remark);
      const csv = editCodeMap(filesOf({ 'sex.csv': 'raw,code,display\n' }), 'sex', [{ raw, to: { code, display } }]);
      expect(readCsv(csv.get('sex.csv') ?? '')[1]?.fields).toEqual([raw, code, display]);
    }),
    { numRuns: runsOf(300) },
  );
});
