/**
 * Applies `_elements` and `_summary` to a mapping before anything is fetched. In: mapping and selection. Out: the
 * members to write, pruned, with meta apart.
 * https://hl7.org/fhir/R4/search.html#elements, https://hl7.org/fhir/R4/search.html#summary
 */

import { isDynamic, namedNodesOf } from '../mapping/children.ts';
import type { Mapping, Member, NamedNode, Node, ObjectNode } from '../mapping/model.ts';
import { childOf } from '../r4/definitions.ts';

export type Selection =
  | { readonly kind: 'all' }
  /** Names of top-level elements; a choice by its base name (`value`) or with its type (`valueQuantity`). */
  | { readonly kind: 'elements'; readonly names: readonly string[] }
  /**
   * `true`: summary elements; `text`: narrative, id, meta and mandatory elements; `data`: all but the narrative. In
   * addition the elements in `names`, completely.
   */
  | { readonly kind: 'summary'; readonly mode: 'true' | 'text' | 'data'; readonly names?: readonly string[] };

/** What a writer emits for a selection. */
export interface SelectedRoot {
  /** Elements of `meta`, in order; emitted if any is present. */
  readonly meta: readonly NamedNode[];
  /** All other top-level members, without id and resourceType. */
  readonly members: readonly Member[];
  /** Alternatives of a choice that are evaluated, because the choice needs it, but not emitted. */
  readonly hidden: ReadonlySet<NamedNode>;
}

const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
};

const META_BEFORE_LAST_UPDATED: ReadonlySet<string> = new Set(['id', 'extension', 'versionId']);
const APART: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta']);

/** Returns a text that is equal for selections with the same result. */
export function selectionKey(selection: Selection): string {
  switch (selection.kind) {
    case 'all':
      return '';
    case 'elements':
      return keyOfNames(selection.names);
    case 'summary':
      return `_summary=${selection.mode}${selection.names ? `&${keyOfNames(selection.names)}` : ''}`;
  }
}

function keyOfNames(names: readonly string[]): string {
  return `_elements=${[...new Set(names)].toSorted().join()}`;
}

/** Returns the members of a resource that a selection keeps. Mandatory elements, id and meta always stay. */
export function selectRoot(mapping: Mapping, selection: Selection): SelectedRoot {
  const hidden = new Set<NamedNode>();
  const members: Member[] = [];
  const wanted = (name: string): boolean => wants(mapping.resource, name, selection);
  for (const member of mapping.root.members) {
    if (member.kind === 'element') {
      if (!APART.has(member.name) && wanted(member.name)) {
        const whole = isNamed(mapping.resource, member.name, selection);
        members.push(whole ? member : { ...member, node: summarised(member.node, selection) });
      }
      continue;
    }
    const unwanted = namedNodesOf(member).filter(named => !wanted(named.name));
    if (unwanted.length === namedNodesOf(member).length) continue;
    for (const named of unwanted) hidden.add(named);
    members.push(member);
  }
  return { meta: metaOf(mapping, selection), members, hidden };
}

/** True if an element of a type, by its name in JSON, stays in the answer. */
export function wants(type: string, jsonName: string, selection: Selection): boolean {
  if (selection.kind === 'all' || isNamed(type, jsonName, selection)) return true;
  const name = withoutUnderscore(jsonName);
  const element = childOf(type, name)?.element;
  const mandatory = (element?.min ?? 0) > 0;
  if (selection.kind === 'elements') return mandatory;
  switch (selection.mode) {
    case 'true':
      return mandatory || (element?.isSummary ?? false);
    case 'text':
      return mandatory || name === 'text';
    case 'data':
      return name !== 'text';
  }
}

function isNamed(type: string, jsonName: string, selection: Selection): boolean {
  if (selection.kind === 'all' || selection.names === undefined) return false;
  const name = withoutUnderscore(jsonName);
  return selection.names.includes(name) || selection.names.includes(childOf(type, name)?.element.name ?? name);
}

function withoutUnderscore(jsonName: string): string {
  return jsonName.startsWith('_') ? jsonName.slice(1) : jsonName;
}

/**
 * Removes inner elements that `_summary=true` does not include, unless the object's existence depends on them: a needed
 * one, or the last one that depends on the row.
 */
function summarised(node: Node, selection: Selection): Node {
  if (selection.kind !== 'summary' || selection.mode !== 'true') return node;
  switch (node.kind) {
    case 'object': {
      const kept = summaryMembers(node);
      const members =
        isDynamic(node) && !kept.some(m => namedNodesOf(m).some(n => isDynamic(n.node))) ? node.members : kept;
      return {
        ...node,
        members: members.map(m => (m.kind === 'element' ? { ...m, node: summarised(m.node, selection) } : m)),
      };
    }
    case 'list':
      return { ...node, items: node.items.map(item => summarised(item, selection)) };
    case 'each':
      // Only the item is changed: child rows are shared by the identity of `from`.
      return { ...node, item: summarised(node.item, selection) };
    case 'first':
      return { ...node, alternatives: node.alternatives.map(alternative => summarised(alternative, selection)) };
    default:
      return node;
  }
}

function summaryMembers(node: ObjectNode): readonly Member[] {
  return node.members.filter(
    member =>
      member.kind === 'choice' ||
      node.needs.includes(member.name) ||
      wants(node.type, member.name, { kind: 'summary', mode: 'true' }),
  );
}

/**
 * Returns meta as mapped, with lastUpdated from the mapping's `changed`, and with the tag of an incomplete resource.
 */
function metaOf(mapping: Mapping, selection: Selection): readonly NamedNode[] {
  const { at } = mapping;
  const own = mapping.root.members.flatMap(m => (m.kind === 'element' && m.name === 'meta' ? [m.node] : []))[0];
  let named: NamedNode[] = [];
  if (own?.kind === 'object') named = own.members.flatMap(m => [...namedNodesOf(m)]);
  if (own?.kind === 'constant' && own.json !== null && typeof own.json === 'object') {
    named = Object.entries(own.json).map(([name, json]) => ({
      name,
      node: { kind: 'constant', json, type: childOf('Meta', name)?.type ?? 'string', at },
    }));
  }
  if (mapping.changed && !named.some(n => n.name === 'lastUpdated')) {
    const after = named.findLastIndex(n => META_BEFORE_LAST_UPDATED.has(n.name));
    named.splice(after + 1, 0, { name: 'lastUpdated', node: mapping.changed });
  }
  if (selection.kind === 'all') return named;
  const tag: Node = { kind: 'constant', json: SUBSETTED, type: 'Coding', at };
  const tags = named.find(n => n.name === 'tag');
  const items = tags?.node.kind === 'list' ? tags.node.items : tags ? [tags.node] : [];
  return [
    ...named.filter(n => n !== tags),
    { name: 'tag', node: { kind: 'list', items: [...items, tag], type: 'Coding', at } },
  ];
}
