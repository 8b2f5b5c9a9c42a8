import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasRepeatedName } from '../../src/http/fhir/resource-body.ts';

test.each([
  '{"a":1,"a":1}',
  '{"a":1,"\\u0061":2}',
  '{"b":[{"a":{"c":1},"a":[]}]}',
  '{"a":"}","a":2}',
  '{"":1, "" : 2}',
  '{"__proto__":1,"__proto__":2}',
])('a repeated name in one object is detected: %s', json => {
  JSON.parse(json);
  expect(hasRepeatedName(json)).toBe(true);
});

test.each([
  '[{"a":1},{"a":1}]',
  '{"a":{"a":{"a":"a"}}}',
  '{"a":"\\"a\\":","b":"{\\"a\\":1,\\"a\\":2}"}',
  '"a"',
  '7',
  '[]',
])('the same name in two objects, or as a value, is accepted: %s', json => {
  JSON.parse(json);
  expect(hasRepeatedName(json)).toBe(false);
});

test('output of JSON.stringify has no repeated name until one is added', () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), fc.json(), (inner, name, other) => {
      expect(hasRepeatedName(inner)).toBe(false);
      const twice = `[{${JSON.stringify(name)}:${inner},${JSON.stringify(name)}:${other}}]`;
      expect(hasRepeatedName(twice)).toBe(true);
    }),
  );
});
