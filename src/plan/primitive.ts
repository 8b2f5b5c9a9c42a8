/**
 * Asks primitives and elements of a value; questions to data types are made of these. In: a criterion. Out: a Leaf;
 * undefined if SQL cannot answer it.
 */
import type { Criterion } from '../mapping/criterion.ts';
import type { Node } from '../mapping/model.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { withLists } from '../sql/alike.ts';
import { and, FALSE, some, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { constantSatisfies } from './constant.ts';
import type { Environment } from './environment.ts';
import { notAbsent } from './presence.ts';
import { along } from './walk.ts';

/** Asks a primitive for one of several criteria; constants are decided here and now. */
export function primitiveAny(criteria: readonly Criterion[], env: Environment): Leaf {
  return node => {
    if (node.kind === 'constant')
      return criteria.some(criterion => constantSatisfies(node.json, criterion, env)) ? TRUE : FALSE;
    if (node.kind !== 'value') return undefined;
    const any = some(criteria.map(criterion => node.codec.match(node.from, criterion, env)));
    // What one value asks for stays as its codec says it.
    const matched = any && criteria.length > 1 ? withLists(any) : any;
    return matched && matched.kind !== 'false' ? and(matched, notAbsent(node, env)) : matched;
  };
}

/** The primitive is this text. */
export function exact(text: string, env: Environment): Leaf {
  return exactAny([text], env);
}

/** The primitive is one of these texts. */
export function exactAny(texts: readonly string[], env: Environment): Leaf {
  return primitiveAny(
    texts.map(text => ({ kind: 'exact', text })),
    env,
  );
}

/** Few enough that several spellings of each fit into a statement. */
const SPELLED_OUT = 8;

/** The primitive is one of these texts in any case of ASCII letters. */
export function anyCaseAny(texts: readonly string[], env: Environment): Leaf {
  const anyCase = texts.length > SPELLED_OUT ? 'listed' : 'alone';
  return primitiveAny(
    texts.map(text => ({ kind: 'exact', text, anyCase })),
    env,
  );
}

/** Asks a child element. */
export function child(node: Node, element: string, leaf: Leaf, env: Environment): Predicate | undefined {
  return along(node, [{ element }], leaf, env);
}
