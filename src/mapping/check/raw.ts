/**
 * V8, expressions that only the engine can read. In: the `sql` values of the mappings, those in earlier alternatives too. Out:
 * errors for those that the engine refuses, be it for how they are written or for what they meet in some row: each such row
 * would fail every search that reads it. Warnings for those that give no value in any row.
 */
import { counted } from '../../counted.ts';
import { aliasesOf } from '../../sql/columns-used.ts';
import { FALSE, isNull, TRUE } from '../../sql/construct.ts';
import { DatabaseError } from '../../sql/database.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import type { Report } from '../load/problem.ts';
import type { Pieces } from '../model.ts';
import type { ScopedExpression } from './parts.ts';
import { type Asking, countRows, isClosed } from './questions.ts';

/** Has each `sql` worked out for all rows of its scope, or for all pieces of the column that it stands in. */
export async function checkExpressions(
  expressions: readonly ScopedExpression[],
  asking: Asking,
  report: Report,
): Promise<void> {
  for (const { scope, node, pieces } of expressions) {
    if (!isClosed(scope)) continue;
    const raw = node.from.filter(from => from.kind === 'raw');
    const among = piecesOf(raw, pieces);
    if (among === undefined) continue;
    try {
      for (const expression of raw) await countRows(asking, scope, among(isNull(expression)));
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.reason !== 'failed') throw error;
      report.error(node.at, `the database cannot work out this \`sql\`: ${error.words ?? error.message}`);
      continue;
    }
    const given = node.codec.present(node.from, asking.clock);
    if ((await countRows(asking, scope, among(given))) > 0) continue;
    const rows = await countRows(asking, scope, among(TRUE));
    if (rows > 0) report.warning(node.at, `this \`sql\` gives no value in any of ${counted(rows, 'row')}`);
  }
}

/** How a question of an expression is asked of a row: by itself, or of some piece. Undefined: it uses parts of a piece. */
function piecesOf(
  expressions: readonly Expression[],
  pieces: Pieces | undefined,
): ((where: Predicate) => Predicate) | undefined {
  const aliases = aliasesOf({ expressions });
  if (pieces === undefined || !aliases.has(pieces.alias)) return where => where;
  const { column: of, by, alias, between } = pieces;
  if (between.length > 0) return undefined;
  return where => (where.kind === 'false' ? FALSE : { kind: 'some-piece', of, by, alias, where, not: false });
}
