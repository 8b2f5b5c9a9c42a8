/**
 * Which columns parts of a query refer to. In: predicates and expressions. Out: every column in them, those inside nested
 * relations included.
 */
import type { ColumnExpression, Expression, Predicate, Relation } from './expression.ts';
import type { Identifier } from './identifier.ts';

export interface Parts {
  readonly predicates?: readonly Predicate[];
  readonly expressions?: readonly Expression[];
}

/** Calls `see` for every column; relations that `enters` refuses are passed by, with what is selected from them. */
export function eachColumn(
  { predicates, expressions }: Parts,
  see: (column: ColumnExpression) => void,
  enters: (relation: Relation) => boolean = () => true,
): void {
  const seeExpression = (x: Expression): void => {
    switch (x.kind) {
      case 'column':
        see(x);
        return;
      case 'value':
        return;
      case 'function':
        for (const a of x.args) if (typeof a !== 'number') seeExpression(a);
        return;
      case 'flag':
        seePredicate(x.when);
        return;
      case 'given':
        seePredicate(x.when);
        seeExpression(x.of);
        return;
      case 'scalar':
        if (!enters(x.from)) return;
        seeExpression(x.select);
        seeRelation(x.from);
        for (const { by } of x.order ?? []) seeExpression(by);
        return;
      case 'raw':
        for (const p of x.parts) if (typeof p !== 'string') seeExpression(p);
        return;
    }
  };
  const seeRelation = (r: Relation): void => {
    if (!enters(r)) return;
    seePredicate(r.where);
    for (const { on, pick = [] } of r.joins) {
      seePredicate(on);
      for (const { by } of pick) seeExpression(by);
    }
  };
  const seePredicate = (p: Predicate): void => {
    switch (p.kind) {
      case 'true':
      case 'false':
        return;
      case 'and':
      case 'or':
        p.of.forEach(seePredicate);
        return;
      case 'compare':
      case 'equals':
        seeExpression(p.left);
        seeExpression(p.right);
        return;
      case 'in':
        seeExpression(p.left);
        p.values.forEach(seeExpression);
        return;
      case 'exists':
        seeRelation(p.from);
        return;
      case 'some-piece':
        seeExpression(p.of);
        seePredicate(p.where);
        return;
      case 'raw':
        for (const part of p.parts) if (typeof part !== 'string') seeExpression(part);
        return;
      default:
        seeExpression(p.of);
    }
  };
  predicates?.forEach(seePredicate);
  expressions?.forEach(seeExpression);
}

/**
 * The columns of a join of `relation` that the rest of its query refers to, each once. `outside` is what is selected from the
 * relation and sorted by. A nested relation may use the alias again, for a table of its own.
 */
export function columnsUsed(
  alias: Identifier,
  relation: Relation,
  outside: readonly Expression[],
): readonly Identifier[] {
  const found = new Map<string, Identifier>();
  const others = relation.joins.filter(join => join.alias !== alias);
  eachColumn(
    {
      predicates: [relation.where, ...others.map(join => join.on)],
      expressions: [...outside, ...others.flatMap(join => join.pick?.map(({ by }) => by) ?? [])],
    },
    column => {
      const name = column.column.toLowerCase();
      if (column.alias === alias && !found.has(name)) found.set(name, column.column);
    },
    inner => inner.alias !== alias && inner.joins.every(join => join.alias !== alias),
  );
  return [...found.values()];
}
