/**
 * The text of a FHIR narrative. In: XHTML as the pipeline emits it. Out: plain text; paragraphs, items and rows are
 * lines.
 * https://hl7.org/fhir/R4/narrative.html
 */

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' };

export function plainText(xhtml: string): string {
  return xhtml
    .replace(/\s+/g, ' ')
    .replace(/<(?:br|hr)\b[^>]*>|<\/(?:p|div|li|tr|h[1-6]|blockquote|pre|table|ul|ol|dl|dd|dt)>/g, '\n')
    .replace(/<\/t[dh]>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
    })
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
    .join('\n');
}
