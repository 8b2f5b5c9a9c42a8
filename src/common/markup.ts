/**
 * Escapes texts for XML and HTML. What XML 1.0 cannot hold becomes U+FFFD. https://www.w3.org/TR/xml/#charsets
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 forbids
const SPECIAL = /[&<>"\0-\x1f\ud800-\udfff\ufffe\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 forbids
const ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** A text between tags that XML can hold as it is. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A text between tags, or in an attribute in double quotes; carriage returns are kept. */
export function escapeXml(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return escapeMarkup(text.toWellFormed().replace(ILLEGAL, '\ufffd'))
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

/** A text in an attribute whose tabs and line ends are kept. */
export function escapeAttribute(text: string): string {
  return SPECIAL.test(text) ? escapeXml(text).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;') : text;
}
