/**
 * Names as values of string searches. FHIR's search compares words (src/sql/words.ts), so case, accents, apostrophes and hyphens do not
 * count there; the middle of a text is compared as it stands. In: a name as somebody wrote it. Out: a value of a parameter.
 */

const APOSTROPHE = /['’‘`´]/g;

/** The value of a search with `:contains`: of apostrophes either may be kept. */
export function containedValue(text: string): string {
  const spellings = ["'", '’'].map(apostrophe => escapeValue(text.replace(APOSTROPHE, apostrophe)));
  return [...new Set(spellings)].join(',');
}

/** FHIR's separators within a value. https://hl7.org/fhir/R4/search.html#escaping */
export function escapeValue(text: string): string {
  return text.trim().replace(/[\\,$|]/g, '\\$&');
}
