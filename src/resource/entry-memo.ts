/**
 * Ready text of fragments that depend on a code and on what the database says of it: its columns and those of the
 * dictionary row that it leads to. In: the code, and the other raw values. Out: the text that was made of the same values
 * before. What a dictionary says can change, so every value is compared. Bounded; a memo that seldom helps gives up.
 */
import type { Condition, Lookup, Node } from '../mapping/model.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { namedNodesOf } from './dynamic.ts';

const ENTRIES_AT_MOST = 1000;
const LONGEST_INPUT = 200;
const INPUTS_AT_MOST = 8;
/** So many times a text has to be made before it is judged whether remembering pays. */
const TRIAL = 2000;

/** The text, and under `0`, `1`, … the values beside the code that it was made of. */
export interface Entry {
  readonly text: string;
  readonly of: readonly SqlValue[];
}

/** Generated code calls `get`, compares the values itself, and calls `put` where they differ. */
export class EntryMemo {
  readonly #entries = new Map<SqlValue, Entry>();
  #asked = 0;
  #made = 0;
  #helps = true;

  get(code: SqlValue): Entry | undefined {
    this.#asked++;
    return this.#entries.get(code);
  }

  put(code: SqlValue, text: string, ...of: readonly SqlValue[]): void {
    if (!this.#helps) return;
    this.#made++;
    if (this.#made > TRIAL && this.#made * 2 > this.#asked) {
      this.#helps = false;
      this.#entries.clear();
      return;
    }
    if (isLong(code) || of.some(isLong)) return;
    if (this.#entries.size === ENTRIES_AT_MOST && !this.#entries.has(code)) this.#entries.clear();
    this.#entries.set(code, { text, of });
  }
}

function isLong(raw: SqlValue): boolean {
  return typeof raw === 'object' ? raw !== null : typeof raw === 'string' && raw.length > LONGEST_INPUT;
}

/**
 * The code that a fragment hangs on and its other inputs; undefined where it hangs on none: only a column by which a row
 * is looked up whose columns the fragment takes is a code.
 */
export function entryInputs(
  node: Node,
  lookups: readonly Lookup[],
): { readonly code: Expression; readonly others: readonly Expression[] } | undefined {
  if (node.kind !== 'object') return undefined;
  const inputs = new Map<string, Expression>();
  const add = (expression: Expression): boolean => {
    inputs.set(expressionKey(expression), expression);
    return expression.kind === 'column' && expression.type.kind !== 'binary' && inputs.size <= INPUTS_AT_MOST;
  };
  if (!seeNode(node, add)) return undefined;
  const aliases = new Set([...inputs.values()].map(input => (input.kind === 'column' ? input.alias : undefined)));
  const codes = lookups.filter(({ alias }) => aliases.has(alias)).flatMap(({ on }) => on.map(({ ours }) => ours));
  const code = codes.find(ours => inputs.has(expressionKey(ours)));
  if (!code) return undefined;
  inputs.delete(expressionKey(code));
  return { code, others: [...inputs.values()] };
}

type Add = (expression: Expression) => boolean;

/** Whether all that a node is made of are columns, which are added. */
function seeNode(node: Node, add: Add): boolean {
  if (node.if && !seeCondition(node.if, add)) return false;
  switch (node.kind) {
    case 'constant':
      return true;
    case 'value':
      return node.from.every(add);
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

function seeCondition(condition: Condition, add: Add): boolean {
  switch (condition.kind) {
    case 'always':
      return true;
    case 'all':
    case 'any':
      return condition.of.every(part => seeCondition(part, add));
    case 'none':
      return seeCondition(condition.of, add);
    case 'same':
      return add(condition.column) && add(condition.other);
    case 'now':
    case 'exists':
      return false;
    default:
      return add(condition.column);
  }
}
