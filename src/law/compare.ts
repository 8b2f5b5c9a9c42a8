/**
 * Compares a served resource with the one that the interpreter makes of the stored row. In: both. Out: the elements
 * that differ, and the nodes of the mapping that make each.
 */
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Node } from '../mapping/model.ts';
import { sameNumber } from './readings.ts';
import { Expected, isOpen, type Thing } from './thing.ts';

export interface ElementDifference {
  /** Names of elements, without positions in lists. */
  readonly path: readonly string[];
  readonly expected: Thing | undefined;
  readonly emitted: Thing | undefined;
}

/** Compares numbers by value and lists without their order, because rows that an order leaves equal may come in any. */
export function differencesOf(
  expected: Thing | undefined,
  emitted: Thing | undefined,
  path: readonly string[] = [],
): readonly ElementDifference[] {
  if (expected instanceof Expected) return expected.accepts(emitted) ? [] : [{ path, expected: undefined, emitted }];
  if (emitted === undefined && expected !== undefined && isOpen(expected)) return [];
  if (isList(expected) && isList(emitted)) return inLists(expected, emitted, path);
  if (isObject(expected) && isObject(emitted)) {
    const names = new Set([...Object.keys(expected), ...Object.keys(emitted)]);
    return [...names].flatMap(name => differencesOf(expected[name], emitted[name], [...path, name]));
  }
  if (isDigits(expected) && isDigits(emitted) && sameNumber(expected.digits, emitted.digits)) return [];
  if (typeof expected === 'string' && typeof emitted === 'string' && areOneInstant(expected, emitted)) return [];
  return expected === emitted ? [] : [{ path, expected, emitted }];
}

/** True if both are times of one instant, with or without zeros of a fraction. */
function areOneInstant(a: string, b: string): boolean {
  const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;
  return isTime.test(a) && isTime.test(b) && Date.parse(a) === Date.parse(b);
}

function inLists(
  expected: readonly Thing[],
  emitted: readonly Thing[],
  path: readonly string[],
): readonly ElementDifference[] {
  const left = [...emitted];
  const differing: Thing[] = [];
  for (const [i, one] of expected.entries()) {
    const same = left.findIndex(other => differencesOf(one, other).length === 0);
    if (same >= 0) left.splice(same, 1);
    else if (!isOpen(one)) differing.push(expected[i] ?? null);
  }
  // An open element may be any of those that are left.
  if (expected.some(isOpen)) return [];
  const pairs = Array.from({ length: Math.max(differing.length, left.length) }, (_, i) => [differing[i], left[i]]);
  return pairs.flatMap(([one, other]) => differencesOf(one, other, path));
}

function isList(thing: Thing | undefined): thing is readonly Thing[] {
  return Array.isArray(thing);
}

function isDigits(thing: Thing | undefined): thing is { readonly digits: string } {
  return typeof thing === 'object' && thing !== null && !(thing instanceof Expected) && 'digits' in thing;
}

function isObject(thing: Thing | undefined): thing is { readonly [name: string]: Thing } {
  return (
    typeof thing === 'object' && thing !== null && !isList(thing) && !(thing instanceof Expected) && !isDigits(thing)
  );
}

/**
 * Returns the nodes that make an element, those that read values first. If there are none, those of the nearest
 * enclosing element.
 */
export function nodesAt(mapping: Mapping, path: readonly string[]): readonly Node[] {
  if (path[0] === 'meta' && path[1] === 'lastUpdated' && mapping.changed) return [mapping.changed];
  for (let length = path.length; length > 0; length--) {
    const found = named(mapping.root, path.slice(0, length)).flatMap(leavesOf);
    if (found.length > 0) return found.toSorted((a, b) => Number(b.kind === 'value') - Number(a.kind === 'value'));
  }
  return [];
}

/**
 * Returns the nodes of the elements that a search parameter's FHIRPath names: `Patient.birthDate`, `Observation.value
 * as Quantity`.
 */
export function nodesOfParameter(mapping: Mapping, expression: string): readonly Node[] {
  const { root, resource } = mapping;
  if (/\bmeta\.lastUpdated\b/.test(expression) && mapping.changed) return [mapping.changed];
  const paths = [...expression.matchAll(/\b([A-Z]\w*)\.([a-z]\w*(?:\.[a-z]\w*(?!\())*)/g)]
    .filter(([, type]) => type === resource || type === 'Resource' || type === 'DomainResource')
    .map(([, , path = '']) => path.split('.'));
  return paths.flatMap(path => {
    for (let length = path.length; length > 0; length--) {
      const found = named(root, path.slice(0, length), true).flatMap(leavesOf);
      const reading = found.filter(node => node.kind !== 'constant');
      if (found.length > 0) return reading.length > 0 ? reading : found;
    }
    return [];
  });
}

function named(node: Node, path: readonly string[], withChoices = false): readonly Node[] {
  const isIt = (other: string): boolean =>
    other === path[0] ||
    (withChoices && other.startsWith(path[0] ?? '') && /^[A-Z]/.test(other.slice(path[0]?.length)));
  const [name, ...rest] = path;
  if (name === undefined) return [node];
  switch (node.kind) {
    case 'object':
      return node.members
        .flatMap(namedNodesOf)
        .filter(one => isIt(one.name))
        .flatMap(one => named(one.node, rest, withChoices));
    case 'ref':
      if (name === 'reference') return [node];
      return node.members.filter(one => one.name === name).flatMap(one => named(one.node, rest));
    case 'list':
    case 'each':
    case 'first':
      return childrenOf(node).flatMap(child => named(child, path, withChoices));
    default:
      return [];
  }
}

const OVER_LEAVES: ReadonlySet<Node['kind']> = new Set(['first', 'list', 'each', 'text', 'lines']);

function leavesOf(node: Node): readonly Node[] {
  return OVER_LEAVES.has(node.kind) ? [...childrenOf(node).flatMap(leavesOf), node] : [node];
}
