/**
 * All resources of a search, batch after batch by keyset, in memory that does not grow. In: filters and a place to
 * continue. Out: batches of resource texts, each with the cursor after it.
 */
import type { Access } from '../auth/access.ts';
import { branchesOf } from '../plan/branches.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Cursor } from '../search/cursor.ts';
import type { Filter, Selection } from '../search/query.ts';
import { type Emitted, emitAll } from './emitted.ts';
import { countMatches, readPage } from './page.ts';
import { planResolved } from './resolve.ts';
import type { Session } from './source.ts';

export interface StreamRequest {
  readonly type: string;
  readonly filters: readonly Filter[];
  readonly access: Access;
  readonly selection: Selection;
  /** Resources per batch. */
  readonly batch: number;
  /** Continue after this one. */
  readonly after: Cursor | undefined;
}

export interface Batch {
  readonly resources: readonly Emitted[];
  /** After the last resource of the batch; undefined: there are no more. */
  readonly next: Cursor | undefined;
}

export async function* streamBatches(
  request: StreamRequest,
  context: WriteContext,
  session: Session,
): AsyncGenerator<Batch> {
  const { type, filters, access, selection, batch } = request;
  const branches = await planResolved(session, () => branchesOf({ type, filters, sort: [], access }, session.env));
  let cursor = request.after;
  do {
    const page = await readPage(branches, { sort: [], selection, count: batch, cursor }, session);
    const resources = await emitAll(page.matches, context, session);
    yield { resources, next: page.next };
    cursor = page.next;
  } while (cursor);
}

/** How many resources the stream has in all. */
export async function countStream(
  request: Pick<StreamRequest, 'type' | 'filters' | 'access'>,
  session: Session,
): Promise<number> {
  const { type, filters, access } = request;
  const branches = await planResolved(session, () => branchesOf({ type, filters, sort: [], access }, session.env));
  return countMatches(branches, session);
}
