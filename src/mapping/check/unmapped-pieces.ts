/**
 * Counts pieces of split columns for which a code map or lookup has no row. In: the values and the pieces of the
 * mappings.
 * Out: warnings with the number of rows. A piece is not shown, because it may be a patient's data.
 */
import { plural } from '../../common/plural.ts';
import { and, filled, isNull, not } from '../../sql/construct.ts';
import type { ColumnExpression, Predicate } from '../../sql/expression.ts';
import { codeMapOf } from '../load/codes/origin.ts';
import type { Pieces, Position } from '../model.ts';
import { notAbsent } from './code-reads.ts';
import type { Parts, ScopedPieces, ScopedValue } from './parts.ts';
import { askedAt, type Checking, countRows, isOwn } from './questions.ts';

/** A code map that reads a piece. */
interface CodeOnPiece extends ScopedValue {
  readonly pieces: Pieces;
  readonly column: ColumnExpression;
  readonly origin: NonNullable<ReturnType<typeof codeMapOf>>;
  /** A later alternative replaces what the map does not know. */
  readonly hasElse: boolean;
}

/**
 * Counts pieces that no code map knows. All maps that read the pieces of a column count together, because one may have
 * the groups and another the details, or be an alternative for the rest. Maps that all have another alternative behind
 * them are not counted.
 */
export async function checkCodesOfPieces({ values, replaced }: Parts, asking: Checking): Promise<void> {
  const reads = [
    ...values.map(one => ({ ...one, hasElse: false })),
    ...replaced.map(one => ({ ...one, hasElse: true })),
  ];
  const found = reads.flatMap(({ pieces, ...read }): readonly CodeOnPiece[] => {
    const origin = codeMapOf(read.node.codec);
    const [column] = read.node.from;
    return origin && column?.kind === 'column' && pieces && column.alias === pieces.alias
      ? [{ ...read, pieces, column, origin }]
      : [];
  });
  const splitOf = ({ scope, pieces: { column: of, by }, column }: CodeOnPiece): string =>
    [scope.table.name, scope.alias, of.alias, of.column, by, column.column].join('|');
  for (const group of Map.groupBy(found, splitOf).values()) {
    if (group.some(({ hasElse }) => !hasElse)) await reportGroup(group, asking);
  }
}

async function reportGroup(group: readonly CodeOnPiece[], asking: Checking): Promise<void> {
  const first = group.find(({ hasElse }) => !hasElse);
  if (!first || !isOwn(first.pieces.column, first.scope)) return;
  const { scope, node, pieces, column } = first;
  const where = and(filled(column), notAbsent(column, node), ...group.map(({ origin }) => not(origin.known(column))));
  const [name, ...others] = new Set(group.map(({ origin }) => origin.name));
  const lacks =
    others.length === 0
      ? `code map ${name} has no row`
      : `none of the code maps ${[name, ...others].join(', ')} has a row`;
  await askedAt(node.at, asking, () => warnOfRows({ lacks, pieces, at: node.at }, { scope, where }, asking));
}

/** Counts rows with a piece for which a lookup, or every lookup of a code map, finds no row. */
export async function checkPieces(
  { scope, pieces, lookups, codeMap, at }: ScopedPieces,
  asking: Checking,
): Promise<void> {
  if (!isOwn(pieces.column, scope)) return;
  const where = and(
    ...lookups.flatMap(({ on }) => [
      ...on.map(({ ours }) => filled(ours)),
      ...on.slice(0, 1).map(({ theirs: { notNull: _, ...theirs } }) => isNull(theirs)),
    ]),
  );
  const lacks = codeMap === undefined ? `lookup ${lookups[0]?.alias} has no row` : `code map ${codeMap} has no row`;
  await warnOfRows({ lacks, pieces: { ...pieces, lookups }, at }, { scope, where }, asking);
}

async function warnOfRows(
  { lacks, pieces, at }: { readonly lacks: string; readonly pieces: Pieces; readonly at: Position },
  { scope, where }: { readonly scope: ScopedPieces['scope']; readonly where: Predicate },
  asking: Checking,
): Promise<void> {
  const rows = await countRows(asking, scope, asking.readPiece(pieces, where, asking.clock));
  const { column } = pieces.column;
  if (rows > 0)
    asking.report.warning('unmapped-code', at, `${lacks} for a piece of ${column} in ${plural(rows, 'row')}`);
}
