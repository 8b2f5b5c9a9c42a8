/**
 * Seals and opens cursors: where a page ends, enough to continue by key. A cursor travels in the next link, encrypted
 * and bound to the query and the caller. A client can neither read it (sort values are patients' values), nor use it
 * for another query, nor forge it. Rows are read in one direction only, so a cursor carries where the pages before it
 * began, up to a limit.
 * https://hl7.org/fhir/R4/http.html#paging
 */
import type { SqlValue } from '../sql/expression.ts';
import { sealing } from './sealing.ts';

/** The match that a page follows. */
export interface PageStart {
  /** The branch that it came from, by its group and ordinal. */
  readonly group: string;
  readonly branch: number;
  /** Key of its row. */
  readonly key: readonly SqlValue[];
  /** Ordinal of its mapping: a row may give several resources. */
  readonly ordinal: number;
  /** For each sort key: the normalised value, or null where it is missing. */
  readonly sort: readonly (number | string | null)[];
}

export interface Cursor extends PageStart {
  /** The instant that the first page was evaluated at. */
  readonly now: number;
  /**
   * Of the mappings that the page was made with (src/pipeline/page-mappings.ts): others may order rows by other keys.
   */
  readonly made?: string;
  /** Where the pages before began, the last of them last. */
  readonly before?: readonly EarlierPage[];
}

/** Null: the first page. */
export type EarlierPage = PageStart | null;

export interface CursorCodec {
  /** `binding`: everything the cursor must not be moved to: caller, type, filters, sort. */
  seal(cursor: Cursor, binding: string): string;
  /** Undefined for a text that was not sealed for this binding. */
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

/** A replacer is asked of every member: only keys of bytes need it. */
function written(cursor: Cursor): string {
  return hasBytes(cursor) || cursor.before?.some(hasBytes)
    ? JSON.stringify(cursor, encodeBytes)
    : JSON.stringify(cursor);
}

function hasBytes(page: EarlierPage): boolean {
  return page?.key.some(raw => raw instanceof Uint8Array) === true;
}

/** JSON.stringify's replacer for cursors whose keys may be bytes. */
export function encodeBytes(this: unknown, name: string, content: unknown): unknown {
  const raw = (this as Record<string, unknown>)[name];
  return raw instanceof Uint8Array ? { $: Buffer.from(raw).toString('base64') } : content;
}

/** JSON.parse's reviver for what `encodeBytes` wrote. */
export function decodeBytes(_name: string, content: unknown): unknown {
  if (content !== null && typeof content === 'object' && '$' in content && typeof content.$ === 'string') {
    return new Uint8Array(Buffer.from(content.$, 'base64'));
  }
  return content;
}

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
