/**
 * A large page in lists. In: the branches of a search without sort keys. Out: texts of its resources. Its rows are read a
 * list at a time and are garbage once they are text, so that no more of them is in memory than of a small page, and no
 * more is asked of the database than was made use of.
 */
import type { Branch } from '../plan/branches.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Cursor } from '../search/cursor.ts';
import { type Emitted, emitAll } from './emitted.ts';
import { type PageRequest, readPage } from './page.ts';
import type { Session } from './source.ts';

/** What an answer needs of a resource. */
export type Written = Pick<Emitted, 'mapping' | 'id' | 'json'>;

export interface WrittenPage {
  readonly matches: readonly Written[];
  readonly next: Cursor | undefined;
}

/** Rows. Few statements for the largest page, and some hundred kilobytes of cells. */
export const LIST = 250;

/** With sort keys each list would cost the database the whole sort again: they are left to pages that are read at once. */
export async function writeInLists(
  branches: readonly Branch[],
  request: Omit<PageRequest, 'sort'>,
  context: WriteContext,
  session: Session,
): Promise<WrittenPage> {
  const matches: Written[] = [];
  let { cursor } = request;
  do {
    const count = Math.min(LIST, request.count - matches.length);
    const page = await readPage(branches, { ...request, sort: [], count, cursor }, session);
    for (const { mapping, id, json } of await emitAll(page.matches, context, session))
      matches.push({ mapping, id, json });
    cursor = page.next;
  } while (cursor && matches.length < request.count);
  return { matches, next: cursor };
}
