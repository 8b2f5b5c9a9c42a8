/** Inverts references: turns a logical id into the target's key once, and searches by that key. */
import { columnsIn, type IdPart, idCodec } from '../mapping/id-rule.ts';
import type { JoinColumn, Mapping, Node, RefNode, TextNode } from '../mapping/model.ts';
import type { TypedValue } from '../search/query.ts';
import type { Leaf } from '../search/types/search-type.ts';
import type { ColumnType } from '../sql/column-type.ts';
import { and, equals, exists, FALSE, or, some, TRUE } from '../sql/construct.ts';
import type { Predicate, Relation } from '../sql/expression.ts';
import { bareRelation } from './condition.ts';
import type { Environment } from './environment.ts';
import { idsByForm, readId } from './identity.ts';
import { keysFirst, keyValues, oursAmong, oursAmongKeys } from './key.ts';
import { presentPredicate, servedPredicate, targetRelation } from './presence.ts';
import { exact } from './walk.ts';

type ReferenceValue = Extract<TypedValue, { readonly kind: 'reference' }>;

/** Matches a reference to one of these resources. Handles all in one query, because a request may name many. */
export function referenceLeaf(wanted: readonly ReferenceValue[], env: Environment): Leaf {
  return node => {
    if (node.kind !== 'ref') return FALSE;
    const target = env.registry.mapping(node.target);
    const ids = wanted.filter(({ type }) => type === undefined || type === target.resource).map(({ id }) => id);
    return refersToIds(node, target, ids, env);
  };
}

/**
 * Matches if the text of a reference names one of these resources. Only `{TYPE}/{ID}`, a template of two columns, can
 * be searched; no search finds texts of another form.
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
  const direct = directKeys(node, target, ids, env);
  if (direct) return direct.kind === 'false' ? direct : and(direct, presentPredicate(node, env));
  const asked = idsByForm(target, ids, env).map((wanted, i) => ({
    wanted,
    key: `${target.name} ${i}|${ids.join()}`,
  }));
  return refersToSome(node, target, asked, env);
}

/**
 * Compares our columns with the parts of the ids, if the reference joins on exactly the columns that ids are made of.
 */
function directKeys(node: RefNode, target: Mapping, ids: readonly string[], env: Environment): Predicate | undefined {
  const [parts, ...others] = target.id.alternatives;
  if (!parts || others.length > 0) return undefined;
  const pairs = new Map(node.on.map(pair => [pair.theirs.column, pair]));
  const columns = columnsIn(parts);
  if (!columns.every(column => column.alias === target.source.alias && pairs.has(column.column))) return undefined;
  const read = asJoined(parts, pairs);
  const keys = ids.flatMap(id => readId(read, id, env));
  return oursAmongKeys(
    columns.flatMap(({ column }) => pairs.get(column) ?? []),
    keys.map(key => key.map(({ value }) => value)),
  );
}

const joined = new WeakMap<readonly IdPart[], ReadonlyMap<string, readonly IdPart[]>>();

/**
 * Gives date-times the types that the join compares: two rows of different layouts are compared in a third one. Returns
 * the same object for the same types.
 */
function asJoined(parts: readonly IdPart[], pairs: ReadonlyMap<string, JoinColumn>): readonly IdPart[] {
  const typeOf = (part: IdPart): ColumnType | undefined =>
    part.kind === 'column' && part.codec.name === 'datetime' ? pairs.get(part.column.column)?.theirs.type : undefined;
  const types = parts.map(typeOf);
  if (parts.every((part, i) => !types[i] || (part.kind === 'column' && part.column.type === types[i]))) return parts;
  const name = JSON.stringify(types);
  const known = joined.get(parts)?.get(name);
  if (known) return known;
  const made = parts.map((part, i): IdPart => {
    const type = types[i];
    const codec = type && idCodec('datetime', type);
    return codec && part.kind === 'column' ? { ...part, column: { ...part.column, type }, codec } : part;
  });
  joined.set(parts, new Map([...(joined.get(parts) ?? []), [name, made]]));
  return made;
}

/**
 * Matches if the reference leads to a row of the target that satisfies `wanted`. The rows' keys are fetched first: none
 * gives FALSE, and a few become a list. `key` names the query, values included.
 */
export function refersToRows(
  node: RefNode,
  target: Mapping,
  key: string,
  wanted: Predicate,
  env: Environment,
): Predicate {
  return wanted.kind === 'false' ? FALSE : refersToSome(node, target, [{ key, wanted }], env);
}

/** Likewise if rows are found in several ways, each by an index of its own: their keys become one list. */
function refersToSome(
  node: RefNode,
  target: Mapping,
  asked: readonly { readonly key: string; readonly wanted: Predicate }[],
  env: Environment,
): Predicate {
  const columns = node.on.map(({ theirs }) => theirs);
  const found = asked.map(({ key, wanted }) => {
    const name = `${key}|${columns.map(({ column }) => column).join()}`;
    const from = (): Relation => {
      const where = and(wanted, env.rules.targetFilter ? servedPredicate(target, env) : TRUE);
      return bareRelation(target.source, where, env, columns);
    };
    return { wanted, name, keys: keysFirst(name, { mapping: target.name, from, columns }, env) };
  });
  const many = found.filter(({ keys }) => keys === 'many');
  if (many.length > 0) {
    const any = or(...found.map(({ wanted }) => wanted));
    return exists(targetRelation(target, node.on, env, [], any).relation);
  }
  const [only, ...more] = found;
  if (only && more.length === 0)
    return typeof only.keys === 'object' ? oursAmong(node.on, only.keys, env.keyPlaceholders?.get(only.name)) : FALSE;
  if (found.some(({ keys }) => keys === undefined)) return FALSE;
  const values = found.flatMap(({ name, keys }) =>
    typeof keys === 'object' ? keyValues(node.on, keys, env.keyPlaceholders?.get(name)) : [],
  );
  return oursAmongKeys(node.on, values);
}
