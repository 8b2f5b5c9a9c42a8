/**
 * Compiles the FHIRPath of a search parameter to the steps that a planner can walk.
 *
 * In: an expression and the type it starts from. Out: alternatives of steps (SearchPath in ../search-parameters.ts), or
 * undefined where the expression does not fit that form. https://hl7.org/fhir/R4/search.html#expression
 */

import fhirpath from 'fhirpath';
import { childOf, isPrimitive } from '../../../src/r4/definitions.ts';
import type { SearchPath, SearchStep } from '../../../src/r4/search-parameters.ts';

/** A node of the syntax tree of the fhirpath package. */
interface Node {
  readonly type: string;
  readonly text?: string;
  readonly children?: readonly Node[];
}

/** The alternatives of an expression, split at each `|` outside parentheses and texts. */
export function alternativesOf(expression: string): readonly string[] {
  const alternatives: string[] = [];
  let depth = 0;
  let quoted = false;
  let start = 0;
  for (let i = 0; i < expression.length; i++) {
    const char = expression.charAt(i);
    if (char === "'") quoted = !quoted;
    else if (quoted) continue;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === '|' && depth === 0) {
      alternatives.push(expression.slice(start, i).trim());
      start = i + 1;
    }
  }
  alternatives.push(expression.slice(start).trim());
  return alternatives;
}

/**
 * Returns the steps of each alternative, from `root` (a type name that an expression may begin with). Every element is
 * looked up in the element table; an unknown name means a wrong table or expression and is an error.
 */
export function compileSteps(expression: string, root: string, start: readonly string[]): SearchPath[] | undefined {
  const paths: SearchPath[] = [];
  for (const alternative of alternativesOf(expression)) {
    const path = pathOf(alternative, root);
    if (path === undefined) return undefined;
    paths.push(typed(path, start).path);
  }
  return paths;
}

/**
 * The expression with `.value` after each alternative that ends at an extension: guides name the extension itself, and
 * mean its value.
 */
export function atValues(expression: string, root: string): string {
  const parts = alternativesOf(expression).map(alternative => {
    const path = pathOf(alternative, root);
    return path && endTypes(path, [root]).join() === 'Extension' ? `${alternative}.value` : alternative;
  });
  return parts.join(' | ');
}

function pathOf(alternative: string, root: string): SearchPath | undefined {
  return existsPath(alternative) ?? stepsOf(fhirpath.parse(alternative), root);
}

/** Type paths that steps lead to, from the given ones. */
export function endTypes(path: SearchPath, start: readonly string[]): readonly string[] {
  return typed(path, start).types;
}

/** Patient.deceased is the only expression with an existence test. */
function existsPath(expression: string): SearchPath | undefined {
  const match = /^\w+\.(\w+)\.exists\(\) and \w+\.(\w+) != (\w+)$/.exec(expression);
  const [, element, again, except] = match ?? [];
  if (element === undefined || element !== again || except === undefined) return undefined;
  return [{ element }, { exists: { except } }];
}

function stepsOf(node: Node, root: string): SearchPath | undefined {
  const [first, second] = node.children ?? [];
  switch (node.type) {
    case 'EntireExpression':
    case 'TermExpression':
    case 'ParenthesizedTerm':
    case 'InvocationTerm':
      return first === undefined ? undefined : stepsOf(first, root);
    case 'MemberInvocation':
      return node.text === root ? [] : [{ element: node.text ?? '' }];
    case 'InvocationExpression':
      return first === undefined || second === undefined ? undefined : invoked(stepsOf(first, root), second);
    case 'TypeExpression':
      return node.text !== 'as' || first === undefined ? undefined : narrowed(stepsOf(first, root), second?.text);
    default:
      return undefined;
  }
}

function invoked(steps: SearchPath | undefined, call: Node): SearchPath | undefined {
  if (steps === undefined) return undefined;
  if (call.type === 'MemberInvocation') return [...steps, { element: call.text ?? '' }];
  if (call.type !== 'FunctionInvocation') return undefined;
  const argument = call.children?.[0]?.children?.[1]?.children?.[0];
  if (argument === undefined) return undefined;
  if (call.text === 'ofType' || call.text === 'as') return narrowed(steps, member(argument));
  if (call.text === 'extension') {
    const url = literal(argument);
    return url === undefined
      ? undefined
      : [...steps, { element: 'extension' }, { where: { element: 'url', equals: url } }];
  }
  const condition = call.text === 'where' ? where(argument) : undefined;
  return condition === undefined ? undefined : [...steps, condition];
}

function narrowed(steps: SearchPath | undefined, type: string | undefined): SearchPath | undefined {
  const last = steps?.at(-1);
  if (steps === undefined || type === undefined || last === undefined || !('element' in last)) return undefined;
  return [...steps.slice(0, -1), { element: last.element, type }];
}

function where(argument: Node): SearchStep | undefined {
  const [left, right] = argument.children ?? [];
  if (left === undefined || right === undefined) return undefined;
  if (argument.type === 'TypeExpression' && argument.text === 'is') {
    return functionName(left) === 'resolve' && right.text !== undefined ? { resolves: right.text } : undefined;
  }
  const element = member(left);
  const equals = literal(right);
  if (argument.type !== 'EqualityExpression' || argument.text !== '=' || element === undefined) return undefined;
  return equals === undefined ? undefined : { where: { element, equals } };
}

/** The text of `'text'`. */
function literal(node: Node): string | undefined {
  const term = node.children?.[0];
  return term?.type === 'LiteralTerm' && term.text?.startsWith("'") ? term.text.slice(1, -1) : undefined;
}

function member(node: Node): string | undefined {
  const term = node.children?.[0]?.children?.[0];
  return node.type === 'TermExpression' && term?.type === 'MemberInvocation' ? term.text : undefined;
}

function functionName(node: Node): string | undefined {
  const term = node.children?.[0]?.children?.[0];
  return term?.type === 'FunctionInvocation' ? term.text : undefined;
}

/** The steps with every choice under its base name, and the type paths at their ends. */
function typed(
  path: SearchPath,
  start: readonly string[],
): { readonly path: SearchPath; readonly types: readonly string[] } {
  let types = start;
  const steps: SearchStep[] = [];
  for (const step of path) {
    if ('where' in step) requireChild(types, step.where.element);
    if ('exists' in step) types = ['boolean'];
    if (!('element' in step)) {
      steps.push(step);
      continue;
    }
    const found = requireChild(types, step.element);
    types = [...new Set(found.flatMap(child => (child.type === undefined ? child.element.types : [child.type])))];
    const first = found[0]?.element;
    const element = first?.name ?? step.element;
    // `valueQuantity` includes its type; `value` may have it afterwards; on an element of one type it has no effect.
    const named = step.type ?? (element === step.element ? undefined : types[0]);
    if (named !== undefined) types = [sameType(types, named)];
    steps.push(named === undefined || first?.choice !== true ? { element } : { element, type: sameType(types, named) });
  }
  return { path: steps, types };
}

/** In one expression R4 itself writes `as(DateTime)` for dateTime. */
function sameType(types: readonly string[], name: string): string {
  const type = types.find(type => type === name) ?? types.find(type => type.toLowerCase() === name.toLowerCase());
  if (type === undefined) throw new Error(`${name} is none of ${types.join(', ')}`);
  return type;
}

function requireChild(types: readonly string[], name: string) {
  const found = types.filter(type => !isPrimitive(type)).flatMap(type => childOf(type, name) ?? []);
  if (found.length === 0) throw new Error(`no element ${name} in ${types.join(', ')}`);
  return found;
}
