/**
 * Adds resources about exported ones, such as Provenance (`includeAssociatedData`). In: the parameter's values. Out:
 * the type that a value adds, and which of its rows are about resources of the exported types.
 * https://hl7.org/fhir/uv/bulkdata/STU2/ValueSet-include-associated-data.html
 */
import type { Mapping } from '../mapping/model.ts';
import type { Environment } from '../plan/environment.ts';
import { presentPredicate } from '../plan/presence.ts';
import { along } from '../plan/walk.ts';
import { FALSE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';

const PROVENANCE = { type: 'Provenance', element: 'target' } as const;

/**
 * The supported values. Latest and all relevant resources are the same here: the database's rows hold only the
 * provenance of their last change.
 */
const VALUES: ReadonlyMap<string, string> = new Map([
  ['LatestProvenanceResources', PROVENANCE.type],
  ['RelevantProvenanceResources', PROVENANCE.type],
]);

/** Returns the type that a value adds; undefined: there is no data for it. */
export function associatedType(value: string): string | undefined {
  return VALUES.get(value);
}

/** Selects rows that are about a resource of one of these types; undefined if SQL cannot express it. */
export function associatedPredicate(
  mapping: Mapping,
  types: readonly string[],
  env: Environment,
): Predicate | undefined {
  return along(
    mapping.root,
    [{ element: PROVENANCE.element }],
    node =>
      node.kind === 'ref' && types.includes(env.registry.mapping(node.target).resource)
        ? presentPredicate(node, env)
        : FALSE,
    env,
  );
}
