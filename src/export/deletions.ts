/**
 * Exports deletions since an instant. In: the mappings, which define deleted records. Out: mappings over the rows of
 * these records, and the lines that tell a client to delete.
 * https://hl7.org/fhir/uv/bulkdata/STU2/export.html#response---complete-status
 */
import { getOrInsert } from '../common/caches.ts';
import type { DeletedRecords, Mapping, Node, Registry } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import type { Environment } from '../plan/environment.ts';
import { leafForAny } from '../plan/filter.ts';
import { along } from '../plan/walk.ts';
import type { Filter } from '../search/query.ts';
import { every } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';

/** A mapping whose rows are deleted records. */
export interface DeletedMapping {
  readonly mapping: Mapping;
  /** Time of the deletion. */
  readonly at: Node;
}

/** Finds the mappings of a type that define which records were deleted, and when. */
export function deletedMappings(type: string, registry: Registry): readonly DeletedMapping[] {
  return registry.ofType(type).flatMap(mapping => deletedMapping(mapping) ?? []);
}

/** One object per definition, because plans are cached by the mapping object. */
const made = new WeakMap<DeletedRecords, DeletedMapping>();

function deletedMapping(mapping: Mapping): DeletedMapping | undefined {
  const { deleted } = mapping;
  if (!deleted?.at) return undefined;
  const { at, source } = deleted;
  const [name, group] = [`${mapping.name} (deleted)`, `${mapping.group} (deleted)`];
  return getOrInsert(made, deleted, () => ({
    // Rows that share the columns of `one-per` share an id: any of them may be the last one deleted.
    mapping: { ...mapping, name, group, source: { ...source, onePer: [] } },
    at,
  }));
}

/** Applies filters of `_lastUpdated` to the time of deletion. Throws FhirError `unsupported-search`. */
export function deletedWithin({ at }: DeletedMapping, filters: readonly Filter[], env: Environment): Predicate {
  const asked = every(
    filters.map(filter =>
      filter.kind === 'match' ? along(at, [], leafForAny(filter.values, undefined, env), env) : undefined,
    ),
  );
  if (!asked) throw new FhirError('unsupported-search', 'the mapping cannot be searched by its time of deletion');
  return asked;
}

/** Writes one line: a transaction that deletes the resources. */
export function deletionLine(type: string, ids: readonly string[]): string {
  const entry = ids.map(id => ({ request: { method: 'DELETE', url: `${type}/${id}` } }));
  return JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry });
}

/** Returns the ids in such a line. */
export function deletedIds(line: string): readonly string[] {
  return [...line.matchAll(/"url":"\w+\/([^"]+)"/g)].map(([, id = '']) => id);
}
