/**
 * Rewrites an EXISTS as a list of values from the referring rows, for few rows that an index finds, such as a
 * patient's record: the engine reads those rows once, where it would evaluate an EXISTS anew for each of our rows. In:
 * rows of which some satisfies a condition with outer columns. Out: the same as values that our column is one of.
 */
import { type ColumnType, isSmallUuid } from '../sql/column-type.ts';
import { and, conjuncts, or, taken } from '../sql/construct.ts';
import type { Expression, Predicate, Relation, Taken } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Identifier } from '../sql/identifier.ts';
import { freeAliases } from './bounds.ts';
import { childFirst } from './child-first.ts';

/** Values of `select`, of which `ours` is to be one. */
interface Link extends Taken {
  readonly ours: Expression;
}

/** Sub-selects that one relation may become. */
const LINKS_AT_MOST = 64;

/**
 * `outside`: aliases of our columns. Undefined where they are not compared as they stand with one column of each row.
 */
export function takenFrom(rows: Relation, outside: ReadonlySet<Identifier>): Predicate | undefined {
  const links = linksOf(rows, outside);
  return links && links.length <= LINKS_AT_MOST ? togetherTaken(links.map(one => taken(one.ours, [one]))) : undefined;
}

/** An OR in which the lists that one expression is compared with are one list, which stands first. */
export function togetherTaken(parts: readonly Predicate[]): Predicate {
  const lists = new Map<string, { readonly left: Expression; readonly of: Taken[] }>();
  const others: Predicate[] = [];
  for (const part of parts.flatMap(part => (part.kind === 'or' ? part.of : [part]))) {
    if (part.kind !== 'taken' || part.not) {
      others.push(part);
      continue;
    }
    const key = expressionKey(part.left);
    const list = lists.get(key) ?? { left: part.left, of: [] };
    lists.set(key, list);
    list.of.push(...part.of);
  }
  return or(...[...lists.values()].map(({ left, of }) => taken(left, of)), ...others);
}

function linksOf(rows: Relation, outside: ReadonlySet<Identifier>): readonly Link[] | undefined {
  const parts = conjuncts(rows.where);
  const isLinked = (part: Predicate): boolean => [...freeAliases(part)].some(alias => outside.has(alias));
  if (rows.joins.some(({ on }) => isLinked(on))) return undefined;
  const [link, ...more] = parts.filter(isLinked);
  if (!link || more.length > 0) return undefined;
  const rest = parts.filter(part => part !== link);
  switch (link.kind) {
    case 'equals':
      return linkOf(link, { ...rows, where: and(...rest) }, outside);
    case 'or': {
      const each = link.of.map(part => linksOf({ ...rows, where: and(...rest, part) }, outside));
      const known = each.filter(links => links !== undefined);
      return known.length === each.length ? known.flat() : undefined;
    }
    case 'exists': {
      const turned = childFirst(rows, outside);
      return turned === rows ? undefined : linksOf(turned, outside);
    }
    default:
      return undefined;
  }
}

function linkOf(
  { left, right, not }: Extract<Predicate, { kind: 'equals' }>,
  from: Relation,
  outside: ReadonlySet<Identifier>,
): readonly Link[] | undefined {
  const isColumns = left.kind === 'column' && right.kind === 'column';
  // References compare the column of the referring row, on the left, with ours (referring.ts).
  if (not || !isColumns || outside.has(left.alias) || !isComparedAlike(left.type, right.type)) return undefined;
  return [{ ours: right, select: left, from }];
}

/**
 * Neither side is cast, and the engine compares them as a list of values in the way that it compares them one by one.
 */
export function isComparedAlike(one: ColumnType, other: ColumnType): boolean {
  return one.kind === other.kind && ALIKE.has(one.kind) && isSmallUuid(one) === isSmallUuid(other);
}

const ALIKE: ReadonlySet<ColumnType['kind']> = new Set(['integer', 'decimal', 'text', 'uuid']);
