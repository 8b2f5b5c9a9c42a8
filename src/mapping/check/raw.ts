/**
 * Checks `sql` expressions, which only the engine understands. In: the `sql` values of the mappings, with those
 * of alternatives. Out: an error if the engine refuses one, for its syntax or for some row, as that row would fail
 * every search; a warning if no row gives a value.
 */
import { plural } from '../../common/plural.ts';
import { isNull, TRUE } from '../../sql/construct.ts';
import { DatabaseError } from '../../sql/database.ts';
import { aliasesOf } from '../../sql/walk.ts';
import type { Report } from '../load/problem.ts';
import type { ScopedValue } from './parts.ts';
import { type Asking, aliasesIn, countRows, isClosed } from './questions.ts';

/** Has each `sql` worked out for all rows of its scope. */
export async function checkExpressions(
  expressions: readonly ScopedValue[],
  asking: Asking,
  report: Report,
): Promise<void> {
  for (const { scope, node } of expressions) {
    if (!isClosed(scope)) continue;
    const raw = node.from.filter(from => from.kind === 'raw');
    const own = new Set<string>(aliasesIn(scope));
    // Within an `each` it may be of a row around, among whose rows it is worked out where it stands.
    if ([...aliasesOf({ expressions: raw })].some(alias => !own.has(alias))) continue;
    try {
      for (const expression of raw) await countRows(asking, scope, isNull(expression));
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.reason !== 'failed') throw error;
      report.error(
        'statement-refused',
        node.at,
        `the database cannot work out this \`sql\`: ${error.words ?? error.message}`,
      );
      continue;
    }
    const given = node.codec.present(node.from, asking.clock);
    if ((await countRows(asking, scope, given)) > 0) continue;
    const rows = await countRows(asking, scope, TRUE);
    if (rows > 0) report.warning('never-used', node.at, `this \`sql\` gives no value in any of ${plural(rows, 'row')}`);
  }
}
