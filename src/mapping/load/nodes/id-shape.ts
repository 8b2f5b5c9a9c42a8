/**
 * Checks whether two id rules can print the same id. In: alternatives of rules. Out: an id that both could print, or
 * none. The ids of a rule are a regular set, so the function walks both rules side by side.
 */
import type { IdPart } from '../../id-rule.ts';

/** A set of characters, one of which occurs once or any number of times. */
interface Step {
  readonly characters: string;
  readonly repeats: boolean;
}

const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const HEX = `${DIGITS}abcdefABCDEF`;
const MAX_LENGTH = 64;

/** Returns an id that both can print; undefined if they are disjoint. */
export function commonId(a: readonly IdPart[], b: readonly IdPart[]): string | undefined {
  const left = a.flatMap(stepsOf);
  const right = b.flatMap(stepsOf);
  const seen = new Set<string>();
  const queue: { readonly i: number; readonly j: number; readonly text: string }[] = [{ i: 0, j: 0, text: '' }];
  for (let at = queue.shift(); at; at = queue.shift()) {
    const { i, j, text } = at;
    if (i === left.length && j === right.length) return text;
    const key = `${i},${j}`;
    if (seen.has(key) || text.length > MAX_LENGTH) continue;
    seen.add(key);
    const x = left[i];
    const y = right[j];
    if (x?.repeats) queue.push({ i: i + 1, j, text });
    if (y?.repeats) queue.push({ i, j: j + 1, text });
    const shared = x && y ? [...x.characters].find(c => y.characters.includes(c)) : undefined;
    if (x && y && shared !== undefined) {
      queue.push({ i: x.repeats ? i : i + 1, j: y.repeats ? j : j + 1, text: text + shared });
    }
  }
  return undefined;
}

/** True if the id contains a UUID, because two rows never share one by chance. */
export function isUnique(parts: readonly IdPart[]): boolean {
  return parts.some(part => part.kind === 'column' && (part.codec.name === 'uuid' || part.codec.isUuid));
}

function stepsOf(part: IdPart): readonly Step[] {
  if (part.kind === 'literal') return [...part.text].map(once);
  switch (part.codec.isUuid ? 'uuid' : part.codec.name) {
    case 'integer':
      return [once(`${DIGITS}-`), { characters: DIGITS, repeats: true }];
    case 'decimal': {
      const digits = { characters: DIGITS, repeats: true };
      return [once(`${DIGITS}-`), digits, once('.'), once(DIGITS), digits];
    }
    case 'uuid':
      return [8, 4, 4, 4, 12].flatMap((length, i) => [
        ...(i > 0 ? [once('-')] : []),
        ...Array.from({ length }, () => once(HEX)),
      ]);
    case 'date':
      return [4, 2, 2].flatMap((length, i) => [
        ...(i > 0 ? [once('-')] : []),
        ...Array.from({ length }, () => once(DIGITS)),
      ]);
    case 'datetime':
      return [
        ...Array.from({ length: 8 }, () => once(DIGITS)),
        once('T'),
        ...Array.from({ length: 6 }, () => once(DIGITS)),
        { characters: `${DIGITS}.b`, repeats: true },
      ];
    case 'plain':
    case 'escaped': {
      const characters = `${DIGITS}${LETTERS}.-`;
      return [once(characters), { characters, repeats: true }];
    }
  }
}

function once(characters: string): Step {
  return { characters, repeats: false };
}
