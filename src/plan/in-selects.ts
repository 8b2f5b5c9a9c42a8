/**
 * Rewrites an EXISTS as a list of values from the referring rows, for few rows that an index finds, such as a patient's
 * record: the engine reads those rows once, where it would evaluate an EXISTS for each of our rows. In: rows, one part
 * of whose condition compares them with outer columns. Out: the same as a list of values that our column must be in; a
 * list of texts that numbers of ours must be in is cast.
 */
import { getOrInsert } from '../common/caches.ts';
import { type ColumnType, isSmallUuid } from '../sql/column-type.ts';
import { and, conjuncts, inSelects, or } from '../sql/construct.ts';
import type { Expression, Predicate, Relation, SubSelect } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Identifier } from '../sql/identifier.ts';
import { freeAliases } from './bounds.ts';
import { childFirst } from './child-first.ts';

/** A sub-select of values that `ours` is compared with. */
interface Link extends SubSelect {
  readonly ours: Expression;
}

/** Limit of sub-selects that one relation may become. */
const LINKS_AT_MOST = 64;

/**
 * Rewrites the relation. `outside`: aliases of our columns. Undefined unless they are compared unchanged with one
 * column of each row, or one cast to our number.
 */
export function inSelectsOf(rows: Relation, outside: ReadonlySet<Identifier>): Predicate | undefined {
  const links = linksOf(rows, outside);
  return links && links.length <= LINKS_AT_MOST
    ? joinedInSelects(links.map(one => inSelects(one.ours, [one])))
    : undefined;
}

/** Joins the parts by OR. Lists that the same expression is compared with become one list, which comes first. */
export function joinedInSelects(parts: readonly Predicate[]): Predicate {
  const lists = new Map<string, { readonly left: Expression; readonly of: SubSelect[] }>();
  const others: Predicate[] = [];
  for (const part of parts.flatMap(part => (part.kind === 'or' ? part.of : [part]))) {
    if (part.kind !== 'in-selects' || part.not) {
      others.push(part);
      continue;
    }
    const key = expressionKey(part.left);
    const list = getOrInsert(lists, key, () => ({ left: part.left, of: [] }));
    list.of.push(...part.of);
  }
  return or(...[...lists.values()].map(({ left, of }) => inSelects(left, of)), ...others);
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
      return each.every(links => links !== undefined) ? each.flat() : undefined;
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
  if (!not && castsReferring({ kind: 'equals', left, right, not }, outside))
    return [{ ours: left, select: right, from }];
  // In references the left column is the referring row's, and the right one is ours (referring.ts).
  if (not || !isColumns || outside.has(left.alias) || !isComparedAlike(left.type, right.type)) return undefined;
  return [{ ours: right, select: left, from }];
}

/** True if a number of ours equals a text of the referring row, which is cast: no index finds the row by it. */
export function castsReferring(part: Predicate, outside: ReadonlySet<Identifier>): boolean {
  if (part.kind !== 'equals' || part.left.kind !== 'column' || part.right.kind !== 'column') return false;
  return outside.has(part.left.alias) && NUMBERS.has(part.left.type.kind) && part.right.type.kind === 'text';
}

const NUMBERS: ReadonlySet<ColumnType['kind']> = new Set(['integer', 'decimal', 'float']);

/** True if neither side is cast, and the engine compares them in a list of values exactly as one by one. */
export function isComparedAlike(one: ColumnType, other: ColumnType): boolean {
  return one.kind === other.kind && ALIKE.has(one.kind) && isSmallUuid(one) === isSmallUuid(other);
}

const ALIKE: ReadonlySet<ColumnType['kind']> = new Set(['integer', 'decimal', 'float', 'text', 'uuid']);
