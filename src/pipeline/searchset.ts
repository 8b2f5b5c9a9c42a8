/**
 * The Bundle of an answer. In: what was asked and found. Out: a searchset with links to itself and to the next page.
 * https://hl7.org/fhir/R4/http.html#paging
 */
import type { Issue } from '../outcome.ts';
import { searchsetBundle } from '../resource/bundle.ts';
import type { CursorCodec } from '../search/cursor.ts';
import type { AnswerShape } from '../search/query.ts';
import type { Answer } from './answer.ts';
import type { Emitted } from './emitted.ts';

/** A searchset Bundle as FHIR JSON text. */
export interface BundleText {
  readonly json: string;
  readonly entries: number;
}

const CUT: Issue = {
  severity: 'warning',
  code: 'incomplete',
  diagnostics: 'more resources would be included than one page may hold; the rest was left out',
};

export function searchsetOf(query: AnswerShape, found: Answer, base: string, cursors: CursorCodec): BundleText {
  const { matches, included, next, total } = found;
  const json = searchsetBundle({
    base,
    matches: matches.map(entryOf),
    included: included.resources.map(entryOf),
    ...(total === undefined ? {} : { total }),
    warnings: included.cut ? [...query.warnings, CUT] : query.warnings,
    self: linkTo(base, query.place, query.applied),
    ...(next
      ? { next: linkTo(base, query.place, [...query.applied, ['_cursor', cursors.seal(next, query.binding)]]) }
      : {}),
  });
  return { json, entries: matches.length + included.resources.length };
}

function entryOf({ mapping, id, json }: Emitted) {
  return { type: mapping.resource, id, json };
}

/** `place` is what stands behind the base. */
function linkTo(base: string, place: string, parameters: AnswerShape['applied']): string {
  const query = parameters.map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`).join('&');
  return `${base}${place === '' ? '' : `/${place}`}${query === '' ? '' : `?${query}`}`;
}
