/**
 * JSON of a pack is read like JSON.parse, with positions; a syntax error is reported where the text stops being JSON.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReport, problemLine } from '../../../src/mapping/load/problem.ts';
import { readJson } from '../../../src/mapping/load/read/json.ts';
import { child, plain } from '../../../src/mapping/load/read/tree.ts';
import { runsOf } from '../../share.ts';

function read(text: string) {
  const report = createReport();
  const tree = readJson('a.json', text, report);
  return { tree, problems: report.problems().map(problemLine) };
}

/** Scalars are texts in YAML trees. */
function asTexts(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map(asTexts);
  return Object.assign(Object.create(null), Object.fromEntries(Object.entries(value).map(([k, v]) => [k, asTexts(v)])));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('JSON', () => {
  test('is parsed like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom(undefined, 2, '\t'), (text, indent) => {
        const value: unknown = JSON.parse(text);
        const { tree, problems } = read(JSON.stringify(value, undefined, indent));
        expect(problems).toEqual([]);
        expect(tree && plain(tree)).toEqual(asTexts(value));
      }),
    );
  });

  test('with one character changed is accepted or refused like JSON.parse', () => {
    const signs = fc.constantFrom('"', '\\', ',', ':', '{', '}', '[', ']', 'x', '-', '.', '0', ' ', '\n', '\t', '');
    const values = fc.json({ maxDepth: 3, noUnicodeString: true });
    fc.assert(
      fc.property(values, fc.nat(), signs, (text, at, sign) => {
        const place = at % text.length;
        const changed = text.slice(0, place) + sign + text.slice(place + 1);
        const { tree } = read(changed);
        expect(tree !== undefined, changed).toBe(isJson(changed));
      }),
      { numRuns: runsOf(1000) },
    );
  });

  test('has line and column of each value', () => {
    const { tree } = read('\ufeff{\r\n  "a": 1,\n\t"b": [true]\n}');
    expect(child(tree, 'a')?.at).toEqual({ file: 'a.json', line: 2, column: 8 });
    expect(child(tree, 'b')?.at).toEqual({ file: 'a.json', line: 3, column: 7 });
  });

  test.each([
    ['{\n  "a": 1\n  "b": 2 }', '3:3: not JSON; expected `,` or `}`; found "b"'],
    ['{ "a": 1, }', '1:9: not JSON; expected `}`, since nothing follows; found ,'],
    ['{ a: 1 }', '1:3: not JSON; expected a key in quotes; found a'],
    ['[1, 2', '1:6: not JSON; expected `,` or `]`; found the end of the file'],
    ['[ yes ]', '1:3: not JSON; expected a text in quotes, a number, `{` or `[`; found yes'],
    [
      '["a\nb"]',
      '1:2: not JSON; expected a text that ends in quotes on its line, with `\\` before `"` and `\\` in it; found "',
    ],
    ['{} # x', '1:4: not JSON; expected the end of the file; found #'],
    ['', '1:1: not JSON; expected a text in quotes, a number, `{` or `[`; found the end of the file'],
    ['{"a": 1, "a": 2}', '1:10: key written twice'],
    ['[text, end]', '1:2: not JSON; expected a text in quotes, a number, `{` or `[`; found text'],
    ['[TRUE]', '1:2: not JSON; expected a text in quotes, a number, `{` or `[`; found TRUE'],
  ])('%j is reported', (text, problem) => {
    expect(read(text).problems).toEqual([expect.stringContaining(`a.json:${problem}`)]);
  });

  test('with extreme nesting is refused', () => {
    expect(read('['.repeat(100_000)).problems).toHaveLength(1);
  });
});
