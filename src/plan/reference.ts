/**
 * References, inverted: a logical id becomes the target's key once, and the search is on the key.
 */
import { idCodec } from '../mapping/codecs/id.ts';
import type { IdPart } from '../mapping/id-rule.ts';
import type { Mapping, Node, RefNode, TextNode } from '../mapping/model.ts';
import type { TypedValue } from '../search/query.ts';
import { withLists } from '../sql/alike.ts';
import { and, equals, exists, FALSE, or, TRUE } from '../sql/construct.ts';
import type { Predicate, Relation } from '../sql/expression.ts';
import { bareRelation } from './condition.ts';
import type { Environment } from './environment.ts';
import { idPredicate, readId } from './identity.ts';
import { equalsOurs, oursAmong } from './key.ts';
import { keysFirst } from './keys-first.ts';
import { presentPredicate, servedPredicate, targetRelation } from './presence.ts';
import { exact } from './primitive.ts';
import { type Leaf, some } from './walk.ts';

type ReferenceValue = Extract<TypedValue, { readonly kind: 'reference' }>;

/** The reference leads to one of these resources. All of them are asked for at once: a request may name many. */
export function referenceLeaf(wanted: readonly ReferenceValue[], env: Environment): Leaf {
  return node => {
    if (node.kind !== 'ref') return FALSE;
    const target = env.registry.mapping(node.target);
    const ids = wanted.filter(({ type }) => type === undefined || type === target.resource).map(({ id }) => id);
    return refersToIds(node, target, ids, env);
  };
}

/**
 * The text of a reference names one of these resources. Only `{TYPE}/{ID}`, a template of two columns, is looked into: what
 * stands in a text of another form no search finds.
 */
export function writtenReferenceLeaf(wanted: readonly ReferenceValue[], env: Environment): Leaf {
  return node => {
    const written = node.kind === 'text' && node.mode === 'template' ? writtenIn(node.parts) : undefined;
    if (!written) return FALSE;
    const named = wanted.map(({ type, id }) => {
      const ofType = type === undefined ? TRUE : exact(type, env)(written.type);
      const ids = readId([written.id], id, env).map(keys => and(...keys.map(one => equals(one.column, one.value))));
      return ofType && and(ofType, or(...ids));
    });
    const any = some(named);
    return any && and(any, presentPredicate(node, env));
  };
}

function writtenIn(parts: TextNode['parts']): { readonly type: Node; readonly id: IdPart } | undefined {
  const [type, between, id, ...more] = parts;
  if (type === undefined || typeof type === 'string' || between !== '/' || more.length > 0) return undefined;
  const column = typeof id === 'object' && id.kind === 'value' ? id.from[0] : undefined;
  const codec = column?.kind === 'column' ? idCodec(undefined, column.type) : undefined;
  return column?.kind === 'column' && codec ? { type, id: { kind: 'column', column, codec } } : undefined;
}

function refersToIds(node: RefNode, target: Mapping, ids: readonly string[], env: Environment): Predicate {
  const direct = ids.map(id => directKeys(node, target, id, env));
  if (direct.every(keys => keys !== undefined)) {
    const keys = withLists(or(...direct));
    return keys.kind === 'false' ? keys : and(keys, presentPredicate(node, env));
  }
  const named = withLists(or(...ids.map(id => idPredicate(target, id, env))));
  return refersToRows(node, target, `${target.name}|${ids.join()}`, named, env);
}

/** Our columns compared with the parts of the id, where the reference joins on exactly the columns the id is made of. */
function directKeys(node: RefNode, target: Mapping, id: string, env: Environment): Predicate | undefined {
  const [parts, ...others] = target.id.alternatives;
  if (!parts || others.length > 0) return undefined;
  const pairs = new Map(node.on.map(pair => [pair.theirs.column, pair]));
  const columns = parts.flatMap(part => (part.kind === 'column' ? [part.column] : []));
  if (!columns.every(column => column.alias === target.source.alias && pairs.has(column.column))) return undefined;
  return or(
    ...readId(parts, id, env).map(keys =>
      and(
        ...keys.map(({ column, value }) => {
          const pair = pairs.get(column.column);
          return pair ? equalsOurs(pair, value) : FALSE;
        }),
      ),
    ),
  );
}

/**
 * The reference leads to a row of the target that satisfies `wanted`. The rows' keys are fetched first: none, and there
 * is nothing to search; few, and they are listed. `key` names the question, values included.
 */
export function refersToRows(
  node: RefNode,
  target: Mapping,
  key: string,
  wanted: Predicate,
  env: Environment,
): Predicate {
  if (wanted.kind === 'false') return FALSE;
  const resolution = `${key}|${node.on.map(({ theirs }) => theirs.column).join()}`;
  const columns = node.on.map(({ theirs }) => theirs);
  const from = (): Relation => {
    const where = and(wanted, env.rules.targetFilter ? servedPredicate(target, env) : TRUE);
    return bareRelation(target.source, where, env, columns);
  };
  const keys = keysFirst(resolution, { mapping: target.name, from, columns }, env);
  if (keys === undefined) return FALSE;
  if (keys === 'many') return exists(targetRelation(target, node.on, env, [], wanted).relation);
  return oursAmong(node.on, keys, env.keyPlaces?.get(resolution));
}
