/**
 * Defines blanks. `trim` in SQL removes blanks, tabs and line ends on both sides, `rtrim` blanks on the right; the
 * functions here do the same in JavaScript.
 */

/** Without blanks, tabs and line ends on both sides. */
export function trim(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return from === 0 && to === text.length ? text : text.slice(from, to);
}

/** Without blanks (U+0020) on the right. */
export function trimEnd(text: string): string {
  let to = text.length;
  while (to > 0 && text.charCodeAt(to - 1) === 32) to--;
  return to === text.length ? text : text.slice(0, to);
}

/** Whether trimming would change a text: no value that was trimmed equals it. */
export function hasOuterSpace(text: string): boolean {
  return trim(text) !== text;
}

// FHIR's strings hold no control characters but tab, CR and LF (https://hl7.org/fhir/R4/datatypes.html#string).
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const HAS_CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/** Without the control characters that FHIR forbids. */
export function withoutControls(text: string): string {
  return HAS_CONTROL.test(text) ? text.replace(CONTROL, '') : text;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 13 || code === 10;
}
