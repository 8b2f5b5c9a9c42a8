/**
 * Finds rows that other rows refer to. In: a mapping, another one, and the references from the second to the first.
 * Out: a Predicate that holds for the rows of the first that some row of the second refers to.
 */
import type { Mapping, RefNode } from '../mapping/model.ts';
import type { SearchPath } from '../r4/search-parameters.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { and, conjuncts, exists, FALSE, factor, or, some } from '../sql/construct.ts';
import type { Predicate, Relation } from '../sql/expression.ts';
import { type Identifier, identifier } from '../sql/identifier.ts';
import { renameExpression, renamePredicate, renameRelation } from '../sql/rename.ts';
import { childFirst, mentions } from './child-first.ts';
import { bareRelation } from './condition.ts';
import type { Environment } from './environment.ts';
import { castsReferring, inSelectsOf } from './in-selects.ts';
import { equalsOurs } from './key.ts';
import { along } from './walk.ts';

export interface References {
  readonly paths: readonly SearchPath[];
  /** The references that count; default: all on the paths that lead to the mapping. */
  readonly nodes?: ReadonlySet<RefNode>;
  /** A further condition on the referring row. */
  readonly where: Predicate;
}

/** Compares the referring columns with ours. Undefined if SQL cannot express the references. */
export function whereReferring(
  mapping: Mapping,
  source: Mapping,
  { paths, nodes }: Pick<References, 'paths' | 'nodes'>,
  env: Environment,
): Predicate | undefined {
  const { outside } = aliasesOf(mapping);
  const refersHere: Leaf = node =>
    node.kind === 'ref' && node.target === mapping.name && (nodes === undefined || nodes.has(node))
      ? and(...node.on.map(pair => equalsOurs(pair, renameExpression(pair.theirs, outside))))
      : FALSE;
  return some(paths.map(path => along(source.root, path, refersHere, env)));
}

/** Matches if some row of `source` refers to our row and satisfies `where`; FALSE if SQL cannot express that. */
export function someReferring(mapping: Mapping, source: Mapping, references: References, env: Environment): Predicate {
  return someOfGroup(mapping, [{ source, ...references }], env);
}

/**
 * When the rows that refer to ours are read. `before`: once, because they are few and an index finds them. `for each`:
 * for each of our rows, because these are few. `by index`: for each of ours if an index leads back to them, else once.
 */
export type ReadReferring = 'before' | 'for each' | 'by index';

/** Likewise for mappings that read the same rows, if one of them makes a resource of the row. */
export function someOfGroup(
  mapping: Mapping,
  group: readonly (References & { readonly source: Mapping })[],
  env: Environment,
  read: ReadReferring = 'by index',
): Predicate {
  const parts = group.flatMap(({ source, where, ...references }) => {
    const refers = whereReferring(mapping, source, references, env) ?? FALSE;
    return refers.kind === 'false' || where.kind === 'false' ? [] : [and(where, refers)];
  });
  const [first] = group;
  if (parts.length === 0 || !first) return FALSE;
  const { inside } = aliasesOf(mapping);
  const { common, specific } = factor(parts);
  const rows = bareRelation(first.source.source, and(...common, or(...specific)), env);
  const { relation } = renameRelation(rows);
  const outside = new Set(inside.keys());
  const isOnce = read === 'before' || (read === 'by index' && isOneWay(relation, outside));
  const found = isOnce ? inSelectsOf(relation, outside) : undefined;
  return renamePredicate(found ?? exists(childFirst(relation, outside), { searches: true }), inside);
}

/**
 * True if the column that refers to us is cast, or belongs to a row that a lookup picks among several or finds by a
 * computed key. No index leads from there back to the referring rows, so an EXISTS would read all of them for each of
 * our rows.
 */
function isOneWay({ joins, where }: Relation, outside: ReadonlySet<Identifier>): boolean {
  const behind = new Set<Identifier>();
  for (const { alias, on, pick } of joins) {
    const byColumn = conjuncts(on).some(
      part => part.kind === 'equals' && part.left.kind === 'column' && part.right.kind === 'column',
    );
    if (pick || !byColumn || mentions(on, behind)) behind.add(alias);
  }
  return conjuncts(where).some(
    part => mentions(part, outside) && (mentions(part, behind) || castsReferring(part, outside)),
  );
}

/** Renames our aliases, so that those of the referring rows do not hide them; `inside` maps them back. */
function aliasesOf({ source }: Mapping): {
  readonly outside: ReadonlyMap<Identifier, Identifier>;
  readonly inside: ReadonlyMap<Identifier, Identifier>;
} {
  const own = [source.alias, ...source.lookups.map(({ alias }) => alias)];
  const outside = new Map(own.map(alias => [alias, identifier(`outer_${alias}`)]));
  return { outside, inside: new Map([...outside].map(([alias, outer]) => [outer, alias])) };
}
