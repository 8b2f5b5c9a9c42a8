/**
 * Names as they are compared and searched for. Case, accents and the kind of apostrophe do not count: keyboards of telephones
 * write O’Brien, and those of offices O'Brien.
 */
import { fold } from '../sql/fold.ts';

const APOSTROPHE = /['’‘`´]/g;

/** Words as they are compared. */
export function wordsOf(text: string): readonly string[] {
  return fold(text.replace(APOSTROPHE, "'"))
    .split(/\s+/)
    .filter(word => word !== '');
}

/** The value of a string search: FHIR folds case and accents, and of apostrophes either may be kept. */
export function nameValue(text: string): string {
  const spellings = ["'", '’'].map(apostrophe => escapeValue(text.replace(APOSTROPHE, apostrophe)));
  return [...new Set(spellings)].join(',');
}

/** FHIR's separators within a value. https://hl7.org/fhir/R4/search.html#escaping */
export function escapeValue(text: string): string {
  return text.trim().replace(/[\\,$|]/g, '\\$&');
}
