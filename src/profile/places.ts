/**
 * Computes positions between the least and the greatest key of a table, to take a sample there. In: two keys of one
 * column and a fraction. Out: a key at about that fraction; it need not exist.
 */
import type { ColumnType } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';

/** Characters of keys, each list in an order that every collation has. */
const ALPHABETS = ['0123456789', '0123456789abcdef', '0123456789ABCDEF'].concat(
  ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].flatMap(letters => [`0123456789${letters}`, letters]),
);
/**
 * Maximum number of characters that are treated as digits; 36 to this power is still an exact integer in JavaScript.
 */
const CHARACTERS = 9;

/**
 * Returns a key between two others. `type`: of the column. `at`: 0 for the least, just below 1 for the greatest.
 * Undefined if nothing is known about the keys between them.
 */
export function keyBetween(type: ColumnType, least: SqlValue, greatest: SqlValue, at: number): SqlValue | undefined {
  if (type.kind === 'text') return textBetween(least, greatest, at);
  const [from, to] = [numberOf(least), numberOf(greatest)];
  return from === undefined || to === undefined ? undefined : Math.min(to, Math.floor(from + at * (to - from + 1)));
}

function numberOf(key: SqlValue): number | undefined {
  if (key === null || key === '' || key instanceof Uint8Array) return undefined;
  const number = Number(key);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Interpolates after the common prefix, as long as both texts use one alphabet. */
function textBetween(least: SqlValue, greatest: SqlValue, at: number): string | undefined {
  if (typeof least !== 'string' || typeof greatest !== 'string') return undefined;
  let same = 0;
  while (same < least.length && least[same] === greatest[same]) same++;
  const [low, high] = [least.slice(same, same + CHARACTERS), greatest.slice(same, same + CHARACTERS)];
  const alphabet = ALPHABETS.find(one => one.includes(low.charAt(0)) && one.includes(high.charAt(0)));
  if (alphabet === undefined || low === '' || high === '') return undefined;
  let length = 1;
  while (length < Math.min(low.length, high.length) && isIn(alphabet, low, length) && isIn(alphabet, high, length))
    length++;
  const count = (text: string): number =>
    [...text.slice(0, length)].reduce((sum, one) => sum * alphabet.length + alphabet.indexOf(one), 0);
  let left = Math.floor(count(low) + at * (count(high) - count(low) + 1));
  let digits = '';
  for (let i = 0; i < length; i++) {
    digits = alphabet.charAt(left % alphabet.length) + digits;
    left = Math.floor(left / alphabet.length);
  }
  return least.slice(0, same) + digits;
}

function isIn(alphabet: string, text: string, at: number): boolean {
  return alphabet.includes(text.charAt(at));
}
