/**
 * XML by strings. In: names known at compile time and any text. Out: well-formed XML 1.0; characters that XML cannot hold
 * become U+FFFD. Nothing else in src/ccda writes a value into markup. https://www.w3.org/TR/xml/#charsets
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 forbids
const SPECIAL = /[&<>"'\0-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 forbids
const ILLEGAL = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** A text as character data, or within a quoted attribute. */
export function escapeXml(text: string): string {
  if (!SPECIAL.test(text)) return text;
  return text
    .toWellFormed()
    .replace(ILLEGAL, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');
}

/** ` name="text"`, or nothing without a text that is more than blanks. Line ends and tabs become blanks. */
export function attribute(name: string, text: string | undefined): string {
  const value = text?.replace(/[\s\u0085]+/g, ' ').trim();
  return value === undefined || value === '' ? '' : ` ${name}="${escapeXml(value)}"`;
}

/** `<name>text</name>`, or nothing. `name` may hold attributes. */
export function textElement(name: string, text: string | undefined): string {
  const value = text?.trim();
  if (value === undefined || value === '') return '';
  const space = name.indexOf(' ');
  return `<${name}>${escapeXml(value)}</${space < 0 ? name : name.slice(0, space)}>`;
}

/** A `templateId` per template; those of R1.1 and of companion guides have their own extension, or none. */
export function templateIds(...templates: readonly string[]): string {
  return templates
    .map(template => {
      const [root = '', extension] = template.split(':');
      return `<templateId root="2.16.840.1.113883.10.20.22.${root}"${extension === undefined ? '' : ` extension="${extension}"`}/>`;
    })
    .join('');
}
