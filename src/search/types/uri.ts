/**
 * Search type `uri`: an exact URI, or the URIs below it (`:below`).
 * https://hl7.org/fhir/R4/search.html#uri
 */
import type { Modifier } from '../query.ts';
import { unescaped } from '../values.ts';
import type { Asking, Leaf, Of, SearchType } from './search-type.ts';

export const URI: SearchType = {
  read: text => ({ kind: 'uri', uri: unescaped(text) }),
  parts: {},
};

export function uriLeaf(uris: readonly Of<'uri'>[], modifier: Modifier | undefined, ask: Asking): Leaf {
  return ask.primitive(
    ...uris.map(({ uri }) => ({ kind: modifier === 'below' ? 'uri-below' : 'exact', text: uri }) as const),
  );
}
