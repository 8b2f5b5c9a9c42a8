/**
 * The pages and reads that the facade, the reference and the obvious program all answer. In: the demo's database. Out:
 * for each page the request, its statement with parameters, and the facade's bytes, which the others must match.
 */
import type { SearchRequest } from '../../src/facade.ts';
import { type Cursor, cursorCodec } from '../../src/search/cursor.ts';
import type { Statement } from '../../src/sql/plan.ts';
import { type BoundText, boundText } from './bound-text.ts';
import { CONTEXT, LINK_SECRET, type Opened, statementsOf } from './demo.ts';

export interface Page extends BoundText {
  readonly parameters: SearchRequest['parameters'];
  /** 0 for the first page; 1 for others, whose first row is the last one of the page before. */
  readonly skip: 0 | 1;
  /** The cursor in its link; undefined for the first page. */
  readonly cursor: Cursor | undefined;
  readonly json: string;
}

export interface Read extends BoundText {
  readonly id: string;
  readonly json: string;
}

export const COUNT = 50;
const PAGES = 40;

const FIRST = [
  ['category', 'laboratory'],
  ['_count', String(COUNT)],
] as const;

/** Reads consecutive pages of laboratory results in the order of their key. */
export async function laboratoryPages(opened: Opened): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let parameters: SearchRequest['parameters'] = FIRST;
  for (let i = 0; i < PAGES; i++) {
    const request = { type: 'Observation', parameters };
    const { sql, bound } = only(await statementsOf(opened, context => opened.facade.search(request, context)));
    const { json } = await opened.facade.search(request, CONTEXT);
    pages.push({ parameters, sql, bound, skip: i === 0 ? 0 : 1, cursor: cursorOf(parameters), json });
    parameters = nextOf(json);
  }
  return pages;
}

/** The caller, the type and the parameters without paging: what src/search/parse.ts binds links to. */
const BINDING = JSON.stringify([CONTEXT.access.caller, 'Observation', FIRST]);
const cursors = cursorCodec(LINK_SECRET);

function cursorOf(parameters: SearchRequest['parameters']): Cursor | undefined {
  const sealed = parameters.find(([name]) => name === '_cursor')?.[1];
  if (sealed === undefined) return undefined;
  const cursor = cursors.open(sealed, BINDING);
  if (cursor === undefined) throw new Error('a link is not bound to what the bench expects');
  return cursor;
}

/** One result of each page. */
export async function laboratoryReads(opened: Opened, pages: readonly Page[]): Promise<readonly Read[]> {
  const reads: Read[] = [];
  for (const page of pages) {
    const id: string = JSON.parse(page.json).entry[7].resource.id;
    const { sql, bound } = only(
      await statementsOf(opened, async context => opened.facade.read('Observation', id, [], context)),
    );
    const found = await opened.facade.read('Observation', id, [], CONTEXT);
    if (found) reads.push({ id, sql, bound, json: found.json });
  }
  return reads;
}

function only(statements: readonly Statement[]): BoundText {
  const [statement, ...others] = statements;
  if (statement === undefined || others.length > 0) throw new Error('one statement was expected');
  return boundText(statement);
}

export function nextOf(json: string): SearchRequest['parameters'] {
  const links: readonly { readonly relation: string; readonly url: string }[] = JSON.parse(json).link;
  const next = links.find(({ relation }) => relation === 'next');
  if (!next) throw new Error('there are too few pages');
  return [...new URL(next.url).searchParams];
}

/** Removes the sealed cursors from links, which differ each time. */
export function unsealed(json: string): string {
  return json.replaceAll(/_cursor=[\w-]+/g, '_cursor=');
}
