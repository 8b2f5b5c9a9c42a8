/**
 * Plans `:missing`: whether a resource has a value that the parameter can search. An element with extensions only,
 * such as a data-absent-reason, has no value; nor has one of a type that the parameter does not read, such as a time
 * in words.
 * https://hl7.org/fhir/R4/search.html#modifiers
 */
import { isDynamic, namedNodesOf } from '../mapping/children.ts';
import type { Node } from '../mapping/model.ts';
import { isPrimitive } from '../r4/definitions.ts';
import type { SearchParameterType } from '../r4/search-parameters.ts';
import { DATES } from '../search/types/date.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { SEARCH_TYPES } from '../search/types/types.ts';
import { FALSE, some } from '../sql/construct.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { along } from './walk.ts';

/** Returns the leaf that checks for a value of the parameter's type. */
export function searchableValueLeaf(type: SearchParameterType, env: Environment): Leaf {
  return node => {
    if (isPlain(type, node)) return presentPredicate(node, env);
    if (isPrimitive(node.type)) return FALSE;
    const parts = SEARCH_TYPES[type].parts[node.type] ?? [];
    // A parameter for the parts of a type reads them: the type of an Identifier is one for tokens, as the Identifier
    // is.
    return some(parts.map(path => along(node, path, searchableValueLeaf(type, env), env)));
  };
}

/**
 * True if the node, whenever it is emitted, has a part that is searched by: nothing else that depends on the row makes
 * it exist.
 */
function isPlain(type: SearchParameterType, node: Node): boolean {
  switch (node.kind) {
    case 'ref':
      return true;
    case 'list':
      return node.items.every(item => isPlain(type, item));
    case 'each':
      return isPlain(type, node.item);
    case 'first':
      return node.alternatives.every(alternative => isPlain(type, alternative));
    case 'object': {
      const parts = SEARCH_TYPES[type].parts[node.type] ?? [];
      const names = parts.flatMap(([step, ...more]) => (step && 'element' in step && !more.length ? step.element : []));
      const dynamic = node.members.flatMap(namedNodesOf).filter(named => isDynamic(named.node));
      return dynamic.length > 0 && dynamic.every(named => names.includes(named.name) && isPlain(type, named.node));
    }
    default:
      return isPrimitive(node.type) && (type !== 'date' || DATES.has(node.type));
  }
}
