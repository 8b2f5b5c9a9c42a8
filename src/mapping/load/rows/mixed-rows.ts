/**
 * Finds expressions over columns of two different rows. Rows of an `each` are fetched by a statement of their own, so
 * `sql`, `exists`, `on` and `where` can use the columns of one row only. In: the source and nodes of a mapping. Out:
 * problems at the lines of the nodes.
 */
import type { ColumnExpression } from '../../../sql/expression.ts';
import type { Identifier } from '../../../sql/identifier.ts';
import { childrenOf, columnsOf, type Test, testsIn } from '../../children.ts';
import type { Condition, EachNode, JoinColumn, Node, Scope } from '../../model.ts';
import { rowsOfLookups } from '../../piece-lookups.ts';
import type { Report } from '../problem.ts';

/** A row that a node can use, the pieces of one of its columns, or a row that a piece looks up. */
interface Level {
  readonly kind: 'rows' | 'pieces' | 'looked';
  readonly aliases: ReadonlySet<Identifier>;
}

const SQL = '`sql`';

/** Reports each node that mixes rows, once. */
export function checkMixedRows(source: Scope, nodes: readonly Node[], report: Report): void {
  const reported = new Set<Node>();
  const reportMix = (
    node: Node,
    levels: readonly Level[],
    columns: readonly ColumnExpression[],
    what: string,
  ): void => {
    const mixed = problemWith(levels, columns, what === SQL);
    if (mixed === undefined || reported.has(node)) return;
    reported.add(node);
    report.error('wrong-condition', node.at, `${what} ${mixed.problem}`, {
      expected: mixed.expected,
      found: namesOf(columns),
    });
  };
  const visit = (node: Node, levels: readonly Level[]): void => {
    const isPiece = ({ alias }: ColumnExpression): boolean =>
      levels.some(({ kind, aliases }) => kind === 'pieces' && aliases.has(alias));
    // A piece that cannot be joined has been reported at its place.
    for (const { joined, read } of existsIn(node.if))
      if (!joined.some(isPiece)) reportMix(node, levels, [...joined, ...read], '`exists`');
    if (node.kind === 'value') {
      for (const from of node.from) {
        const columns: ColumnExpression[] = [];
        if (from.kind === 'raw')
          for (const part of from.parts) if (typeof part !== 'string' && part.kind === 'column') columns.push(part);
        reportMix(node, levels, columns, SQL);
      }
    }
    if (node.kind === 'ref' && node.exists) {
      const ours = node.on.map(one => one.ours);
      if (!ours.some(isPiece)) reportMix(node, levels, ours, '`on`');
    }
    if (node.kind === 'each') visit(node.item, [...levels, ...levelsOf(node, levels, reportMix)]);
    else for (const child of childrenOf(node)) visit(child, levels);
  };
  for (const node of nodes) visit(node, [{ kind: 'rows', aliases: aliasesIn(source) }]);
}

type ReportMix = (node: Node, levels: readonly Level[], columns: readonly ColumnExpression[], what: string) => void;

/** Returns the levels that an `each` opens. Checks the columns that lead to its rows. */
function levelsOf(node: EachNode, levels: readonly Level[], reportMix: ReportMix): readonly Level[] {
  const { from } = node;
  if (from.kind === 'pieces') {
    const looked = rowsOfLookups(from).flatMap(({ node: rows }) => levelsOf(rows, levels, reportMix));
    return [
      { kind: 'pieces', aliases: new Set([from.alias]) },
      ...looked.map(one => ({ ...one, kind: 'looked' as const })),
    ];
  }
  const { scope } = from;
  // Rows on pieces are read together with the row of the pieces. piecesJoined has checked them.
  const onPieces = from.on.some(({ ours }) =>
    levels.some(({ kind, aliases }) => kind === 'pieces' && aliases.has(ours.alias)),
  );
  if (!from.of && !onPieces) reportMix(node, levels.slice(-1), outside(from.on, levels.slice(-1)), '`on`');
  const own: Level = { kind: 'rows', aliases: aliasesIn(scope) };
  reportMix(node, [own], outsideOf(scope, own), '`where` or `lookup`');
  return [own];
}

/** Returns the columns of `on` that the directly enclosing row does not have. */
function outside(on: readonly JoinColumn[], levels: readonly Level[]): readonly ColumnExpression[] {
  const [own] = levels;
  return on.map(({ ours }) => ours).filter(({ alias }) => !own?.aliases.has(alias));
}

function problemWith(
  levels: readonly Level[],
  columns: readonly ColumnExpression[],
  isSql: boolean,
): { readonly problem: string; readonly expected: string } | undefined {
  if (columns.length === 0) return undefined;
  const owners = new Set(columns.map(({ alias }) => levels.findLast(({ aliases }) => aliases.has(alias))));
  // If the lookup finds no row, no statement has a row to compute the expression on.
  if (isSql && [...owners].some(owner => owner?.kind === 'looked')) {
    return { problem: 'uses a lookup of a piece', expected: 'codecs (`via`) on its columns' };
  }
  if ([...owners].some(owner => owner?.kind === 'pieces')) {
    return {
      problem: 'uses a piece of a column, which is split outside of SQL',
      expected: 'codecs (`via`), `parse`, or a `lookup` in the `each` of the pieces',
    };
  }
  if (owners.size === 1 && !owners.has(undefined)) return undefined;
  return {
    problem: 'uses columns of two different rows, which are read by separate statements',
    expected: 'columns of one row; a `lookup` adds columns of another row',
  };
}

function namesOf(columns: readonly ColumnExpression[]): string {
  return [...new Set(columns.map(({ alias, column }) => `${alias}.${column}`))].join(', ');
}

/** Columns of enclosing rows that an `exists` uses: in `on`, and elsewhere. */
interface Used {
  readonly joined: readonly ColumnExpression[];
  readonly read: readonly ColumnExpression[];
}

function existsIn(condition: Condition | undefined): readonly Used[] {
  return testsIn(condition).flatMap(test => (test.kind === 'exists' ? [usedBy(test)] : []));
}

function usedBy({ scope, on }: Test & { readonly kind: 'exists' }): Used {
  const own: Level = { kind: 'rows', aliases: aliasesIn(scope) };
  return { joined: outside(on, [own]), read: outsideOf(scope, own) };
}

/** Returns the columns in conditions and lookups of a scope that are not its own. */
function outsideOf(scope: Scope, own: Level): readonly ColumnExpression[] {
  const read = [
    ...columnsIn(scope.where),
    ...scope.lookups.flatMap(({ on, where }) => [...on.map(({ ours }) => ours), ...columnsIn(where)]),
  ];
  return read.filter(({ alias }) => !own.aliases.has(alias));
}

function columnsIn(condition: Condition): readonly ColumnExpression[] {
  return testsIn(condition).flatMap(test => {
    if (test.kind !== 'exists') return columnsOf(test);
    const { joined, read } = usedBy(test);
    return [...joined, ...read];
  });
}

function aliasesIn({ alias, lookups }: Scope): ReadonlySet<Identifier> {
  return new Set([alias, ...lookups.map(lookup => lookup.alias)]);
}
