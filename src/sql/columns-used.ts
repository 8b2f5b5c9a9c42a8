/**
 * Collects the columns that parts of a query refer to. In: predicates, expressions and relations. Out: aliases, or the
 * columns of a join, including those inside nested relations.
 */
import type { Expression, Relation } from './expression.ts';
import type { Identifier } from './identifier.ts';
import { type Parts, walk } from './walk.ts';

/** All aliases that parts refer to. */
export function aliasesOf(parts: Parts): Set<Identifier> {
  const found = new Set<Identifier>();
  walk(parts, { column: ({ alias }) => void found.add(alias) });
  return found;
}

/**
 * The columns of a join of `relation` that the rest of its query refers to, each once. `outside` is what is selected
 * from the relation and sorted by. A nested relation may use the alias again, for a table of its own.
 */
export function columnsUsed(
  alias: Identifier,
  relation: Relation,
  outside: readonly Expression[],
): readonly Identifier[] {
  const found = new Map<string, Identifier>();
  const others = relation.joins.filter(join => join.alias !== alias);
  walk(
    {
      predicates: [relation.where, ...others.map(join => join.on)],
      expressions: [...outside, ...others.flatMap(join => join.pick?.map(({ by }) => by) ?? [])],
    },
    {
      column(column) {
        const name = column.column.toLowerCase();
        if (column.alias === alias && !found.has(name)) found.set(name, column.column);
      },
      enter: inner => inner.alias !== alias && inner.joins.every(join => join.alias !== alias),
    },
  );
  return [...found.values()];
}
