/**
 * How texts are folded for string search: case and accents do not count (FHIR R4 search, "string").
 * The SQLite dialect folds columns with it (registered as `lintel_fold`), the planner folds search values with it.
 * http://hl7.org/fhir/R4/search.html#string
 */

const ASCII = /^[\0-\x7f]*$/;
const MARKS = /\p{M}/gu;

/** A text in lower case without combining marks: `Élodie` and `ELODIE` both become `elodie`. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFD').replace(MARKS, '').toLowerCase();
}
