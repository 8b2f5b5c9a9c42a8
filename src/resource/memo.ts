/**
 * Remembers the text of fragments that depend on few raw values: one or two of them, such as a code, a unit, a
 * category; or a code and the dictionary row that it leads to. In: the nodes of a fragment. Out: its inputs, if it is
 * worth remembering, and the memo for it. Memos are bounded; one that seldom hits switches itself off.
 */
import { childrenOf, columnsOf, namedNodesOf, type Test, testsIn } from '../mapping/children.ts';
import type { Condition, Lookup, Node, ValueNode } from '../mapping/model.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';

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

export interface Remembering {
  /** Distinct inputs at most. */
  readonly most: number;
  readonly value: (node: ValueNode) => boolean;
  /** Tests that look at the clock or into other tables are never among them. */
  readonly conditions: ReadonlySet<Condition['kind']>;
}

/** The expressions that nodes are made of, each once; undefined if they have other inputs or too many. */
function inputsOf(nodes: readonly Node[], { most, value, conditions }: Remembering): readonly Expression[] | undefined {
  const inputs = new Map<string, Expression>();
  const add = (expression: Expression): boolean => {
    if (expression.kind !== 'column' || expression.type.kind === 'binary') return false;
    inputs.set(expressionKey(expression), expression);
    return inputs.size <= most;
  };
  const seeTest = (test: Test): boolean =>
    test.kind !== 'now' && test.kind !== 'exists' && conditions.has(test.kind) && columnsOf(test).every(add);
  const see = (part: Node): boolean => {
    if (!testsIn(part.if).every(seeTest)) return false;
    switch (part.kind) {
      case 'constant':
        return true;
      case 'value':
        return value(part) && part.from.every(add);
      case 'object':
        return part.members.every(member => namedNodesOf(member).every(named => see(named.node)));
      case 'list':
        return part.items.every(see);
      case 'first':
        return part.alternatives.every(see);
      case 'text':
        return part.parts.every(piece => typeof piece === 'string' || see(piece));
      case 'each':
      case 'lines':
      case 'ref':
        return false;
    }
  };
  return nodes.every(see) && inputs.size > 0 ? [...inputs.values()] : undefined;
}

/** `expressionKey` of the columns that some node reads as a code, a unit or the like: they have few values. */
export function columnsOfFewValues(nodes: readonly Node[]): ReadonlySet<string> {
  const few = new Set<string>();
  const see = (node: Node): void => {
    if (node.kind === 'value' && node.codec.small) {
      const [column, ...others] = node.from;
      if (column && others.length === 0) few.add(expressionKey(column));
    }
    childrenOf(node).forEach(see);
  };
  nodes.forEach(see);
  return few;
}

const LONGEST_OF_ENTRY = 200;
const INPUTS_OF_ENTRY = 8;
/** So many times a text has to be made before it is judged whether remembering pays. */
const TRIAL = 2000;

/** The text, and the values beside the code that it was made of. */
export interface Entry {
  readonly text: string;
  readonly of: readonly SqlValue[];
}

/**
 * All values are compared, as the dictionary may change. Generated code calls `get`, compares the values itself, and
 * calls `put` where they differ: it gives the text to go on with.
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
    if (isLong(code, LONGEST_OF_ENTRY) || of.some(raw => isLong(raw, LONGEST_OF_ENTRY))) return text;
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
  most: INPUTS_OF_ENTRY,
  value: () => true,
  conditions: new Set(['is', 'same', 'ordered', 'order', 'matches', 'present']),
};
