/**
 * Finds references that lead nowhere: not one row whose columns are filled finds a row of the target, so the join is
 * probably wrong. In: the references of the mappings. Out: warnings. A few rows without a target are normal.
 */
import { plural } from '../../common/plural.ts';
import { and, equals, exists, filled, isNull, not } from '../../sql/construct.ts';
import { renameExpression, renameRelation } from '../../sql/rename.ts';
import type { Report } from '../load/problem.ts';
import type { Registry, Scope } from '../model.ts';
import type { ScopedRef } from './parts.ts';
import { type Asking, countRows, isClosed, isOwn } from './questions.ts';

/** Some row of each reference finds its target. */
export async function checkTargets(
  refs: readonly ScopedRef[],
  registry: Registry,
  asking: Asking,
  report: Report,
): Promise<void> {
  for (const { scope, node } of refs) {
    const narrowed: Scope = node.if ? { ...scope, where: { kind: 'all', of: [scope.where, node.if] } } : scope;
    if (!isClosed(narrowed) || !node.on.every(({ ours }) => isOwn(ours, scope))) continue;
    const target = registry.mapping(node.target).source;
    const theirs = node.on.map(on => on.theirs);
    const { relation, aliases } = renameRelation(asking.readScope(target, and(), asking.clock, theirs));
    const joined = node.on.map(on => equals(renameExpression(on.theirs, aliases), on.ours));
    const ours = node.on.map(on => (on.ours.type.kind === 'text' ? filled(on.ours) : not(isNull(on.ours))));
    const found = exists({ ...relation, where: and(...joined, relation.where) });
    if ((await countRows(asking, narrowed, and(...ours, found))) > 0) continue;
    const rows = await countRows(asking, narrowed, and(...ours));
    if (rows === 0) continue;
    report.warning(
      'dangling-reference',
      node.at,
      `no reference to ${node.target} finds a row of ${target.table.name}`,
      {
        expected: 'columns that hold the same on both sides',
        found: `${plural(rows, 'row')} with ${node.on.map(on => on.ours.column).join(' and ')}`,
      },
    );
  }
}
