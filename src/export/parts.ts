/**
 * A request as parts. In: request and mappings. Out: one part per type, in two stages: what can be read at once, and
 * then, one after the other, types outside every compartment of which only what was referred to is exported.
 */
import type { Mapping, Node, Registry } from '../mapping/model.ts';
import { childrenOf, isBound } from './compartment.ts';
import { deletedMappings } from './deletions.ts';
import type { ExportRequest, Part } from './job.ts';

/** The type that Group level exports are defined on. https://hl7.org/fhir/uv/bulkdata/OperationDefinition/group-export */
export const GROUP_TYPE = 'Group';

export interface Stages {
  readonly first: readonly Part[];
  /** In order: a type comes after those that refer to it. */
  readonly second: readonly Part[];
}

export function partsOf(request: ExportRequest, registry: Registry): Stages {
  const { level, types, patients } = request;
  if (level.kind === 'system') {
    const whole = { scope: 'all', write: true, collect: [] } as const;
    const all = types.map(type => ({ type, deleted: false, ...whole }));
    const gone = typesWithDeletions(request, registry).map(type => ({ type, deleted: true, ...whole }));
    return { first: [...all, ...gone].map((part, number) => ({ ...part, number })), second: [] };
  }
  const outside = registry.types.filter(type => !isBound(type, registry));
  const wantedOutside = outside.filter(type => types.includes(type));
  // A chain of references may lead through a type that is not wanted itself.
  const collect = wantedOutside.length > 0 ? outside : [];
  const parts: Omit<Part, 'number'>[] = [];
  const add = (type: string, scope: Part['scope']): void => {
    const write = types.includes(type);
    const whole = { type, scope, deleted: false, write, collect };
    if (!write || collect.length === 0 || !isNarrowed(request)) parts.push(whole);
    // What is left out of the files may be what refers to a resource that is not.
    else parts.push({ ...whole, write: false }, { ...whole, collect: [] });
  };
  for (const type of registry.types) {
    if (outside.includes(type) || (!types.includes(type) && collect.length === 0)) continue;
    if (type !== GROUP_TYPE) add(type, 'compartments');
    // A list names its other members too: it goes out only where all of it was asked for.
    else if (level.kind === 'group') add(type, 'groups');
    else if (patients === undefined) add(type, 'compartments');
  }
  // Of what lies outside of the compartments nobody knows whether the client ever had it.
  for (const type of typesWithDeletions(request, registry)) {
    if (!outside.includes(type) && type !== GROUP_TYPE)
      parts.push({ type, scope: 'compartments', deleted: true, write: true, collect: [] });
  }
  const first = parts.length;
  for (const type of referringFirst(collect, registry)) add(type, 'referenced');
  const numbered = parts.map((part, number) => ({ ...part, number }));
  return { first: numbered.slice(0, first), second: numbered.slice(first) };
}

/** Types whose deletions a request asks for, as far as the mappings know them. */
export function typesWithDeletions({ types, since }: ExportRequest, registry: Registry): readonly string[] {
  if (since === undefined) return [];
  return types.filter(
    type => deletedMappings(type, registry).length > 0 && registry.ofType(type).every(({ changed }) => changed),
  );
}

/** True if not all of each resource that is asked for is written. */
function isNarrowed({ since, until, elements }: ExportRequest): boolean {
  return since !== undefined || until !== undefined || elements.length > 0;
}

/** Types ordered so that each comes after those that refer to it, as far as there are no circles. */
function referringFirst(types: readonly string[], registry: Registry): readonly string[] {
  const order: string[] = [];
  const seen = new Set<string>();
  const visit = (type: string): void => {
    if (seen.has(type)) return;
    seen.add(type);
    const targets = registry.ofType(type).flatMap(mapping => targetsOf(mapping, registry));
    for (const target of targets) if (types.includes(target)) visit(target);
    order.unshift(type);
  };
  for (const type of types.toReversed()) visit(type);
  return order;
}

function targetsOf(mapping: Mapping, registry: Registry): readonly string[] {
  const found: string[] = [];
  const see = (node: Node): void => {
    if (node.kind === 'ref') found.push(registry.mapping(node.target).resource);
    childrenOf(node).forEach(see);
  };
  see(mapping.root);
  return found;
}
