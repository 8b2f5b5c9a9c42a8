import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastOf, parseParameters, queryOf } from '../../src/http/middleware/request.ts';

test('reads the output of URLSearchParams, in order', () => {
  const text = fc.string({ unit: 'grapheme' }).filter(one => !one.includes('\0'));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), pairs => {
      expect(parseParameters(new URLSearchParams(pairs).toString(), 'body')).toEqual(pairs);
    }),
  );
});

test('any text is either read or refused with an error that does not repeat it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      try {
        parseParameters(text, 'body');
      } catch (error) {
        expect(String(error)).toMatch(/^FhirError: The body (is not percent-encoded UTF-8|holds a null character)$/);
      }
    }),
  );
});

test('a query string ends at a fragment and may hold question marks', () => {
  expect(queryOf('http://a/b?c=d?e#f')).toBe('c=d?e');
  expect(queryOf('http://a/b')).toBe('');
  expect(
    lastOf(
      [
        ['a', '1'],
        ['b', '2'],
        ['a', '3'],
      ],
      'a',
    ),
  ).toBe('3');
});
