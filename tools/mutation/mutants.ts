/**
 * Makes the mutants of a TypeScript file: small faults, each of which a test should notice. In: its path and text. Out:
 * the mutants, and the text with all of them in it. Each is an expression that calls `globalThis.mutant(id)` to ask
 * whether it is active, so that one process can try them in turn without loading the code again.
 */
import { parseSync, visitorKeys } from 'oxc-parser';

export interface Mutant {
  /** Its file and number: the same in every run over the same text. */
  readonly id: string;
  readonly file: string;
  readonly line: number;
  /** The change, in a few words. */
  readonly change: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** A node of the parser's ESTree, as far as mutants need it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const OPERATORS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '&&': '||',
  '||': '&&',
};
const METHODS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
]);
const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);
const CONDITIONAL: ReadonlySet<string> = new Set(['IfStatement', 'ConditionalExpression', 'WhileStatement']);
/** The only nodes of types that contain an executed expression. */
const TRANSPARENT: ReadonlySet<string> = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);

/**
 * In: the file's path and text. Out: mutants in the order of the text, outer ones first. Code that runs only while the
 * file is loaded has none. Throws a SyntaxError if the text does not parse.
 */
export function mutantsOf(file: string, text: string): readonly Mutant[] {
  const { program, errors } = parseSync(file, text);
  if (errors[0]) throw new SyntaxError(`${file}: ${errors[0].message}`);
  const mutants: Mutant[] = [];

  const add = ({ start, end }: Node, change: string, replacement: string): void => {
    const line = text.slice(0, start).split('\n').length;
    mutants.push({ id: `${file}#${mutants.length}`, file, line, change, start, end, replacement });
  };
  const of = ({ start, end }: Node): string => text.slice(start, end);

  const mutate = (node: Node, isInChain: boolean): void => {
    const { operator } = node;
    switch (node.type) {
      case 'BinaryExpression':
      case 'LogicalExpression': {
        const other = OPERATORS[String(operator)];
        const [left, right] = [node['left'] as Node, node['right'] as Node];
        if (other !== undefined) add(node, `${operator} is ${other}`, `(${of(left)}) ${other} (${of(right)})`);
        else if (operator === '??') add(node, '?? is left out', of(left));
        return;
      }
      case 'UnaryExpression':
        if (operator === '!') add(node, '! is left out', of(node['argument'] as Node));
        return;
      case 'Literal':
        if (typeof node['value'] === 'boolean') add(node, `${node['value']} is ${!node['value']}`, `${!node['value']}`);
        else if (typeof node['value'] === 'number') add(node, `${of(node)} is one more`, `(${of(node)} + 1)`);
        return;
      case 'CallExpression': {
        const callee = node['callee'] as Node;
        const name = callee.type === 'MemberExpression' ? (callee['property'] as Node) : undefined;
        // Parentheses around a part of `a?.b` would change what `?.` skips.
        if (isInChain || name === undefined || callee['computed'] === true) return;
        const other = METHODS.get(of(name));
        if (other !== undefined)
          add(
            node,
            `${of(name)} is ${other}`,
            text.slice(node.start, name.start) + other + text.slice(name.end, node.end),
          );
        else if (of(name) === 'filter') add(node, 'filter is left out', of(callee['object'] as Node));
        return;
      }
      default:
        return;
    }
  };

  const visit = (node: Node, isInFunction: boolean, isInChain: boolean): void => {
    if (node.type.startsWith('TS') && !TRANSPARENT.has(node.type)) return;
    if (node.type === 'ImportDeclaration') return;
    if (isInFunction) {
      mutate(node, isInChain);
      if (CONDITIONAL.has(node.type)) {
        const test = node['test'] as Node;
        // `!` and comparisons have mutants with the same effect.
        const isCovered =
          test.type === 'UnaryExpression' || OPERATORS[String(test['operator'])]?.endsWith('==') === true;
        if (!isCovered) add(test, 'the condition is negated', `!(${of(test)})`);
      }
      if (node.type === 'ExpressionStatement') {
        const expression = node['expression'] as Node;
        const called = expression.type === 'AwaitExpression' ? (expression['argument'] as Node) : expression;
        const isSuper = (called['callee'] as Node | undefined)?.type === 'Super';
        if (called.type === 'CallExpression' && !isSuper) add(expression, 'the call is left out', 'undefined');
      }
    }
    const isWithin = isInFunction || FUNCTIONS.has(node.type);
    for (const key of visitorKeys[node.type] ?? []) {
      // A name is no value: `{ 1: x }`.
      if (key === 'key' && node['computed'] !== true) continue;
      const isLink = key === 'object' || key === 'callee' || key === 'expression';
      const isPart = node.type === 'ChainExpression' || (isInChain && isLink);
      for (const child of [node[key]].flat()) if (isNode(child)) visit(child, isWithin, isPart);
    }
  };
  visit(program as unknown as Node, false, false);
  return mutants;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** The text with all mutants in it, each after its question. */
export function withMutants(text: string, mutants: readonly Mutant[]): string {
  const opening = new Map<number, string>();
  const closing = new Map<number, string>();
  // Outer ones stand first in the list, so they open first; all of them close alike.
  for (const { id, start, end, replacement } of mutants) {
    const question = `(globalThis.mutant(${JSON.stringify(id)}) ? (${replacement}) : (`;
    opening.set(start, (opening.get(start) ?? '') + question);
    closing.set(end, `${closing.get(end) ?? ''}))`);
  }
  const places = [...new Set([...opening.keys(), ...closing.keys()])].sort((a, b) => a - b);
  let made = '';
  let last = 0;
  for (const at of places) {
    made += text.slice(last, at) + (closing.get(at) ?? '') + (opening.get(at) ?? '');
    last = at;
  }
  return made + text.slice(last);
}
