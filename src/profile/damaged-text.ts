/**
 * Recognizes texts that a conversion between encodings has damaged, before Lintel or as it reads them: the letters that
 * a person wrote are not there any more, so no search for them finds the row.
 */

/** A kind of damage, as a sentence about a column says it. */
export interface TextDamage {
  readonly name: 'lost letters' | 'encoded twice';
  /** `SURNAME has lost letters`. */
  readonly verb: 'has' | 'is';
  readonly found: string;
  readonly pattern: RegExp;
}

/** Behind `Ã` and `Â` stand signs that no language has there; quotation marks and blanks may. */
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

/** What has happened to a text; undefined: nothing. */
export function damageOf(text: string): TextDamage | undefined {
  return DAMAGES.find(({ pattern }) => pattern.test(text));
}
