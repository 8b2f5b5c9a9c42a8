/**
 * Remembers the text of fragments that depend on one or two raw values, such as a code, a unit, a category. Bounded; a
 * memo with too many different inputs switches itself off.
 */
import type { Node, ValueNode } from '../mapping/model.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { inputsOf, type Remembering } from './memo-inputs.ts';

const ENTRIES_AT_MOST = 1000;
const LONGEST_INPUT = 64;
const FILLINGS_AT_MOST = 4;
const INPUTS_AT_MOST = 2;

/**
 * Generated code calls `get` with the inputs, and `put` with the inputs and the text that was made of them, which gives
 * the text to go on with.
 */
export function memoOf(inputs: number): Memo | PairMemo {
  return inputs === 1 ? new Memo() : new PairMemo();
}

class Memo {
  readonly #texts = new Map<SqlValue, string>();
  #fillings = 0;

  get(input: SqlValue): string | undefined {
    return this.#texts.get(input);
  }

  put(input: SqlValue, text: string): string {
    if (this.#fillings === FILLINGS_AT_MOST || isLong(input)) return text;
    if (this.#texts.size === ENTRIES_AT_MOST) {
      this.#texts.clear();
      this.#fillings++;
    }
    const whole = flat(text);
    this.#texts.set(input, whole);
    return whole;
  }
}

/** Texts of all fragments that depend on one column: those of one value stand together and are found at once. */
export class SlotMemo {
  readonly #slots = new Map<SqlValue, string[]>();
  #fillings = 0;

  /** Where the texts for a value are, by the number of the fragment. */
  of(input: SqlValue): string[] {
    const known = this.#slots.get(input);
    if (known !== undefined) return known;
    if (this.#fillings === FILLINGS_AT_MOST || isLong(input)) return NOT_REMEMBERED;
    const made: string[] = [];
    if (this.#slots.size === ENTRIES_AT_MOST) {
      this.#slots.clear();
      this.#fillings++;
    }
    this.#slots.set(input, made);
    return made;
  }

  /** `slot`: as `of` gave it. Gives the text to go on with. */
  put(slot: string[], fragment: number, text: string): string {
    if (slot === NOT_REMEMBERED) return text;
    const whole = flat(text);
    slot[fragment] = whole;
    return whole;
  }
}

/** Nothing is ever put there. */
const NOT_REMEMBERED: string[] = [];

class PairMemo {
  readonly #texts = new Map<SqlValue, Map<SqlValue, string>>();
  #size = 0;
  #fillings = 0;

  get(a: SqlValue, b: SqlValue): string | undefined {
    return this.#texts.get(a)?.get(b);
  }

  put(a: SqlValue, b: SqlValue, text: string): string {
    if (this.#fillings === FILLINGS_AT_MOST || isLong(a) || isLong(b)) return text;
    if (this.#size === ENTRIES_AT_MOST) {
      this.#texts.clear();
      this.#size = 0;
      this.#fillings++;
    }
    const whole = flat(text);
    const inner = this.#texts.get(a);
    if (inner) inner.set(b, whole);
    else this.#texts.set(a, new Map([[b, whole]]));
    this.#size++;
    return whole;
  }
}

/**
 * The same text in one piece. What was added up stays pieces until somebody looks into it, and they would be put
 * together anew for every resource that the text is part of.
 */
export function flat(text: string): string {
  // Both are the same; what decides is looked up in the text, and for that it is put together.
  return text.charCodeAt(0) === 0 ? text.slice() : text;
}

/** Whether a value is too long to be kept, or of bytes. */
export function isLong(raw: SqlValue, longest = LONGEST_INPUT): boolean {
  return typeof raw === 'object' ? raw !== null : typeof raw === 'string' && raw.length > longest;
}

/**
 * The inputs of a fragment worth remembering; undefined for one with other or with too many inputs. `few`: columns with
 * few values, by `expressionKey`, however they are read.
 */
export function memoInputs(nodes: readonly Node[], few: ReadonlySet<string>): readonly Expression[] | undefined {
  if (nodes.some(({ kind }) => kind === 'constant')) return undefined;
  const value = ({ codec, from }: ValueNode): boolean =>
    codec.small || from.every(column => few.has(expressionKey(column)));
  return inputsOf(nodes, { most: INPUTS_AT_MOST, value, conditions: EQUALITY });
}

/** Other tests are mostly asked of columns with many values. */
const EQUALITY: Remembering['conditions'] = new Set(['is']);
