/**
 * Suggests codes for a raw value of a legacy column. In: the raw value and the possible codes. Out: codes with a score
 * from 0 to 1 and the reason in words, best first. A person reviews them: a suggestion alone never maps anything. All
 * codes come from this repository and from the pack; no value is sent anywhere.
 */
import { readFileSync } from 'node:fs';
import { editDistance } from '../mapping/load/read/spelling.ts';
import type { Registry } from '../mapping/model.ts';
import { codesOf, displayOf } from '../validation/facts.ts';

type CodeMap = Registry['codeMaps'][number];

export interface Suggestion {
  readonly code: string;
  readonly system: string;
  readonly display: string | undefined;
  /** From 0 to 1, two decimals. */
  readonly score: number;
  /** Completes `suggested because …`; contains no value. */
  readonly reason: string;
}

/** A possible code. */
interface Candidate {
  readonly code: string;
  readonly system: string;
  readonly display: string | undefined;
}

/** The possible codes for the raw values of one column. */
export interface Vocabulary {
  readonly candidates: readonly Candidate[];
  /** Codes for other raw values in code maps of the pack, by the normalized raw value. */
  readonly mapped: ReadonlyMap<string, { readonly of: Candidate; readonly map: string }>;
}

/** Minimum score of a suggestion. */
const LEAST = 0.4;
/** Maximum number of suggestions per raw value. */
const MOST = 5;
/** Code systems with more codes are not compared letter by letter. */
const COMPARED = 5000;

/** Usual raw values by code: `M` for male. Used only if the vocabulary has the code. */
const meanings: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(
    JSON.parse(readFileSync(new URL('./meanings.json', import.meta.url), 'utf8')) as Record<string, readonly string[]>,
  ),
);

/** Returns the codes that a code map may yield: those of its systems, as far as they are known here or in the pack. */
export function vocabularyOf(map: CodeMap, registry: Registry): Vocabulary {
  const own = new Set([map, ...map.rows.values(), map.blank].flatMap(one => one?.system ?? []));
  const candidates = new Map<string, Candidate>();
  const add = (one: Candidate): void => {
    const key = `${one.system}|${one.code}`;
    const before = candidates.get(key);
    if (before === undefined || before.display === undefined) candidates.set(key, one);
  };
  for (const system of own) for (const one of codesIn(system)) add(one);
  const mapped = new Map<string, { readonly of: Candidate; readonly map: string }>();
  // The map's own rows come last and so take precedence.
  for (const { name, rows } of [...registry.codeMaps.filter(one => one !== map), map]) {
    for (const [raw, coded] of rows) {
      if (coded?.system === undefined || !own.has(coded.system)) continue;
      const one = { code: coded.code, system: coded.system, display: coded.display };
      add(one);
      mapped.set(plain(raw), { of: one, map: name });
    }
  }
  return { candidates: [...candidates.values()], mapped };
}

/** Returns all known codes of one system. */
export function vocabularyOfSystem(system: string): Vocabulary {
  return { candidates: codesIn(system), mapped: new Map() };
}

function codesIn(system: string): readonly Candidate[] {
  return [...(codesOf(system) ?? [])].map(code => ({ code, system, display: displayOf(system, code) }));
}

/** A code list of the database, with a text for each code. */
export interface Meanings {
  readonly name: string;
  readonly texts: ReadonlyMap<string, string>;
}

/** Returns suggestions, best first. If `list` has a text for the value, the text is compared instead. */
export function suggestionsFor(stored: string, vocabulary: Vocabulary, list?: Meanings): readonly Suggestion[] {
  const meaning = list?.texts.get(stored.trim());
  if (!meaning) return suggestionsOf(stored, vocabulary);
  const found = suggestionsOf(meaning, vocabulary);
  return found.map(one => ({ ...one, reason: `${list?.name} has ${JSON.stringify(meaning)}: ${one.reason}` }));
}

function suggestionsOf(raw: string, { candidates, mapped }: Vocabulary): readonly Suggestion[] {
  const text = plain(raw);
  if (text === '') return [];
  const found = new Map<string, Suggestion>();
  const suggest = (one: Candidate, score: number, reason: string): void => {
    const key = `${one.system}|${one.code}`;
    if (score >= LEAST && score > (found.get(key)?.score ?? 0)) {
      found.set(key, { ...one, score: Math.round(score * 100) / 100, reason });
    }
  };
  const known = mapped.get(text);
  if (known) suggest(known.of, 0.97, `code map ${known.map} has the same letters`);
  const begins = candidates.filter(({ code, display }) => beginsWith(text, code, display));
  for (const one of candidates) {
    for (const [score, reason] of likeness(raw, text, one, candidates.length, begins.length)) {
      suggest(one, score, reason);
    }
  }
  return [...found.values()].toSorted((a, b) => b.score - a.score || (a.code < b.code ? -1 : 1)).slice(0, MOST);
}

type Scored = readonly [score: number, reason: string];

function likeness(raw: string, text: string, one: Candidate, among: number, begun: number): readonly Scored[] {
  const code = plain(one.code);
  const display = one.display === undefined ? '' : plain(one.display);
  const scores: Scored[] = [];
  if (text === code) scores.push([1, 'it is the code except for case and blanks']);
  if (text === display) scores.push([0.96, 'it is the display of the code']);
  const said = [one.code, one.display ?? ''].flatMap(name => meanings.get(name) ?? []);
  if (said.some(word => plain(word) === text)) {
    scores.push([text.length > 1 ? 0.9 : 0.85, 'it usually means this code']);
  }
  if (beginsWith(text, one.code, one.display)) {
    // The more codes have this beginning, the lower the score.
    const sure = text.length === 1 ? 0.65 : 0.85;
    scores.push([begun === 1 ? sure : sure / Math.sqrt(begun), 'the code begins with it']);
  }
  if (text.length >= 3 && isAbbreviation(text, code)) {
    scores.push([0.5 + 0.3 * (text.length / code.length), 'the code has its letters in this order']);
  }
  if (among <= COMPARED) {
    for (const other of [code, display]) {
      if (text.length < 4 || other.length < 4 || Math.abs(text.length - other.length) > text.length / 3) continue;
      const distance = editDistance(text, other);
      if (distance <= text.length / 3) scores.push([0.9 - distance / text.length, 'it is spelt almost like the code']);
    }
    const shared = sharedWords(raw, `${one.code} ${one.display ?? ''}`);
    if (shared > 0) scores.push([0.4 + 0.4 * shared, 'it shares words with the code']);
  }
  return scores;
}

/**
 * Normalizes a text: lower case, no separators. Other characters stay, because they matter: `MG%` is another unit than
 * `mg`.
 */
function plain(text: string): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\s\p{M}_.,-]+/gu, '');
  return letters === '' ? text.trim() : letters;
}

/** True if code or display begins with the text. Digits alone do not count: `4.2` begins many codes of SNOMED CT. */
function beginsWith(text: string, code: string, display: string | undefined): boolean {
  if (!/\p{L}/u.test(text)) return false;
  return plain(code).startsWith(text) || (display !== undefined && plain(display).startsWith(text));
}

/** True for `cmpl` of `completed`: the same first letter, and all letters in this order. */
function isAbbreviation(text: string, code: string): boolean {
  if (text[0] !== code[0] || text.length >= code.length) return false;
  let at = 0;
  for (const letter of text) {
    at = code.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

/** Returns the share of words in common, counting words of three letters or more. */
function sharedWords(text: string, other: string): number {
  const words = wordsOf(text);
  const others = new Set(wordsOf(other));
  return words.length === 0 ? 0 : words.filter(word => others.has(word)).length / Math.max(words.length, others.size);
}

function wordsOf(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(/\p{L}{3,}/gu) ?? [])];
}
