/**
 * What the server has of its own, beside the mappings. In: its resources and operations. Out: all of its resources as
 * constant mappings, the operations that the mappings bear, and what can be searched of everything.
 */
import type { Registry } from '../mapping/model.ts';
import { makeOffers } from '../plan/offers.ts';
import type { Offers } from '../search/offers.ts';
import { type ConstantMapping, constantMapping, type OwnResource } from './constant-mapping.ts';
import { type Operation, operationDefinition } from './operations.ts';
import type { RecordOperation } from './record-operations.ts';
import { codesOfValueSets } from './value-sets.ts';

export interface OwnOptions {
  /** Resources that the server makes itself; their types are not those of mappings. */
  readonly own?: readonly OwnResource[];
  /** What can be called beside reads and searches; each gets an OperationDefinition. */
  readonly operations?: readonly Operation[];
  /** Likewise; offered where their type is mapped. */
  readonly recordOperations?: readonly RecordOperation[];
}

export interface Own {
  readonly resources: readonly ConstantMapping[];
  readonly types: ReadonlySet<string>;
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
  const resources = made.map(constantMapping);
  const mappings = resources.map(({ mapping }) => mapping);
  return {
    resources,
    types: new Set(mappings.map(({ resource }) => resource)),
    operations,
    recordOperations,
    offers: makeOffers(registry, mappings, codesOfValueSets(made)),
  };
}
