/**
 * Reads the resources of a slice in batches, with the planner and writers of searches. In: part, slice, cursor. Out:
 * batches of texts, each with the cursor after it.
 */
import type { Mapping } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { writeLists, writtenId } from '../pipeline/emitted.ts';
import { countMatches, streamMatches } from '../pipeline/page.ts';
import { planResolved } from '../pipeline/plans.ts';
import type { Session } from '../pipeline/session.ts';
import { type Branch, groupBranches } from '../plan/branches.ts';
import { filterPredicate } from '../plan/filter.ts';
import { idsPredicate } from '../plan/identity.ts';
import { servedPredicate } from '../plan/presence.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Cursor } from '../search/cursor.ts';
import type { Filter } from '../search/query.ts';
import { and, or, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { associatedPredicate } from './associated.ts';
import { membersPredicate } from './compartment.ts';
import { type DeletedMapping, deletedMappings, deletedWithin } from './deletions.ts';
import type { TypeQuery } from './filters.ts';
import type { Slice } from './slices.ts';

/** Texts that are in memory at the same time. */
const LIST = 64;
/** Bytes of the rows of a batch: rows may hold whole files. At least one row is read. */
const BYTES = 16_000_000;

export interface Batch {
  /** JSON, or '' for a row that is not a resource; made lazily, so that few are in memory at a time. */
  readonly lists: Iterable<readonly string[]>;
  /** Cursor of the last row. */
  readonly last: Cursor | undefined;
}

export interface SliceRequest {
  readonly type: string;
  readonly query: TypeQuery;
  readonly slice: Slice;
  /** True: read deleted records instead of resources; `filters` then apply to the time of deletion. */
  readonly deleted?: boolean;
}

/** Where to continue, and how many rows to read at once. */
export interface Place {
  readonly cursor: Cursor | undefined;
  readonly count: number;
}

/** Plans the rows of a slice. Throws FhirError `unsupported-search` if SQL cannot express them. */
export function planSlice(request: SliceRequest, session: Session): Promise<readonly Branch[]> {
  const { env, registry } = session;
  return planResolved(session, () =>
    groupBranches(
      request.deleted
        ? deletedMappings(request.type, registry).map(deleted => ({
            mapping: deleted.mapping,
            where: deletedPredicate(deleted, request, session),
          }))
        : registry.ofType(request.type).map(mapping => ({ mapping, where: wherePredicate(mapping, request, session) })),
      [],
      env,
    ),
  );
}

/** Yields all batches after a place, reading each when it is taken. */
export async function* readBatches(
  branches: readonly Branch[],
  request: SliceRequest,
  place: Place,
  context: WriteContext,
  session: Session,
): AsyncGenerator<Batch, void, undefined> {
  const { selection } = request.query;
  for await (const { matches, last } of streamMatches(branches, { selection, bytes: BYTES, ...place }, session)) {
    yield { lists: await writeLists(matches, LIST, context, session), last };
  }
}

export const countSlice = countMatches;

/** Yields batches of deleted records, except those whose id a resource still has, or has again. */
export async function* readDeletions(
  branches: readonly Branch[],
  request: SliceRequest,
  place: Place,
  context: WriteContext,
  session: Session,
): AsyncGenerator<Batch, void, undefined> {
  const { type } = request;
  for await (const { lists, last } of readBatches(branches, request, place, context, session)) {
    const texts = [...lists].flat();
    const ids = texts.map(text => writtenId(text, type));
    const served = new Set<string>();
    const again: SliceRequest = {
      ...request,
      query: { ...request.query, filters: [], alternatives: [] },
      slice: { kind: 'ids', ids },
      deleted: false,
    };
    const whole = { cursor: undefined, count: place.count };
    for await (const found of readBatches(await planSlice(again, session), again, whole, context, session))
      for (const text of [...found.lists].flat()) served.add(writtenId(text, type));
    yield { lists: [texts.filter((_, i) => !served.has(ids[i] ?? ''))], last };
  }
}

function wherePredicate(mapping: Mapping, request: SliceRequest, { env }: Session): Predicate {
  const { filters, alternatives } = request.query;
  const inverted = (filter: Filter): Predicate => required(filterPredicate(mapping, filter, env));
  return and(
    scopePredicate(mapping, request, env),
    ...filters.map(inverted),
    alternatives.length === 0 ? TRUE : or(...alternatives.map(all => and(...all.map(inverted)))),
  );
}

function deletedPredicate(deleted: DeletedMapping, request: SliceRequest, { env }: Session): Predicate {
  return and(scopePredicate(deleted.mapping, request, env), deletedWithin(deleted, request.query.filters, env));
}

/** Selects the rows of the mapping that the caller may see, within the slice. */
function scopePredicate(mapping: Mapping, { slice, query }: SliceRequest, env: Session['env']): Predicate {
  return and(
    servedPredicate(mapping, env),
    env.visibility.allows(mapping, 'search', env),
    slicePredicate(mapping, slice, env),
    query.about === undefined ? TRUE : required(associatedPredicate(mapping, query.about, env)),
  );
}

function slicePredicate(mapping: Mapping, slice: Slice, env: Session['env']): Predicate {
  switch (slice.kind) {
    case 'all':
      return TRUE;
    case 'members':
      return required(membersPredicate(mapping, slice.members, env));
    case 'ids':
      return idsPredicate(mapping, slice.ids, env);
  }
}

function required(predicate: Predicate | undefined): Predicate {
  if (!predicate) throw new FhirError('unsupported-search', 'the mappings of this type cannot be asked for this');
  return predicate;
}
