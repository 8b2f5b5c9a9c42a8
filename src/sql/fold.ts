/**
 * Folds texts for string search, so that case and accents do not count (FHIR R4 search, "string"). The SQLite dialect
 * folds columns with it (as `lintel_fold`), the planner folds search values.
 * http://hl7.org/fhir/R4/search.html#string
 */

const ASCII = /^[\0-\x7f]*$/;
const MARKS = /\p{M}/gu;

/** A text in lower case without combining marks: `Élodie` and `ELODIE` both become `elodie`. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFD').replace(MARKS, '').toLowerCase();
}
