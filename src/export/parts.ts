/**
 * Splits a request into parts. In: request and mappings. Out: one part per type, in two stages: types that can be read
 * in parallel; then, one after the other, types outside every compartment, of which only referenced resources are
 * exported.
 */
import { referencesIn } from '../mapping/children.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import { isBound } from './compartment.ts';
import { deletedMappings } from './deletions.ts';
import { type ExportRequest, GROUP_TYPE, type Part, type Stages } from './job.ts';

export function partsOf(request: ExportRequest, registry: Registry): Stages {
  const { level, types, organizedBy } = request;
  const deletions = typesWithDeletions(request, registry);
  if (level.kind === 'system') {
    const all = (type: string, content: Part['content']) =>
      ({ type, scope: 'all', content, write: true, collect: [] }) as const;
    return numbered(
      [...types.map(type => all(type, 'resources')), ...deletions.map(type => all(type, 'deletions'))],
      [],
    );
  }
  const written = (type: string, content: Part['content']) =>
    ({ type, scope: 'compartments', content, write: true, collect: [] }) as const;
  // Outside of the compartments it is unknown whether the client ever had a resource.
  const gone = deletions.filter(type => isBound(type, registry) && type !== GROUP_TYPE);
  const after = gone.map(type => written(type, 'deletions'));
  if (organizedBy !== undefined) return numbered([written(organizedBy, 'blocks'), ...after], []);
  const { first, second } = partsByType(request, registry);
  return numbered([...first, ...after], second);
}

type Unnumbered = Omit<Part, 'number'>;

/** Returns the parts of an export of patients or of groups, type by type. */
function partsByType(
  request: ExportRequest,
  registry: Registry,
): { readonly first: readonly Unnumbered[]; readonly second: readonly Unnumbered[] } {
  const { level, types, patients } = request;
  const outside = registry.types.filter(type => !isBound(type, registry));
  const wantedOutside = outside.filter(type => types.includes(type));
  // A chain of references may lead through a type that was not asked for.
  const collect = wantedOutside.length > 0 ? outside : [];
  const parts = (type: string, scope: Part['scope']): readonly Unnumbered[] => {
    const write = types.includes(type);
    const whole = { type, scope, content: 'resources', write, collect } as const;
    if (!write || collect.length === 0 || !isNarrowed(request)) return [whole];
    // A resource that the files omit may refer to one that they include.
    return [
      { ...whole, write: false },
      { ...whole, collect: [] },
    ];
  };
  const first = registry.types.flatMap(type => {
    if (outside.includes(type) || (!types.includes(type) && collect.length === 0)) return [];
    if (type !== GROUP_TYPE) return parts(type, 'compartments');
    // A group names its other members too: it is exported only if all of it was asked for.
    if (level.kind === 'group') return parts(type, 'groups');
    return patients === undefined ? parts(type, 'compartments') : [];
  });
  return { first, second: referringFirst(collect, registry).flatMap(type => parts(type, 'referenced')) };
}

function numbered(first: readonly Unnumbered[], second: readonly Unnumbered[]): Stages {
  const all = [...first, ...second].map((part, number) => ({ ...part, number }));
  return { first: all.slice(0, first.length), second: all.slice(first.length) };
}

/** Returns the types whose deletions a request asks for and the mappings know. */
export function typesWithDeletions({ types, since }: ExportRequest, registry: Registry): readonly string[] {
  if (since === undefined) return [];
  return types.filter(
    type => deletedMappings(type, registry).length > 0 && registry.ofType(type).every(({ changed }) => changed),
  );
}

/** True if resources, or elements of them, are omitted from the requested types. */
function isNarrowed({ since, until, elements }: ExportRequest): boolean {
  return since !== undefined || until !== undefined || elements.length > 0;
}

/** Orders types so that each comes after those that refer to it, except in circles. */
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
  return referencesIn(mapping.root).map(({ target }) => registry.mapping(target).resource);
}
