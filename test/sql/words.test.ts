import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fold, spacedWords, wordsIn } from '../../src/sql/shared-functions.ts';

const TEXT = fc.string({
  unit: fc.constantFrom('a', 'É', "'", '’', '-', '–', ' ', '\t', '\u00a0', '.', ',', '(', '/', 'ß'),
});

describe('words', () => {
  it.each([
    "O'Brien-Nuñez",
    'o’brien nunez',
    'OBRIEN–NUÑEZ ',
    ' O‘Brien  Nunez',
    'O`Brien,\tNunez',
    "O'B.rien/(Nuñez)",
  ])('are the same in %j', text => expect(wordsIn(text)).toEqual(['obrien', 'nunez']));

  it('of separators only are none', () => {
    expect(wordsIn(" -'.\t,\u2013")).toEqual([]);
    expect(spacedWords('--')).toBe('');
  });

  it('match like a prefix of the folded text', () => {
    fc.assert(
      fc.property(TEXT, fc.nat(8), (text, length) => {
        const beginning = text.slice(0, length);
        expect(fold(text).startsWith(fold(beginning))).toBe(true);
        for (const word of wordsIn(beginning)) expect(spacedWords(text)).toContain(` ${word}`);
      }),
    );
  });
});
