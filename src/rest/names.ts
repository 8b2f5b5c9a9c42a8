/**
 * Escapes a name for a FHIR string search. In: a name as somebody wrote it. Out: the value of a parameter. The search
 * compares words (src/sql/shared-functions.ts): case, accents, apostrophes and hyphens do not count.
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
