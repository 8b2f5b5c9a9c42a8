/**
 * Answers the questions of search types (src/search/types) for an environment of the planner. In: an environment. Out:
 * the questions; a leaf that asks for one of some values.
 */
import type { Modifier, TypedValue } from '../search/query.ts';
import type { Asking, Leaf } from '../search/types/search-type.ts';
import { matching } from '../search/types/types.ts';
import { bearingLeaf } from './bearing.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { anyCaseAny, child, exactAny, primitiveAny } from './primitive.ts';
import { referenceLeaf, writtenReferenceLeaf } from './reference.ts';
import { along } from './walk.ts';

export function leafForAny(values: readonly TypedValue[], modifier: Modifier | undefined, env: Environment): Leaf {
  return matching(values, modifier, askingIn(env));
}

function askingIn(env: Environment): Asking {
  return {
    primitive: (...criteria) => primitiveAny(criteria, env),
    exact: (...texts) => exactAny(texts, env),
    anyCase: (...texts) => anyCaseAny(texts, env),
    present: node => presentPredicate(node, env),
    bears: type => bearingLeaf(type, env),
    along: (node, path, leaf) => along(node, path, leaf, env),
    child: (node, element, leaf) => child(node, element, leaf, env),
    refersTo: references => referenceLeaf(references, env),
    names: references => writtenReferenceLeaf(references, env),
    clock: env,
    sameItem: env.rules.sameItem,
  };
}
