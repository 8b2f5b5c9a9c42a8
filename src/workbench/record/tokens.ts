/**
 * Invents replacements for the words and numbers of some texts. In: all texts that will be replaced, and texts that
 * must not result. Out: for each run of letters or digits another of the same length and form: the same for equal runs,
 * different for different ones. Numbers of equal length keep their order, so that rows sort as before.
 */
import { getOrInsert } from '../../common/caches.ts';
import { upperAscii } from '../../mapping/codecs/text.ts';

/** Returns a number from 0 (inclusive) to 1 (exclusive). */
export type Random = () => number;

/** The digits of `5.6` are one run, because there are few alternatives for single digits. */
const RUNS = /\d+(?:\.\d+)?|\p{L}[\p{L}\p{M}]*/gu;
/** Numbers of these lengths start with 1, so that they fit in a SMALLINT or INT. */
const NARROW: ReadonlySet<number> = new Set([3, 5, 10, 19]);
const CONSONANTS = 'BDFGKLMNPRSTVZ';
const VOWELS = 'AEIOU';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const TRIES = 300;

export class Invented {
  readonly #random: Random;
  readonly #numbers: ReadonlyMap<string, string>;
  readonly #words = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #avoided: ReadonlySet<string>;
  readonly #bytes = new Map<string, string>();

  /** `avoided`: further texts that must not result, such as meaningful codes. */
  constructor(texts: readonly string[], avoided: Iterable<string>, random: Random) {
    this.#random = random;
    const runs = new Set(texts.flatMap(runsOf));
    this.#avoided = new Set([...runs, ...[...avoided].flatMap(runsOf)]);
    const lengths = Map.groupBy(
      [...runs].filter(run => /^[1-9]\d*$/.test(run)),
      ({ length }) => length,
    );
    this.#numbers = new Map([...lengths].flatMap(([length, some]) => this.#drawn(length, some.toSorted())));
  }

  /** Returns a replacement; undefined if there is no unused word of the same length. */
  text(text: string): string | undefined {
    let isWhole = true;
    const replaced = text.replace(RUNS, run => {
      const other = /^\d/.test(run) ? this.#number(run) : this.#word(run);
      if (other === undefined) isWhole = false;
      return other ?? '';
    });
    return isWhole ? replaced : undefined;
  }

  /** Replaces hexadecimal digits. */
  hex(digits: string): string {
    const upper = digits.toUpperCase();
    const known = getOrInsert(this.#bytes, upper, () =>
      [...upper].map(() => '0123456789ABCDEF'.charAt(this.#below(16))).join(''),
    );
    return digits === upper ? known : known.toLowerCase();
  }

  #number(run: string): string | undefined {
    const point = run.indexOf('.');
    if (point >= 0) {
      const other = this.#number(run.replace('.', ''));
      return other && `${other.slice(0, point)}.${other.slice(point)}`;
    }
    const [zeros = ''] = /^0*/.exec(run) ?? [];
    const rest = run.slice(zeros.length);
    return rest === '' ? run : (other => other && `${zeros}${other}`)(this.#numbers.get(rest));
  }

  #drawn(length: number, runs: readonly string[]): readonly (readonly [string, string])[] {
    const found = new Set<string>();
    const isLow = NARROW.has(length) && runs.length * 4 < 10 ** (length - 1);
    for (let tries = 0; found.size < runs.length && tries < runs.length * TRIES; tries++) {
      const rest = Array.from({ length: length - 1 }, () => this.#below(10)).join('');
      const one = `${isLow ? 1 : 1 + this.#below(9)}${rest}`;
      if (!this.#avoided.has(one)) found.add(one);
    }
    // There are few numbers of few digits, so the avoided ones may be used too.
    for (let at = 10 ** (length - 1); length < 4 && found.size < runs.length; at++) found.add(String(at));
    const sorted = [...found].toSorted();
    return runs.flatMap((run, i) => (sorted[i] === undefined ? [] : [[run, sorted[i]] as const]));
  }

  #word(run: string): string | undefined {
    const key = upperOf(run);
    const known = this.#words.get(key) ?? this.#newWord([...key].length);
    if (known === undefined) return undefined;
    this.#words.set(key, known);
    this.#taken.add(known);
    return [...run].map((letter, i) => inFormOf(letter, known.charAt(i))).join('');
  }

  #newWord(length: number): string | undefined {
    const isAny = length < 3;
    for (let tries = 0; tries < TRIES; tries++) {
      const first = this.#below(2);
      const from = (i: number): string => (isAny ? LETTERS : (i + first) % 2 === 0 ? CONSONANTS : VOWELS);
      const word = Array.from({ length }, (_, i) => from(i).charAt(this.#below(from(i).length))).join('');
      // There are few words of one letter, so the avoided ones may be used too.
      if (!this.#taken.has(word) && (!this.#avoided.has(word) || (length === 1 && tries > TRIES / 2))) return word;
    }
    return undefined;
  }

  #below(end: number): number {
    return Math.floor(this.#random() * end);
  }
}

function runsOf(text: string): readonly string[] {
  return (text.match(RUNS) ?? []).map(run =>
    /^\d/.test(run) ? run.replace('.', '').replace(/^0+/, '') : upperOf(run),
  );
}

/** Returns the upper-case run; a letter whose upper case is longer stays. */
function upperOf(run: string): string {
  return [...run]
    .map(letter => (letter.toUpperCase().length === letter.length ? letter.toUpperCase() : upperAscii(letter)))
    .join('');
}

function inFormOf(letter: string, other: string): string {
  return letter === letter.toLowerCase() && letter !== letter.toUpperCase() ? other.toLowerCase() : other;
}
