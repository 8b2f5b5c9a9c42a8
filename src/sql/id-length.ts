/**
 * Counts the characters that a key takes in a logical id, of at most 64, as writers and both engines do. In: a key.
 * Out: a number. The SQLite dialect calls it on columns (registered as `lintel_id_length`); the T-SQL dialect spells
 * the same with TRANSLATE; writers of ids call it if a key is escaped. docs/decisions/0434
 * https://hl7.org/fhir/R4/datatypes.html#id
 */

/** How a key stands in an id: as it is; its characters escaped that no id has, and the point; likewise its hyphens. */
export const AS_IT_IS = 0;
export const ESCAPED = 1;
export const HYPHENS_ESCAPED = 2;

/** Letters, digits; with hyphens where they are not escaped. */
const KEPT = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
/** Escaped as one byte: a point and two digits. */
export const ONE_BYTE = 3;
/** Of any other unit of UTF-16; no character takes more. */
export const OTHER = 9;

/** Characters that are not escaped. */
export function keptIn(how: number): string {
  return how === HYPHENS_ESCAPED ? KEPT : `${KEPT}-`;
}

/** The printable characters of ASCII beside those, from blank to tilde. */
export function escapedAsOne(how: number): string {
  const kept = keptIn(how);
  return Array.from({ length: 95 }, (_, i) => String.fromCharCode(0x20 + i))
    .filter(character => !kept.includes(character))
    .join('');
}

const COUNTED = [AS_IT_IS, ESCAPED, HYPHENS_ESCAPED].map(how => ({
  kept: new Set(keptIn(how)),
  one: new Set(escapedAsOne(how)),
}));

/** Nothing is escaped, however it stands there: most keys there are. */
const PLAIN = /^[A-Za-z0-9]*$/;

/** Trailing blanks do not count. */
export function lengthInId(text: string, how: number): number {
  if (PLAIN.test(text)) return text.length;
  const trimmed = text.replace(/ +$/, '');
  const counted = how === AS_IT_IS ? undefined : COUNTED[how];
  if (counted === undefined) return [...trimmed].length;
  let length = 0;
  for (let at = 0; at < trimmed.length; at++) {
    const character = trimmed.charAt(at);
    length += counted.kept.has(character) ? 1 : counted.one.has(character) ? ONE_BYTE : OTHER;
  }
  return length;
}
