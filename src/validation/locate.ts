/**
 * Finds the place in a pack that makes an element. In: a mapping, the path of a finding, the resource. Out: the
 * position of the node that made the element or, if the element is missing, should have made it; without such a node,
 * the position of the nearest node around it.
 */
import { childrenOf, namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Node, Position } from '../mapping/model.ts';
import { childOf } from '../r4/definitions.ts';
import type { Finding } from './finding.ts';
import { isObject } from './item.ts';
import { matches } from './values.ts';

/** Returns the position in the mapping that a finding is about. */
export function locate(mapping: Mapping, { where, invariant }: Finding, resource: unknown): Position {
  let nodes: readonly Node[] = [mapping.root];
  let value = resource;
  let at = mapping.root.at;
  for (const segment of where.split('.').slice(1)) {
    const [, name = '', index] = /^([^[:]+)(?:\[(\d+)\])?/.exec(segment) ?? [];
    const written = nodes.flatMap(node => childrenNamed(node, name));
    const [first] = written;
    if (first === undefined) return at;
    const child = isObject(value) ? value[name] : undefined;
    value = index !== undefined && Array.isArray(child) ? child[Number(index)] : child;
    if (value === undefined) return first.at;
    const makers = (index === undefined ? written : written.flatMap(itemsOf)).flatMap(alternativesOf);
    const able = makers.filter(node => mayMake(node, value));
    nodes = able.length > 0 ? able : makers;
    at = nodes[0]?.at ?? first.at;
  }
  const about = invariant?.about.flatMap(name => nodes.flatMap(node => childrenNamed(node, name)));
  return about?.[0]?.at ?? at;
}

/** Returns the nodes of an object under a JSON name, or under the base name of a choice. */
function childrenNamed(node: Node, name: string): readonly Node[] {
  const named = node.kind === 'ref' ? node.members : node.kind === 'object' ? node.members.flatMap(namedNodesOf) : [];
  const exact = named.filter(member => member.name === name || member.name === `_${name}`);
  const found =
    exact.length > 0 ? exact : named.filter(member => childOf(node.type, member.name)?.element.name === name);
  return found.map(member => member.node);
}

/** Returns the nodes that make the items of a list. */
function itemsOf(node: Node): readonly Node[] {
  return node.kind === 'list' || node.kind === 'first' ? childrenOf(node).flatMap(itemsOf) : [node];
}

/** Returns the nodes behind a node that only chooses or repeats. */
function alternativesOf(node: Node): readonly Node[] {
  if (node.kind === 'first') return node.alternatives.flatMap(alternativesOf);
  return node.kind === 'each' ? alternativesOf(node.item) : [node];
}

/** True if a node can have made a value, judging by its constants and the names of its elements. */
function mayMake(node: Node, value: unknown): boolean {
  switch (node.kind) {
    case 'constant':
      return matches(value, node.json) && matches(node.json, value);
    case 'list': {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return items.every(item => node.items.some(maker => mayMake(maker, item)));
    }
    case 'each':
      return mayMake(node.item, value);
    case 'first':
      return node.alternatives.some(alternative => mayMake(alternative, value));
    case 'object': {
      const members = node.members.flatMap(namedNodesOf);
      return (
        isObject(value) &&
        Object.entries(value).every(
          ([name, child]) =>
            name === 'resourceType' ||
            name === 'id' ||
            members.some(member => member.name === name && mayMake(member.node, child)),
        )
      );
    }
    default:
      return true;
  }
}
