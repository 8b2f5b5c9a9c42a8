/**
 * Ready text of fragments that depend only on a code, a unit, a category. In: the one or two raw values that a fragment
 * is made of. Out: its text, if it was made before. Bounded; a memo whose inputs turn out to be many gives up.
 */
import type { Condition, Node } from '../mapping/model.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { namedNodesOf } from './dynamic.ts';

const ENTRIES_AT_MOST = 1000;
const LONGEST_INPUT = 64;
const FILLINGS_AT_MOST = 4;
const INPUTS_AT_MOST = 2;

/** Generated code calls `get` with the inputs and `put` with the inputs and the text. */
export function memoOf(inputs: number): Memo | PairMemo {
  return inputs === 1 ? new Memo() : new PairMemo();
}

class Memo {
  readonly #texts = new Map<SqlValue, string>();
  #fillings = 0;

  get(input: SqlValue): string | undefined {
    return this.#texts.get(input);
  }

  put(input: SqlValue, text: string): void {
    if (this.#fillings === FILLINGS_AT_MOST || isLong(input)) return;
    if (this.#texts.size === ENTRIES_AT_MOST) {
      this.#texts.clear();
      this.#fillings++;
    }
    this.#texts.set(input, text);
  }
}

/** Texts of all fragments that depend on one column: those of one value stand together and are found at once. */
export class SlotMemo {
  readonly #slots = new Map<SqlValue, string[]>();
  #fillings = 0;

  /** Where the texts for a value are, by the number of the fragment; where it is not remembered, nothing is there. */
  of(input: SqlValue): string[] {
    const known = this.#slots.get(input);
    if (known !== undefined) return known;
    const made: string[] = [];
    if (this.#fillings === FILLINGS_AT_MOST || isLong(input)) return made;
    if (this.#slots.size === ENTRIES_AT_MOST) {
      this.#slots.clear();
      this.#fillings++;
    }
    this.#slots.set(input, made);
    return made;
  }
}

class PairMemo {
  readonly #texts = new Map<SqlValue, Map<SqlValue, string>>();
  #size = 0;
  #fillings = 0;

  get(a: SqlValue, b: SqlValue): string | undefined {
    return this.#texts.get(a)?.get(b);
  }

  put(a: SqlValue, b: SqlValue, text: string): void {
    if (this.#fillings === FILLINGS_AT_MOST || isLong(a) || isLong(b)) return;
    if (this.#size === ENTRIES_AT_MOST) {
      this.#texts.clear();
      this.#size = 0;
      this.#fillings++;
    }
    const inner = this.#texts.get(a);
    if (inner) inner.set(b, text);
    else this.#texts.set(a, new Map([[b, text]]));
    this.#size++;
  }
}

function isLong(raw: SqlValue): boolean {
  return typeof raw === 'object' ? raw !== null : typeof raw === 'string' && raw.length > LONGEST_INPUT;
}

/** The inputs of a fragment worth remembering; undefined for one with other or with too many inputs. */
export function memoInputs(node: Node): readonly Expression[] | undefined {
  if (node.kind === 'constant') return undefined;
  const inputs = new Map<string, Expression>();
  const add = (expression: Expression, key: string): boolean => {
    inputs.set(key, expression);
    return expression.type.kind !== 'binary' && inputs.size <= INPUTS_AT_MOST;
  };
  return seeNode(node, add) && inputs.size > 0 ? [...inputs.values()] : undefined;
}

type Add = (expression: Expression, key: string) => boolean;

function seeNode(node: Node, add: Add): boolean {
  if (node.if && !seeCondition(node.if, add)) return false;
  switch (node.kind) {
    case 'constant':
      return true;
    case 'value':
      return node.codec.small && node.from.every(expression => seeExpression(expression, add));
    case 'object':
      return node.members.every(member => namedNodesOf(member).every(named => seeNode(named.node, add)));
    case 'list':
      return node.items.every(item => seeNode(item, add));
    case 'first':
      return node.alternatives.every(alternative => seeNode(alternative, add));
    case 'text':
      return node.parts.every(part => typeof part === 'string' || seeNode(part, add));
    case 'each':
    case 'ref':
      return false;
  }
}

/** Equality tests alone: other tests are mostly asked of columns with many values, or of the clock. */
function seeCondition(condition: Condition, add: Add): boolean {
  switch (condition.kind) {
    case 'always':
      return true;
    case 'all':
    case 'any':
      return condition.of.every(part => seeCondition(part, add));
    case 'none':
      return seeCondition(condition.of, add);
    case 'is':
      return seeExpression(condition.column, add);
    default:
      return false;
  }
}

function seeExpression(expression: Expression, add: Add): boolean {
  return expression.kind === 'column' && add(expression, `${expression.alias}.${expression.column}`);
}
