/**
 * Makes links to the previous page. Rows are read in one direction only, so a cursor carries where the pages before it
 * began, up to a limit. In: the cursor of a page. Out: the list for the cursor of the next page, and where the page
 * before begins.
 * https://hl7.org/fhir/R4/http.html#paging
 */
import { type Cursor, type EarlierPage, encodeBytes } from './cursor.ts';

/** Pages that lead back from one another; behind them stands the link to the first page. */
const PAGES = 20;
/** Characters of their places as JSON: texts that are sorted by may be long. */
const LENGTH = 1600;

/** For the cursor of the next page: the pages before it, this one the last. `cursor`: of this page. */
export function pagesBefore(cursor: Cursor | undefined): readonly EarlierPage[] {
  const pages = [...(cursor?.before ?? []), cursor === undefined ? null : startOf(cursor)].slice(-PAGES);
  while (pages.length > 0 && JSON.stringify(pages, encodeBytes).length > LENGTH) pages.shift();
  return pages;
}

/** Where the page before begins: `first`, or a cursor; undefined where nothing is known of it, or there is none. */
export function pageBefore(cursor: Cursor | undefined): Cursor | 'first' | undefined {
  const start = cursor?.before?.at(-1);
  if (cursor === undefined || start === undefined) return undefined;
  return start === null ? 'first' : { ...cursor, ...start, before: cursor.before?.slice(0, -1) ?? [] };
}

function startOf({ group, branch, key, ordinal, sort }: Cursor): EarlierPage {
  return { group, branch, key, ordinal, sort };
}
