/**
 * V8, expressions that only the engine can read. In: the values of the mappings. Out: errors for those that it refuses,
 * be it for how they are written or for what they meet in some row: each such row would fail every search that reads it.
 */
import { isNull } from '../../sql/construct.ts';
import { DatabaseError } from '../../sql/database.ts';
import type { Report } from '../load/problem.ts';
import type { ScopedValue } from './parts.ts';
import { type Asking, countRows, isClosed } from './questions.ts';

/** Has each `sql` of a scope worked out for all of its rows. */
export async function checkExpressions(values: readonly ScopedValue[], asking: Asking, report: Report): Promise<void> {
  for (const { scope, node } of values) {
    const raw = node.from.filter(from => from.kind === 'raw');
    if (raw.length === 0 || !isClosed(scope)) continue;
    try {
      for (const expression of raw) await countRows(asking, scope, isNull(expression));
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.reason !== 'failed') throw error;
      report.error(node.at, `the database cannot work out this \`sql\`: ${error.message}`);
    }
  }
}
