/**
 * Search type `reference`: a resource of this server by its id, or another one by its URL.
 * https://hl7.org/fhir/R4/search.html#reference
 */
import { isLegalId } from '../../mapping/id-rule.ts';
import { isPrimitive, isResourceType } from '../../r4/definitions.ts';
import { FALSE } from '../../sql/construct.ts';
import type { TypedValue } from '../query.ts';
import { unescaped, type ValueContext, wrong } from '../values.ts';
import { type Asking, type Leaf, type Of, paths, type SearchType } from './search-type.ts';

export const REFERENCE: SearchType = {
  read: (text, _parameter, context) => readReference(text, context),
  parts: { Reference: paths('reference', 'identifier'), Identifier: paths('system', 'value') },
};

function readReference(text: string, context: ValueContext): TypedValue {
  const written = unescaped(text);
  const local = written.startsWith(`${context.base}/`) ? written.slice(context.base.length + 1) : written;
  const [type = '', id = '', ...more] = local.split('/');
  const versioned = more.length === 2 && more[0] === '_history';
  if (id === '' && !local.includes('/')) {
    if (isLegalId(type)) return { kind: 'reference', type: undefined, id: type };
  } else if (isResourceType(type) && isLegalId(id) && (more.length === 0 || versioned)) {
    return { kind: 'reference', type, id };
  } else if (/^[a-z][a-z0-9+.-]*:/i.test(local)) {
    return { kind: 'foreign-reference', url: local };
  }
  throw wrong(context, 'an id, Type/id or an absolute URL');
}

export function referenceLeaf(references: readonly Of<'reference'>[], ask: Asking): Leaf {
  const [made, written] = [ask.refersTo(references), ask.names(references)];
  return node => (node.kind === 'object' ? ask.child(node, 'reference', written) : made(node));
}

/** Matches canonicals, which are compared as plain URLs. */
export function foreignReferenceLeaf(references: readonly Of<'foreign-reference'>[], ask: Asking): Leaf {
  const leaf = ask.exact(...references.map(({ url }) => url));
  return node => (isPrimitive(node.type) ? leaf(node) : FALSE);
}
