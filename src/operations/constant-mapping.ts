/**
 * Maps the server's own resources (its operations, its concept maps) without a table. All their elements are constants,
 * so that the planner decides searches on them, with the same code as any other search.
 */
import type { Json, Mapping, Node } from '../mapping/model.ts';
import { childOf } from '../r4/definitions.ts';
import { identifier } from '../sql/identifier.ts';

/** A resource that the server makes itself. */
export interface OwnResource {
  readonly type: string;
  readonly id: string;
  /** Without resourceType and id. */
  readonly content: { readonly [element: string]: Json };
}

/** Returns the mapping of one resource. `ordinal`: a number that no other mapping has. */
export function constantMapping({ type, id, content }: OwnResource, ordinal: number): Mapping {
  const at = { file: 'own', line: 1, column: 1 };
  const members = Object.entries(content).map(([name, json]) => {
    const node: Node = { kind: 'constant', json, type: childOf(type, name)?.type ?? 'string', at };
    return { kind: 'element', name, node } as const;
  });
  const nothing = { table: { name: identifier('none') }, alias: identifier('none'), lookups: [] };
  return {
    name: `own ${type}/${id}`,
    resource: type,
    group: `own ${type}`,
    ordinal,
    source: { ...nothing, where: { kind: 'always' }, key: [], onePer: [] },
    id: { alternatives: [[{ kind: 'literal', text: id }]] },
    root: { kind: 'object', type, members, needs: [], at },
    needs: [],
    usesNow: false,
    at,
  };
}
