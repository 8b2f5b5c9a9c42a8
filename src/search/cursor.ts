/**
 * Seals and opens cursors. A cursor contains where a page ends, enough to continue by key. It travels in the next link,
 * encrypted and bound to the query and the caller. A client can neither read it (sort values are patients' values), nor
 * use it for another query, nor forge it. Rows are read in one direction only, so a cursor also contains where earlier
 * pages began, up to a limit.
 * https://hl7.org/fhir/R4/http.html#paging
 */
import type { SqlValue } from '../sql/expression.ts';
import { sealing } from './sealing.ts';

/** The match that a page follows. */
export interface PageStart {
  /** The branch of the match, by its group and ordinal. */
  readonly group: string;
  readonly branch: number;
  /** Key of its row. */
  readonly key: readonly SqlValue[];
  /** Ordinal of its mapping, because a row may give several resources. */
  readonly ordinal: number;
  /** Per sort key: the normalized value, or null if it is missing. */
  readonly sort: readonly (number | string | null)[];
}

export interface Cursor extends PageStart {
  /** The instant that the first page was evaluated at. */
  readonly now: number;
  /** The mappings that the page was made with (src/pipeline/page-mappings.ts). Others may order rows by other keys. */
  readonly made?: string;
  /** Where earlier pages began, the latest last. */
  readonly before?: readonly EarlierPage[];
}

/** Null: the first page. */
export type EarlierPage = PageStart | null;

export interface CursorCodec {
  /** `binding`: everything the cursor must not be moved to: caller, type, filters, sort. */
  seal(cursor: Cursor, binding: string): string;
  /** Undefined if the text was not sealed for this binding. */
  open(text: string, binding: string): Cursor | undefined;
}

/** `secret`: the same on all instances behind one URL. */
export function cursorCodec(secret: Uint8Array): CursorCodec {
  const { seal, open } = sealing(secret, 'page link');
  return {
    seal: (cursor, binding) => seal(written(cursor), binding),
    open(text, binding) {
      const shown = open(text, binding)?.toString('utf8');
      if (shown === undefined) return undefined;
      return shown.includes('"$":') ? JSON.parse(shown, decodeBytes) : JSON.parse(shown);
    },
  };
}

/** Writes JSON. A replacer runs for every member, so it is used only if a key has bytes. */
function written(cursor: Cursor): string {
  return hasBytes(cursor) || cursor.before?.some(hasBytes)
    ? JSON.stringify(cursor, encodeBytes)
    : JSON.stringify(cursor);
}

function hasBytes(page: EarlierPage): boolean {
  return page?.key.some(raw => raw instanceof Uint8Array) === true;
}

/** Encodes bytes in the keys of cursors: a replacer for JSON.stringify. */
export function encodeBytes(this: unknown, name: string, content: unknown): unknown {
  const raw = (this as Record<string, unknown>)[name];
  return raw instanceof Uint8Array ? { $: Buffer.from(raw).toString('base64') } : content;
}

/** Decodes what `encodeBytes` wrote: a reviver for JSON.parse. */
export function decodeBytes(_name: string, content: unknown): unknown {
  if (content !== null && typeof content === 'object' && '$' in content && typeof content.$ === 'string') {
    return new Uint8Array(Buffer.from(content.$, 'base64'));
  }
  return content;
}

/** Most pages that can be followed back. Before them comes the link to the first page. */
const PAGES = 20;
/** Most characters of their places as JSON, because texts to sort by may be long. */
const LENGTH = 1600;

/** Returns the earlier pages for the cursor of the next page, this one last. `cursor`: that of this page. */
export function pagesBefore(cursor: Cursor | undefined): readonly EarlierPage[] {
  const pages = [...(cursor?.before ?? []), cursor === undefined ? null : startOf(cursor)].slice(-PAGES);
  while (pages.length > 0 && JSON.stringify(pages, encodeBytes).length > LENGTH) pages.shift();
  return pages;
}

/** Returns where the previous page begins: `first`, or a cursor; undefined if it is unknown or there is none. */
export function pageBefore(cursor: Cursor | undefined): Cursor | 'first' | undefined {
  const start = cursor?.before?.at(-1);
  if (cursor === undefined || start === undefined) return undefined;
  return start === null ? 'first' : { ...cursor, ...start, before: cursor.before?.slice(0, -1) ?? [] };
}

function startOf({ group, branch, key, ordinal, sort }: Cursor): EarlierPage {
  return { group, branch, key, ordinal, sort };
}
