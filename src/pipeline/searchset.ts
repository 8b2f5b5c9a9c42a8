/**
 * The Bundle of an answer. In: what was asked and found. Out: a searchset with links to itself and to the next page.
 * https://hl7.org/fhir/R4/http.html#paging
 */
import type { Issue } from '../outcome.ts';
import { type EntryText, searchsetBundle } from '../resource/bundle.ts';
import type { CursorCodec } from '../search/cursor.ts';
import type { AnswerShape } from '../search/query.ts';
import type { Answer } from './answer.ts';

/** A searchset Bundle as FHIR JSON text. */
export interface BundleText {
  readonly json: string;
  readonly entries: number;
  /** By logical id, where they were asked for. */
  readonly numbers?: ReadonlyMap<string, string> | undefined;
}

const CUT: Issue = {
  severity: 'warning',
  code: 'incomplete',
  diagnostics: 'more resources would be included than one page may hold; the rest was left out',
};

/** `made`: resources that stand before the matches and count among them. */
export function searchsetOf(
  query: AnswerShape,
  found: Answer,
  base: string,
  cursors: CursorCodec,
  made: readonly EntryText[] = [],
): BundleText {
  const { included, next, total } = found;
  const matches = made.length === 0 ? found.matches : [...made, ...found.matches];
  const self = linkTo(base, query);
  const json = searchsetBundle({
    base,
    matches,
    included: included.resources,
    ...(total === undefined ? {} : { total: total + made.length }),
    warnings: included.cut ? [...query.warnings, CUT] : query.warnings,
    self,
    ...(next ? { next: `${self}${self.includes('?') ? '&' : '?'}_cursor=${cursors.seal(next, query.binding)}` } : {}),
  });
  const entries = matches.length + included.resources.length;
  return found.numbers === undefined ? { json, entries } : { json, entries, numbers: found.numbers };
}

/** Of the query as it was understood. Cursors, which go behind it, are base64url. */
function linkTo(base: string, { place, applied, written }: AnswerShape): string {
  const query = [...applied, ...written]
    .map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
    .join('&');
  return `${base}${place === '' ? '' : `/${place}`}${query === '' ? '' : `?${query}`}`;
}
