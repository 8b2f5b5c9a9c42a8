import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indentJson } from '../../src/http/pretty.ts';

test('indents as JSON.stringify does, for any JSON, indented before or not', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const expected = JSON.stringify(value, null, 2);
      expect(indentJson(JSON.stringify(value))).toBe(expected);
      expect(indentJson(expected)).toBe(expected);
    }),
  );
});

test('keeps numbers and strings as they are written', () => {
  expect(indentJson('{"a":[1.50,-0.0,1e5],"b":"\\u00e9 \\"{,}:[\\\\"}')).toBe(
    '{\n  "a": [\n    1.50,\n    -0.0,\n    1e5\n  ],\n  "b": "\\u00e9 \\"{,}:[\\\\"\n}',
  );
});
