/**
 * The words of a text as string search compares them: people write `obrien`, `O’Brien` and `O'Brien`, `Smith Jones` and
 * `Smith-Jones`. In: a text. Out: its words, folded. The SQLite dialect calls it on columns (registered as
 * `lintel_words`), the T-SQL dialect spells the same with TRANSLATE, the planner calls it on search values.
 * docs/decisions/0294
 * https://hl7.org/fhir/R4/search.html#string
 */
import { fold } from './fold.ts';

/** Left out: apostrophes and what is typed for them, full stops. */
export const LEFT_OUT = "'‘’‛`´ʻʼ′＇.";
/** Between words, beside tabs and line ends: blanks, hyphens, dashes, commas, semicolons, slashes, round brackets. */
export const BETWEEN = '-\u2010\u2011\u2012\u2013\u2014\u2015\u2212,;/()\u00a0 ';

const LEAVES_OUT = new RegExp(`[${LEFT_OUT}]+`, 'g');
// A hyphen stands for itself where it is the first of a class.
const PARTS = new RegExp(`[${BETWEEN}\\t\\r\\n]+`);

/** The words of a text; none where it has nothing but separators. */
export function wordsIn(text: string): readonly string[] {
  return fold(text)
    .replace(LEAVES_OUT, '')
    .split(PARTS)
    .filter(word => word !== '');
}

/** Its words, each after one blank: a word begins with `x` where this has ` x` somewhere. */
export function spacedWords(text: string): string {
  return wordsIn(text)
    .map(word => ` ${word}`)
    .join('');
}
