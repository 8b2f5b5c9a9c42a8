/**
 * Checks patterns of `matches`: only what both GLOB and LIKE can express is allowed. In: a pattern. Out: the problem,
 * or undefined.
 */

/** Returns undefined for a pattern of plain characters, `*`, `?`, `[abc]`, `[0-9]` and `[^…]`. */
export function globProblem(written: string): string | undefined {
  if (written === '') return 'it is empty';
  const pattern = written.replace(LITERAL, 'x');
  if (/^\^|\\|\$$/.test(pattern)) return 'it reads like a regular expression; write literal characters in brackets';
  const rest = pattern.replace(/\[\^?(?:[^\][^-]-[^\][^-]|[^\][^-])+\]/g, '');
  if (/[[\]]/.test(rest)) return 'a bracket is not closed, empty, or holds `]`, `[`, `^` or a loose `-`';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a pattern must not have
  if (/[\u0000-\u001f]/.test(rest)) return 'it has control characters';
  return undefined;
}

/** A class of one character that has a meaning in regular expressions. */
const LITERAL = /\[([\^$\\])\]/g;

/** Returns the pattern without brackets around `^`, `$` and `\`, which are literal outside of classes. */
export function globOf(written: string): string {
  return written.replace(LITERAL, (_, character: string) => character);
}
