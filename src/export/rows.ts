/**
 * Reads the resources of a slice in batches. In: part, slice, cursor. Out: batches of texts, each with the cursor
 * behind it, by the same planner and writers as searches.
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

/** Texts that are in memory at once. */
const LIST = 64;

export interface Batch {
  /** JSON, '' for a row that is no resource; made as they are taken, so that few are in memory at a time. */
  readonly lists: Iterable<readonly string[]>;
  /** Of the last of them. */
  readonly last: Cursor | undefined;
}

export interface SliceRequest {
  readonly type: string;
  readonly query: TypeQuery;
  readonly slice: Slice;
  /** Deleted records instead of resources; `filters` are asked of the time of deletion. */
  readonly deleted?: boolean;
}

/** Where to go on, and how many rows to read at once. */
export interface Place {
  readonly cursor: Cursor | undefined;
  readonly count: number;
}

/** The rows of a slice, planned once. Throws FhirError `unsupported-search` where they cannot be asked in SQL. */
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

/** All batches after a place, read as they are taken. */
export async function* readBatches(
  branches: readonly Branch[],
  request: SliceRequest,
  place: Place,
  context: WriteContext,
  session: Session,
): AsyncGenerator<Batch, void, undefined> {
  const { selection } = request.query;
  for await (const { matches, last } of streamMatches(branches, { selection, ...place }, session)) {
    yield { lists: await writeLists(matches, LIST, context, session), last };
  }
}

export const countSlice = countMatches;

/** Batches of deleted records, less those whose id is still, or again, that of a resource. */
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

/** Rows of the mapping that the caller may see, within the slice. */
function scopePredicate(mapping: Mapping, { slice, query }: SliceRequest, env: Session['env']): Predicate {
  return and(
    servedPredicate(mapping, env),
    env.sight.allows(mapping, 'search', env),
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
