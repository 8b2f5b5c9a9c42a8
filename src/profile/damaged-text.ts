/**
 * Recognizes texts that a conversion between encodings has damaged, before Lintel or while it reads them. The original
 * letters are lost, so no search for them finds the row.
 */

/** A kind of damage, worded for a sentence about a column. */
export interface TextDamage {
  readonly name: 'lost letters' | 'encoded twice';
  /** As in `SURNAME has lost letters`. */
  readonly verb: 'has' | 'is';
  readonly found: string;
  readonly pattern: RegExp;
}

/**
 * After `Ã` and `Â`, these characters occur in no language. Quotation marks and blanks may occur there and are
 * excluded.
 */
const DAMAGES: readonly TextDamage[] = [
  {
    name: 'lost letters',
    verb: 'has',
    found: 'U+FFFD, which stands for what could not be read',
    pattern: /\uFFFD/,
  },
  {
    name: 'encoded twice',
    verb: 'is',
    found: 'letters such as Ã© where é is meant',
    pattern: /[ÂÃ][\u00A1-\u00AA\u00AC-\u00B9\u00BC-\u00BF]|â€/,
  },
];

/** Returns the damage of a text; undefined if there is none. */
export function damageOf(text: string): TextDamage | undefined {
  return DAMAGES.find(({ pattern }) => pattern.test(text));
}
