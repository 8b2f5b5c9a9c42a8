/**
 * Splits names of tables and columns into words. In: a name. Out: its words in English, without abbreviations, plurals
 * and accents: `LST_NM`, `lastName` and `Nachname` become last, name.
 */
import { readFileSync } from 'node:fs';

const known: { readonly idle: readonly string[]; readonly words: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(new URL('./words.json', import.meta.url), 'utf8'),
);
/** Words of names, with the words that they stand for. */
const WORDS = new Map(Object.entries(known.words));
/** Words such as "table" that do not describe the content. */
const IDLE: ReadonlySet<string> = new Set(known.idle);

export function wordsIn(name: string): ReadonlySet<string> {
  const parts = name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(part => part !== '' && !IDLE.has(part));
  return new Set(parts.flatMap(part => expanded(part).split(' ')));
}

/** Expands abbreviations and removes plurals: `dx` becomes diagnosis, `allergies` allergy. */
function expanded(part: string): string {
  const one = singular(part);
  return WORDS.get(part) ?? WORDS.get(one) ?? one;
}

/** Endings of words that look like a plural but are none: `status`, `address`, `diagnosis`. */
const NO_PLURAL = /(?:ss|us|is)$/;

function singular(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || NO_PLURAL.test(word)) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word === 'diagnoses') return 'diagnosis';
  return /(?:ss|x|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}
