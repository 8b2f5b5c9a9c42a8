/**
 * Writes a page in lists of rows, so that memory and statements stay small on a large page. In: the branches of a
 * search. Out: texts of its resources. With sort keys all rows are read at once, and only their children in lists.
 */
import type { Branch } from '../plan/branches.ts';
import type { EntryText } from '../resource/bundle.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Cursor } from '../search/cursor.ts';
import { type Emitted, emitAll } from './emitted.ts';
import { type Match, type PageRequest, readPage } from './page.ts';
import type { Session } from './session.ts';

export interface WrittenPage {
  readonly matches: readonly EntryText[];
  readonly next: Cursor | undefined;
}

/** Rows. Few statements for the largest page, and some hundred kilobytes of cells. */
export const LIST = 250;

/**
 * `see`: is shown all of the resources. With sort keys each list of rows would cost the database the whole sort again.
 */
export async function writeInLists(
  branches: readonly Branch[],
  request: PageRequest,
  context: WriteContext,
  session: Session,
  see: ((resources: readonly Emitted[]) => void) | undefined = undefined,
): Promise<WrittenPage> {
  const matches: EntryText[] = [];
  const write = async (some: readonly Match[]): Promise<void> => {
    const resources = await emitAll(some, context, session);
    see?.(resources);
    for (const { type, id, json } of resources) matches.push({ type, id, json });
  };
  let { cursor } = request;
  if (request.sort.length > 0) {
    const page = await readPage(branches, request, session);
    for (let at = 0; at < page.matches.length; at += LIST) await write(page.matches.slice(at, at + LIST));
    return { matches, next: page.next };
  }
  do {
    const count = Math.min(LIST, request.count - matches.length);
    const page = await readPage(branches, { ...request, count, cursor }, session);
    await write(page.matches);
    cursor = page.next;
  } while (cursor && matches.length < request.count);
  return { matches, next: cursor };
}
