/**
 * The resources of one slice of a part, batch after batch. In: part, slice, place to continue. Out: batches of texts with
 * the cursor after each, by the same planner and writers as searches.
 */
import type { Access } from '../auth/access.ts';
import type { Mapping } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { writeAll } from '../pipeline/emitted.ts';
import { countMatches, streamMatches } from '../pipeline/page.ts';
import { planResolved } from '../pipeline/resolve.ts';
import type { Session } from '../pipeline/source.ts';
import { accessPredicate } from '../plan/access.ts';
import { type Branch, groupBranches } from '../plan/branches.ts';
import { filterPredicate } from '../plan/filter.ts';
import { idPredicate } from '../plan/identity.ts';
import { servedPredicate } from '../plan/presence.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Cursor } from '../search/cursor.ts';
import type { Filter } from '../search/query.ts';
import { and, or, type Predicate, TRUE } from '../sql/expression.ts';
import { type Members, membersPredicate } from './compartment.ts';
import type { TypeQuery } from './filters.ts';

/** What a slice is narrowed to. */
export type Slice =
  | { readonly kind: 'all' }
  | { readonly kind: 'members'; readonly members: Members }
  | { readonly kind: 'ids'; readonly ids: readonly string[] };

export interface Batch {
  /** JSON; '' for a row that is no resource. */
  readonly texts: readonly string[];
  /** Of the last of them. */
  readonly last: Cursor | undefined;
}

export interface SliceRequest {
  readonly type: string;
  readonly query: TypeQuery;
  readonly access: Access;
  readonly slice: Slice;
}

/** The rows of a slice, planned once. Throws FhirError `not-supported` where they cannot be asked in SQL. */
export function planSlice(request: SliceRequest, session: Session): Promise<readonly Branch[]> {
  const { env, registry } = session;
  return planResolved(session, () =>
    groupBranches(
      registry.ofType(request.type).map(mapping => ({ mapping, where: wherePredicate(mapping, request, session) })),
      [],
      env,
    ),
  );
}

/** All batches after a place, read as they are taken. */
export async function* readBatches(
  branches: readonly Branch[],
  request: SliceRequest,
  place: { readonly cursor: Cursor | undefined; readonly count: number },
  context: WriteContext,
  session: Session,
): AsyncGenerator<Batch, void, undefined> {
  const { selection } = request.query;
  for await (const { matches, last } of streamMatches(branches, { selection, ...place }, session)) {
    yield { texts: await writeAll(matches, context, session), last };
  }
}

export const countSlice = countMatches;

function wherePredicate(mapping: Mapping, { query, access, slice }: SliceRequest, { env }: Session): Predicate {
  const inverted = (filter: Filter): Predicate => required(filterPredicate(mapping, filter, env));
  return and(
    servedPredicate(mapping, env),
    accessPredicate(mapping, access, env),
    ...query.filters.map(inverted),
    query.alternatives.length === 0 ? TRUE : or(...query.alternatives.map(all => and(...all.map(inverted)))),
    slicePredicate(mapping, slice, env),
  );
}

function slicePredicate(mapping: Mapping, slice: Slice, env: Session['env']): Predicate {
  switch (slice.kind) {
    case 'all':
      return TRUE;
    case 'members':
      return required(membersPredicate(mapping, slice.members, env));
    case 'ids':
      return or(...slice.ids.map(id => idPredicate(mapping, id)));
  }
}

function required(predicate: Predicate | undefined): Predicate {
  if (!predicate) throw new FhirError('not-supported', 'the mappings of this type cannot be asked for this');
  return predicate;
}
