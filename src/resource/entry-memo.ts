/**
 * Remembers the text of fragments that depend on a code and on the dictionary row that the code leads to. In: the code
 * and the other raw values. Out: the text, if it was made of the same values before. All values are compared, as the
 * dictionary may change. Bounded; a memo that seldom hits switches itself off.
 */
import type { Lookup, Node } from '../mapping/model.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { flat, isLong } from './memo.ts';
import { inputsOf, type Remembering } from './memo-inputs.ts';

const ENTRIES_AT_MOST = 1000;
const LONGEST_INPUT = 200;
const INPUTS_AT_MOST = 8;
/** So many times a text has to be made before it is judged whether remembering pays. */
const TRIAL = 2000;

/** The text, and the values beside the code that it was made of. */
export interface Entry {
  readonly text: string;
  readonly of: readonly SqlValue[];
}

/**
 * Generated code calls `get`, compares the values itself, and calls `put` where they differ: it gives the text to go on
 * with.
 */
export class EntryMemo {
  readonly #entries = new Map<SqlValue, Entry>();
  #asked = 0;
  #made = 0;
  #helps = true;

  get(code: SqlValue): Entry | undefined {
    if (isMissing(code)) return undefined;
    this.#asked++;
    return this.#entries.get(code);
  }

  put(code: SqlValue, text: string, ...of: readonly SqlValue[]): string {
    if (!this.#helps || isMissing(code)) return text;
    this.#made++;
    if (this.#made > TRIAL && this.#made * 2 > this.#asked) {
      this.#helps = false;
      this.#entries.clear();
      return text;
    }
    if (isLong(code, LONGEST_INPUT) || of.some(raw => isLong(raw, LONGEST_INPUT))) return text;
    if (this.#entries.size === ENTRIES_AT_MOST && !this.#entries.has(code)) this.#entries.clear();
    const whole = flat(text);
    this.#entries.set(code, { text: whole, of });
    return whole;
  }
}

/** Without a code there is little to write, and what stands beside it is of other kinds. */
function isMissing(code: SqlValue): boolean {
  return code === null || code === '';
}

/**
 * The code that a fragment hangs on and its other inputs; undefined where it hangs on none: only a column by which a
 * row is looked up whose columns the fragment takes is a code.
 */
export function entryInputs(
  nodes: readonly Node[],
  lookups: readonly Lookup[],
): { readonly code: Expression; readonly others: readonly Expression[] } | undefined {
  if (nodes.some(({ kind }) => kind !== 'object')) return undefined;
  const inputs = new Map(inputsOf(nodes, OF_A_CODE)?.map(input => [expressionKey(input), input]));
  const aliases = new Set([...inputs.values()].map(input => (input.kind === 'column' ? input.alias : undefined)));
  const codes = lookups.filter(({ alias }) => aliases.has(alias)).flatMap(({ on }) => on.map(({ ours }) => ours));
  const code = codes.find(ours => inputs.has(expressionKey(ours)));
  if (!code) return undefined;
  inputs.delete(expressionKey(code));
  return { code, others: [...inputs.values()] };
}

const OF_A_CODE: Remembering = {
  most: INPUTS_AT_MOST,
  value: () => true,
  conditions: new Set(['is', 'same', 'ordered', 'order', 'matches', 'present']),
};
