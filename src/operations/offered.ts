/**
 * Adds the server's own resources and operations to the mappings. In: these resources and operations. Out: all
 * mappings, the operations that they allow, and everything that can be searched.
 */
import { createRegistry, type Registry } from '../mapping/model.ts';
import { makeOffers } from '../plan/offers.ts';
import type { Offers } from '../search/offers.ts';
import { codesOfValueSets } from './code-map-resources.ts';
import { constantMapping, type OwnResource } from './constant-mapping.ts';
import { type Operation, operationDefinition } from './operations.ts';
import type { RecordOperation } from './record-operations.ts';

export interface OwnOptions {
  /** Resources that the server makes itself; no mapping has their types. */
  readonly own?: readonly OwnResource[];
  /** Operations besides reads and searches; each gets an OperationDefinition. */
  readonly operations?: readonly Operation[];
  /** Like `operations`, but offered only if their type is mapped. */
  readonly recordOperations?: readonly RecordOperation[];
}

export interface Own {
  /** Everything that is served: the pack's mappings, and the server's own resources. */
  readonly served: Registry;
  /** Types of the server's own resources. */
  readonly types: readonly string[];
  readonly operations: readonly Operation[];
  readonly recordOperations: readonly RecordOperation[];
  readonly offers: Offers;
}

export function ownOf(registry: Registry, options: OwnOptions): Own {
  const recordOperations = (options.recordOperations ?? []).filter(({ types }) =>
    types.every(type => registry.types.includes(type)),
  );
  const operations = [...(options.operations ?? []), ...recordOperations];
  const made = [...(options.own ?? []), ...operations.map(operationDefinition)];
  const { pack, mappings: mapped, version, codeMaps } = registry;
  const mappings = made.map((resource, i) => constantMapping(resource, mapped.length + i));
  return {
    served: createRegistry(pack, [...mapped, ...mappings], version, codeMaps),
    types: [...new Set(mappings.map(({ resource }) => resource))],
    operations,
    recordOperations,
    offers: makeOffers(registry, mappings, codesOfValueSets(made)),
  };
}
