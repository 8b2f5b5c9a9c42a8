/**
 * Escapes texts for XML, HTML and terminals. What XML 1.0 cannot hold becomes U+FFFD.
 * https://www.w3.org/TR/xml/#charsets
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 forbids
const SPECIAL = /[&<>"\0-\x1f\ud800-\udfff\ufffe\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 forbids
const ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** Escapes a text between tags; the text must contain no characters that XML forbids. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Escapes a text between tags, or in a double-quoted attribute; carriage returns are kept. */
export function escapeXml(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return escapeMarkup(text.toWellFormed().replace(ILLEGAL, '\ufffd'))
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

/** Escapes a text in an attribute; tabs and line breaks are kept. */
export function escapeAttribute(text: string): string {
  return SPECIAL.test(text) ? escapeXml(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;') : text;
}

/** Characters that a terminal acts on, or that begin a line or change the direction of text. */
const UNSEEN = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
const UNSEEN_IN_LINES = /(?![\t\n])[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** Escapes a text that is part of one line on a terminal, such as a value of a row. */
export function escapeInLine(text: string): string {
  return text.replace(UNSEEN, codeUnit);
}

/** Escapes lines for a terminal; tabs and line ends are kept. */
export function escapeLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, codeUnit);
}

function codeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
