/**
 * Finds the nodes of a mapping that can make the element at a must-support path, without rows. In: a mapping, steps of
 * guide.ts, facts about the profile. Out: the nodes there, and parts of constants. A node counts if it may make a value
 * for some row.
 */
import { namedNodesOf } from '../mapping/children.ts';
import type { Mapping, NamedNode, Node } from '../mapping/model.ts';
import type { Facts } from '../validation/facts.ts';
import { type Item, isObject } from '../validation/item.ts';
import { assignSlices, factsAt, isDistinctive, namesIn } from '../validation/slices.ts';
import { inValueSet, matches } from '../validation/values.ts';
import { atEndOfPath, childItems, isNamed } from './elements.ts';
import type { Step } from './guide.ts';

/** A node other than a list or alternatives, or a part of a constant. */
export type Maker =
  | { readonly kind: 'node'; readonly node: Node }
  | { readonly kind: 'constant'; readonly node: Node; readonly item: Item };

/** Returns all makers at the end of a path. */
export function makersAt(mapping: Mapping, steps: readonly Step[], facts: readonly Facts[]): readonly Maker[] {
  return atEndOfPath({ at: { kind: 'node', node: mapping.root }, facts }, steps, childMakers, belongs);
}

function childMakers(maker: Maker, step: Step): readonly Maker[] {
  if (maker.kind === 'constant') return childItems(maker.item, step).map(item => ({ ...maker, item }));
  const { node } = maker;
  if (node.kind === 'ref' && step.name === 'reference') return [maker];
  return namedOf(node)
    .filter(({ name }) => isNamed(name.replace(/^_/, ''), step))
    .flatMap(({ node: child }) => makersOf(child))
    .filter(child => step.equals === '' || mayBe(child, step.equals));
}

function namedOf(node: Node): readonly NamedNode[] {
  if (node.kind === 'ref') return node.members;
  if (node.kind !== 'object') return [];
  return node.members.flatMap(namedNodesOf);
}

/** Expands a node: items of lists, all alternatives, parts of constant lists. */
function makersOf(node: Node): readonly Maker[] {
  switch (node.kind) {
    case 'list':
      return node.items.flatMap(makersOf);
    case 'first':
      return node.alternatives.flatMap(makersOf);
    case 'each':
      return makersOf(node.item);
    case 'constant': {
      const values: readonly unknown[] = Array.isArray(node.json) ? node.json : [node.json];
      return values.map(value => ({
        kind: 'constant',
        node,
        item: { value, sibling: undefined, type: node.type, where: '' },
      }));
    }
    default:
      return [{ kind: 'node', node }];
  }
}

/** True if its value may be this primitive. */
function mayBe(maker: Maker, value: unknown): boolean {
  if (maker.kind === 'constant') return maker.item.value === value;
  const { node } = maker;
  if (node.kind !== 'value') return node.kind === 'text' || node.kind === 'lines';
  const when = node.codec.match(node.from, { kind: 'exact', text: `${value}` }, { now: 0 });
  return when?.kind !== 'false';
}

function belongs(maker: Maker, slice: Facts, facts: Facts): boolean {
  if (maker.kind === 'constant') return assignSlices([maker.item], facts).some(([, own]) => own.includes(slice));
  if (slice.extension !== undefined) {
    const address = slice.extension;
    return childMakers(maker, stepTo('url')).some(url => mayBe(url, address));
  }
  return (facts.discriminators ?? []).every(({ type, path }) => {
    if (type === 'type') return slice.types?.includes(maker.node.type) === true;
    const names = namesIn(path);
    const there = names.reduce<readonly Maker[]>(
      (found, name) => found.flatMap(at => childMakers(at, stepTo(name))),
      [maker],
    );
    return factsAt(slice, names)
      .filter(isDistinctive)
      .every(distinctive => there.some(at => mayFit(at, distinctive)));
  });
}

function mayFit(maker: Maker, { fixed, pattern, binding }: Facts): boolean {
  const wanted = fixed ?? pattern;
  if (wanted !== undefined && !mayHold(maker, wanted)) return false;
  if (binding === undefined) return true;
  const known = maker.kind === 'constant' ? maker.item.value : constantOf(maker.node);
  return known === undefined || inValueSet(known, binding);
}

/** True if its value may contain everything in a pattern. */
function mayHold(maker: Maker, pattern: unknown): boolean {
  if (maker.kind === 'constant') return matches(maker.item.value, pattern);
  if (!isObject(pattern)) return mayBe(maker, pattern);
  return Object.entries(pattern).every(([name, part]) => {
    const children = childMakers(maker, stepTo(name));
    const parts: readonly unknown[] = Array.isArray(part) ? part : [part];
    return parts.every(one => children.some(child => mayHold(child, one)));
  });
}

/** Returns the JSON of a node that is the same for all rows; undefined for any other. */
function constantOf(node: Node): unknown {
  if (node.kind === 'constant') return node.json;
  if (node.kind === 'list') {
    const items = node.items.map(constantOf);
    return items.includes(undefined) ? undefined : items;
  }
  if (node.kind !== 'object') return undefined;
  const members = namedOf(node).map(({ name, node: child }) => [name, constantOf(child)] as const);
  return members.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(members);
}

function stepTo(name: string): Step {
  return { name, slice: '', equals: '', targets: undefined };
}
