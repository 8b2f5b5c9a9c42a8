import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold } from '../../src/sql/shared-functions.ts';

describe('fold', () => {
  it('removes case and accents', () => {
    expect(fold('Élodie ÅNGSTRÖM')).toBe('elodie angstrom');
    expect(fold('ELODIE')).toBe(fold('e\u0301lodie'));
    expect(fold('ıİ😀ß')).toBe('ıi😀ß');
  });

  it('is idempotent', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), text => fold(fold(text)) === fold(text)));
  });
});
