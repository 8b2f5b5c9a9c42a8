/**
 * Makes the Bundle of an answer. In: the query and what was found. Out: a searchset with links to itself, to the
 * first, the previous and the next page.
 * https://hl7.org/fhir/R4/http.html#paging
 */
import { issueOf } from '../outcome.ts';
import { type EntryText, searchsetBundle } from '../resource/bundle.ts';
import type { Cursor, CursorCodec } from '../search/cursor.ts';
import { pageBefore } from '../search/earlier-pages.ts';
import type { AnswerShape } from '../search/query.ts';
import type { Answer } from './answer.ts';
import { SEALED } from './sealed-parameters.ts';

/** A searchset Bundle as FHIR JSON text. */
export interface BundleText {
  readonly json: string;
  readonly entries: number;
  /** Matches on all pages, where they were counted. */
  readonly total?: number | undefined;
}

const CUT = issueOf('incomplete', 'more resources would be included than one page may hold; the rest was left out', {
  severity: 'warning',
});

/** What links are made with. */
export interface LinkParts {
  readonly base: string;
  readonly cursors: CursorCodec;
  /** The parameters as they stand in links; without it as they came. */
  readonly seal?: ((parameters: AnswerShape['applied']) => string) | undefined;
}

/** `made`: resources that stand before the matches and count among them. */
export function searchsetOf(
  query: AnswerShape,
  found: Answer,
  links: LinkParts,
  made: readonly EntryText[] = [],
): BundleText {
  const { included, next, total } = found;
  const { base, cursors } = links;
  const matches = made.length === 0 ? found.matches : [...made, ...found.matches];
  const all = total === undefined ? undefined : total + made.length;
  const self = linkTo(query, links);
  const linked = (cursor: Cursor): string =>
    `${self}${self.includes('?') ? '&' : '?'}_cursor=${cursors.seal(cursor, query.binding)}`;
  const before = pageBefore(query.cursor);
  const json = searchsetBundle({
    base,
    matches,
    included: included.resources,
    ...(all === undefined ? {} : { total: all }),
    warnings: included.cut ? [...query.warnings, CUT] : query.warnings,
    self,
    ...(query.cursor ? { first: self } : {}),
    ...(before ? { previous: before === 'first' ? self : linked(before) } : {}),
    ...(next ? { next: linked(next) } : {}),
  });
  return { json, entries: matches.length + included.resources.length, total: all };
}

/** Of the query as it was understood. Cursors, which go behind it, are base64url, and so is what is sealed. */
function linkTo({ place, applied, written }: AnswerShape, { base, seal }: LinkParts): string {
  const asked = seal === undefined || applied.length === 0 ? applied : [[SEALED, seal(applied)] as const];
  const query = [...asked, ...written]
    .map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
    .join('&');
  return `${base}${place === '' ? '' : `/${place}`}${query === '' ? '' : `?${query}`}`;
}
