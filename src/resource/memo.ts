/**
 * Caches the text of fragments that depend on few raw values: on one, such as a code, a unit, a category; or on a code
 * and the dictionary row that it leads to. In: the nodes of a fragment. Out: its inputs, if caching is worthwhile, and
 * the cache. Caches are bounded, and one with few hits turns itself off.
 */
import { childrenOf, columnsOf, namedNodesOf, type Test, testsIn } from '../mapping/children.ts';
import type { Condition, Lookup, Node, ValueNode } from '../mapping/model.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';

const ENTRIES_AT_MOST = 1000;
const LONGEST_INPUT = 64;
const FILLINGS_AT_MOST = 4;

/**
 * Cache of all fragments that depend on one column: the texts for one value are stored together, so one lookup finds
 * all.
 */
export class SlotMemo {
  readonly #slots = new Map<SqlValue, string[]>();
  #fillings = 0;

  /** Returns the texts for a value, by the number of the fragment. */
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

  /** Stores a text. `slot`: from `of`. Returns the text to use. */
  put(slot: string[], fragment: number, text: string): string {
    if (slot === NOT_REMEMBERED) return text;
    const whole = flat(text);
    slot[fragment] = whole;
    return whole;
  }
}

/** Never gets an entry. */
const NOT_REMEMBERED: string[] = [];

/**
 * Copies a text into one piece. A concatenated string stays in pieces until it is read, and would be flattened again
 * for each resource that contains it.
 */
export function flat(text: string): string {
  // Both branches return the same text; reading one character makes V8 flatten the string.
  return text.charCodeAt(0) === 0 ? text.slice() : text;
}

/** True if a value is too long to cache, or consists of bytes. */
export function isLong(raw: SqlValue, longest = LONGEST_INPUT): boolean {
  return typeof raw === 'object' ? raw !== null : typeof raw === 'string' && raw.length > longest;
}

/**
 * Returns the one input of a fragment worth caching; undefined if it has others. `few`: columns with few values, by
 * `expressionKey`, however they are read.
 */
export function memoInput(nodes: readonly Node[], few: ReadonlySet<string>): Expression | undefined {
  if (nodes.some(({ kind }) => kind === 'constant')) return undefined;
  const value = ({ codec, from }: ValueNode): boolean =>
    codec.small || from.every(column => few.has(expressionKey(column)));
  return inputsOf(nodes, { most: 1, value, conditions: EQUALITY })?.[0];
}

/** Other tests mostly use columns with many values. */
const EQUALITY: Remembering['conditions'] = new Set(['is']);

export interface Remembering {
  /** Limit of distinct inputs. */
  readonly most: number;
  readonly value: (node: ValueNode) => boolean;
  /** Kinds of tests that may occur. Tests of the clock or other tables never do. */
  readonly conditions: ReadonlySet<Condition['kind']>;
}

/** Returns the distinct expressions that nodes depend on; undefined if they have other inputs or too many. */
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

/** Returns `expressionKey` of the columns that some node reads as a code, a unit or the like, which have few values. */
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
/** How many texts must be made before the hit rate is judged. */
const TRIAL = 2000;

/** A text, and the values besides the code that it was made from. */
export interface Entry {
  readonly text: string;
  readonly of: readonly SqlValue[];
}

/**
 * Cache by code. It compares all other values, because the dictionary may change. Generated code calls `get`, compares
 * the values itself, and calls `put` if they differ; `put` returns the text to use.
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

/** Without a code little is written, and the values beside it vary. */
function isMissing(code: SqlValue): boolean {
  return code === null || code === '';
}

/**
 * Returns the code that a fragment depends on, and its other inputs. Undefined if there is no code: only a column by
 * which a row is looked up counts, and only if the fragment uses columns of that row.
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
