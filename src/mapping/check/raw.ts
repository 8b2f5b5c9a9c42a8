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
import type { ScopedExpression } from './parts.ts';
import { type Asking, aliasesIn, countRows, isClosed } from './questions.ts';

/** Has each `sql` worked out for all rows of its scope, or for all pieces of the column that it stands in. */
export async function checkExpressions(
  expressions: readonly ScopedExpression[],
  asking: Asking,
  report: Report,
): Promise<void> {
  for (const asked of expressions) {
    const { scope, node } = asked;
    if (!isClosed(scope)) continue;
    const raw = node.from.filter(from => from.kind === 'raw');
    const among = askedOf(raw, asked, asking);
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

/** How a question of expressions is asked of a row: by itself, or of some piece. Undefined: they read other rows than these. */
function askedOf(
  expressions: readonly Expression[],
  { scope, pieces }: ScopedExpression,
  asking: Asking,
): ((where: Predicate) => Predicate) | undefined {
  const own = new Set<string>(aliasesIn(scope));
  const others = [...aliasesOf({ expressions })].filter(alias => !own.has(alias));
  if (others.length === 0) return where => where;
  if (pieces === undefined || others.some(alias => alias !== pieces.alias)) return undefined;
  return where => (where.kind === 'false' ? FALSE : asking.readPiece(pieces, where));
}
