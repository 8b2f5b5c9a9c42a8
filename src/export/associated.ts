/**
 * `includeAssociatedData`: adds resources that are about exported ones, such as Provenance. In: its values. Out: the
 * type that a value adds, and which of its rows are about resources of the exported types.
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
 * The values that can be answered. The latest and all relevant ones are the same here: a facade has the provenance that
 * the database's rows bear, which is that of their last change.
 */
const VALUES: ReadonlyMap<string, string> = new Map([
  ['LatestProvenanceResources', PROVENANCE.type],
  ['RelevantProvenanceResources', PROVENANCE.type],
]);

/** The type that a value adds; undefined: there is no data for it. */
export function associatedType(value: string): string | undefined {
  return VALUES.get(value);
}

/** Rows that are about a resource of one of these types; undefined where SQL cannot be asked. */
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
