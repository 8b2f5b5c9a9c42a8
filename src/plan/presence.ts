/**
 * Plans which rows are served and which nodes are emitted. In: a mapping or a node. Out: a Predicate that holds exactly
 * if the resource is served, or the node emitted.
 */

import { isDynamic, isDynamicMember } from '../mapping/children.ts';
import { isWhole } from '../mapping/codecs/number.ts';
import type { Clock } from '../mapping/criterion.ts';
import { type IdPart, idFits, UUID_PATTERN } from '../mapping/id-rule.ts';
import type { JoinColumn, Mapping, Member, Node, ObjectNode, Pieces, RefNode, ValueNode } from '../mapping/model.ts';
import { isResourceType } from '../r4/definitions.ts';
import { holdsAnyNumber, UNICODE } from '../sql/column-type.ts';
import {
  among,
  and,
  call,
  compare,
  constant,
  equals,
  exists,
  filled,
  glob,
  hasValue,
  isNull,
  not,
  or,
  TRUE,
} from '../sql/construct.ts';
import type { ColumnExpression, Expression, Predicate } from '../sql/expression.ts';
import { type Identifier, identifier } from '../sql/identifier.ts';
import { familyOf } from '../sql/parameter-type.ts';
import { renameExpression, renamePredicate, renameRelation } from '../sql/rename.ts';
import { bareRelation, conditionPredicate, joinEquals, scopeRelation } from './condition.ts';
import { complement, type Environment, remembered } from './environment.ts';

/** The rows of the source that are resources: `where`, one-per anchors, `needs`, and an id that can be written. */
export const servedPredicate = remembered(
  (mapping: Mapping, env): Predicate =>
    and(
      env.rules.sourceFilter ? conditionPredicate(mapping.source.where, env) : TRUE,
      ...mapping.needs.map(need => presentPredicate(need, env)),
      idPresent(mapping),
      anchorPredicate(mapping, env),
    ),
);

/**
 * True if some alternative of the id rule can be written: text keys contain only characters of FHIR ids, and the id is
 * not too long.
 */
function idPresent(mapping: Mapping): Predicate {
  return or(...mapping.id.alternatives.map(parts => idPartsPresent(parts)));
}

export function idPartsPresent(parts: readonly IdPart[]): Predicate {
  return and(idPartsFilled(parts), idFits(parts));
}

/** True if all keys of an alternative of the id rule have a value, with only characters that an id may have. */
function idPartsFilled(parts: readonly IdPart[]): Predicate {
  return and(
    ...parts.map(part => {
      if (part.kind === 'literal') return TRUE;
      // Ids contain whole numbers only.
      if (part.column.type.kind === 'float' || holdsAnyNumber(part.column.type)) return isWhole(part.column);
      // A binary that does not have 16 bytes is no UUID.
      if (part.column.type.kind === 'binary') return not(isNull(call('uuid', [part.column], UNICODE)));
      if (part.column.type.kind !== 'text') return not(isNull(part.column));
      if (part.codec.isUuid) return glob(part.column, UUID_PATTERN);
      return part.codec.name === 'plain'
        ? and(filled(part.column), not(glob(part.column, '*[^-A-Za-z0-9.]*')))
        : filled(part.column);
    }),
  );
}

/** True if no row with the same one-per columns and a lower key passes `where`. */
function anchorPredicate(mapping: Mapping, env: Environment): Predicate {
  const { source } = mapping;
  if (source.onePer.length === 0 || !env.rules.anchor) return TRUE;
  const { relation, aliases } = renameRelation(scopeRelation(source, TRUE, env, [...source.onePer, ...source.key]));
  const other = (column: Expression): Expression => renameExpression(column, aliases);
  const lower = or(
    ...source.key.map((column, i) =>
      and(...source.key.slice(0, i).map(k => equals(other(k), k)), compare(other(column), '<', column)),
    ),
  );
  const same = source.onePer.map(column => equals(other(column), column));
  return not(exists({ ...relation, where: and(relation.where, ...same, lower) }));
}

/**
 * Returns the target's served rows where theirs = ours and that are `wanted`. The target's aliases are renamed;
 * `aliases` maps old to new. Joins the lookups that `wanted` or `expressions` refer to. Throws a RangeError if mappings
 * need each other in a circle.
 */
export function targetRelation(
  mapping: Mapping,
  on: readonly JoinColumn[],
  env: Environment,
  expressions: readonly Expression[] = [],
  wanted: Predicate = TRUE,
): ReturnType<typeof renameRelation> {
  const where = and(env.rules.targetFilter ? servedPredicate(mapping, env) : TRUE, wanted);
  const bare = bareRelation(mapping.source, where, env, [...expressions, ...on.map(({ theirs }) => theirs)]);
  const { relation, aliases } = renameRelation(bare);
  const joined = on.map(({ theirs, ours }) => equals(renameExpression(theirs, aliases), ours));
  return { aliases, relation: { ...relation, where: and(...joined, relation.where) } };
}

/** True if the node is emitted for a row. */
export const presentPredicate = remembered(
  (node: Node, env): Predicate => and(node.if ? conditionPredicate(node.if, env) : TRUE, presentWithoutIf(node, env)),
);

function presentWithoutIf(node: Node, env: Environment): Predicate {
  switch (node.kind) {
    case 'constant':
      return TRUE;
    case 'value':
      return and(node.codec.present(node.from, env), notAbsent(node, env));
    case 'object':
      return objectPresent(node, undefined, env);
    case 'list':
      return or(...node.items.map(item => presentPredicate(item, env)));
    case 'each':
      return eachPredicate(node, presentPredicate(node.item, env), env);
    case 'lines':
      return presentPredicate(node.each, env);
    case 'first':
      return or(...node.alternatives.map(alternative => presentPredicate(alternative, env)));
    case 'ref':
      return refPresent(node, env);
    case 'text': {
      const parts = node.parts.flatMap(part => (typeof part === 'string' ? [] : [presentPredicate(part, env)]));
      return node.mode === 'template' ? and(...parts) : or(...parts);
    }
  }
}

/** True if the raw value is none of those that mean "no value". */
export function notAbsent(node: ValueNode, env: Environment): Predicate {
  const [column] = node.from;
  if (!column || node.absent.length === 0 || !env.rules.absence) return TRUE;
  return not(
    among(
      column,
      node.absent.map(raw => constant(raw, column.type)),
    ),
  );
}

/**
 * True if each needed child exists, and some child that is not constant. `matched` is a member that another predicate
 * already requires to exist.
 */
export function objectPresent(node: ObjectNode, matched: string | undefined, env: Environment): Predicate {
  // A resource exists if its row is served, and that predicate has already checked its needs.
  if (!env.rules.objectGuard || isResourceType(node.type)) return TRUE;
  // Constant parts of `meta` count too, even if nothing in it comes from the row.
  if (node.type === 'Meta') return or(...node.members.map(member => anyPresent(member, env)));
  const needs = node.needs.filter(name => name !== matched).map(name => memberPresent(node, name, env));
  const implied =
    matched !== undefined && node.members.some(m => m.kind === 'element' && m.name === matched && isDynamic(m.node));
  const needed = node.needs.some(name =>
    node.members.some(m => m.kind === 'element' && m.name === name && isDynamic(m.node)),
  );
  const dynamic = node.members.filter(isDynamicMember);
  if (implied || needed) return and(...needs);
  return and(...needs, or(...(dynamic.length > 0 ? dynamic : node.members).map(member => anyPresent(member, env))));
}

function memberPresent(node: ObjectNode, name: string, env: Environment): Predicate {
  return or(
    ...node.members.flatMap(member => {
      if (member.kind === 'element') return member.name === name ? [presentPredicate(member.node, env)] : [];
      return member.alternatives.flatMap((alternative, i) => {
        const child = alternative.find(named => named.name === name);
        return child ? [and(earlierAbsent(member, i, env), presentPredicate(child.node, env))] : [];
      });
    }),
  );
}

function anyPresent(member: Member, env: Environment): Predicate {
  if (member.kind === 'element') return presentPredicate(member.node, env);
  return or(...member.alternatives.map((_, i) => alternativePresent(member, i, env)));
}

/** True if an alternative of a choice is present: a named element that is not constant exists, or all are constant. */
function alternativePresent(member: Member & { readonly kind: 'choice' }, index: number, env: Environment): Predicate {
  const nodes = (member.alternatives[index] ?? []).map(named => named.node);
  const dynamic = nodes.filter(isDynamic);
  return or(...(dynamic.length > 0 ? dynamic : nodes).map(node => presentPredicate(node, env)));
}

export function earlierAbsent(
  member: Member & { readonly kind: 'choice' },
  index: number,
  env: Environment,
): Predicate {
  if (!env.rules.firstExcludes) return TRUE;
  return and(...member.alternatives.slice(0, index).map((_, i) => complement(alternativePresent(member, i, env), env)));
}

/** True if some item of an `each` satisfies a predicate on its row or piece. */
export function eachPredicate(node: Node & { readonly kind: 'each' }, item: Predicate, env: Environment): Predicate {
  const { from } = node;
  if (item.kind === 'false') return item;
  if (from.kind === 'pieces') {
    return somePiece(from, item, env);
  }
  const on = from.on.map(joinEquals);
  return exists(scopeRelation(from.scope, and(...on, item), env));
}

/** True if some piece of a column satisfies a predicate on its parts and on the lookups by them. */
export function somePiece(pieces: Pieces, item: Predicate, clock: Clock): Predicate {
  const { column: of, by, alias, lookups = [] } = pieces;
  const piece = { table: { name: alias }, alias, where: { kind: 'always' }, lookups } as const;
  const { joins } = bareRelation(piece, item, clock);
  const whole = joins.map(join => ({ ...join, on: inWholePiece(pieces, join.on) }));
  return {
    ...{ kind: 'some-piece', of, by, alias, where: piecePredicate(pieces, item), not: false },
    ...(whole.length > 0 ? { joins: whole } : {}),
  };
}

/** Returns the item's predicate on a whole piece; a piece that lacks a separator makes no item. */
function piecePredicate(pieces: Pieces, item: Predicate): Predicate {
  if (pieces.between.length === 0) return item;
  return and(not(isNull(partsOfPiece(pieces).rest)), inWholePiece(pieces, item));
}

function inWholePiece(pieces: Pieces, of: Predicate): Predicate {
  return pieces.between.length === 0 ? of : renamePredicate(of, partsOfPiece(pieces).replaced);
}

/** Rewrites an expression on the named parts of a piece as one on the whole piece. */
export function pieceExpression(pieces: Pieces, of: Expression): Expression {
  return pieces.between.length === 0 ? of : renameExpression(of, partsOfPiece(pieces).replaced);
}

/** Cuts a piece at the separators; the last part takes the rest. A part is NULL if its separator is missing. */
function partsOfPiece({ alias, parts, between }: Pieces): {
  readonly rest: Expression;
  readonly replaced: ReadonlyMap<Identifier, (column: ColumnExpression) => Expression>;
} {
  let rest: Expression = { kind: 'column', alias, column: identifier('piece'), type: UNICODE };
  const columns = new Map<string, Expression>();
  for (const [i, separator] of between.entries()) {
    const cut = [rest, constant(separator, UNICODE)];
    columns.set(parts[i] ?? '', call('trim', [call('before', cut, UNICODE)], UNICODE));
    rest = call('after', cut, UNICODE);
  }
  columns.set(parts.at(-1) ?? '', call('trim', [rest], UNICODE));
  return { rest, replaced: new Map([[alias, column => columns.get(column.column) ?? column]]) };
}

function refPresent(node: RefNode, env: Environment): Predicate {
  if (!node.exists) return and(...node.on.map(joinsNumber), ownIdPresent(node, env));
  const there = exists(targetRelation(env.registry.mapping(node.target), node.on, env).relation);
  return there.kind === 'exists' ? { ...there, byRow: true } : there;
}

/** True if our side has a value. A text that joins a number must be one that the dialects' `cast` reads as a number. */
function joinsNumber({ theirs, ours }: JoinColumn): Predicate {
  if (ours.type.kind !== 'text' || familyOf(theirs.type) !== 'number') return hasValue(ours);
  if (theirs.type.kind !== 'integer') return not(isNull(call('number', [ours], theirs.type)));
  return and(or(glob(ours, '[0-9]*'), glob(ours, '-[0-9]*')), not(glob(ours, '?*[^0-9]*')));
}

/** True if the id made of our columns alone can be written. Only texts and bytes need the check. */
function ownIdPresent({ on, target }: RefNode, env: Environment): Predicate {
  const mayBeNone = (kind: 'text' | 'binary'): boolean =>
    on.some(({ theirs, ours }) => theirs.type.kind === kind && ours.type.kind === kind);
  if (!mayBeNone('text') && !mayBeNone('binary')) return TRUE;
  const oursOf = ({ alias, column }: ColumnExpression): ColumnExpression | undefined =>
    on.find(({ theirs }) => theirs.alias === alias && theirs.column === column)?.ours;
  const { alternatives } = env.registry.mapping(target).id;
  return or(
    ...alternatives.map(parts =>
      idPartsPresent(
        parts.map(part => (part.kind === 'column' ? { ...part, column: oursOf(part.column) ?? part.column } : part)),
      ),
    ),
  );
}
