/**
 * Reads the rows of mappings. In: the drafts of one document, whose variants share the rows. Out: the resolved source,
 * and the targets that references may name.
 */
import type { ColumnExpression } from '../../../sql/expression.ts';
import type { IdRule } from '../../id-rule.ts';
import type { Condition, Position, Source } from '../../model.ts';
import type { Draft } from '../macros/macros.ts';
import { columnsOf, readIdRule } from '../nodes/id.ts';
import { Aliases, type Context, type Target } from '../pack/context.ts';
import { child, scalarsOf, type Tree, textOf } from '../read/tree.ts';
import { resolveColumn, type Visible } from './columns.ts';
import { readScope } from './scope.ts';

/** A draft whose rows and id are known. */
export interface OpenDraft {
  readonly draft: Draft;
  readonly target: Target;
  readonly source: Source;
  /** The rows that `deleted` excludes. */
  readonly deleted: Source | undefined;
  readonly visible: Visible;
  readonly id: IdRule;
  readonly idAt: Position;
  /** The context of the source's conditions and of all variants. */
  readonly context: Context;
}

/** Opens the drafts of one document. Returns none if the table is unknown; other problems do not end the check. */
export function openDrafts(
  drafts: readonly Draft[],
  base: Omit<Context, 'aliases' | 'lost' | 'now'>,
): readonly OpenDraft[] {
  const [first] = drafts;
  const written = first && child(first.tree, 'source');
  if (written?.kind !== 'map') return [];
  const context: Context = { ...base, aliases: new Aliases(), lost: new Set(), now: { used: false } };
  const opened = readScope(written, undefined, undefined, context);
  if (!opened) return [];
  const { scope, visible } = opened;
  const rows: Source = {
    ...scope,
    key: readColumns(child(written, 'key'), visible, context),
    onePer: readColumns(child(written, 'one-per'), visible, context),
  };
  const at = child(written, 'deleted-at');
  if (at && !child(written, 'deleted')) {
    context.report.error('wrong-rows', at.at, '`deleted-at` requires `deleted`', {
      expected: '`deleted` beside it',
    });
  }
  const { served: source, deleted } = partRows(rows, child(written, 'deleted'), visible, context);
  return drafts.flatMap(draft => {
    const idTree = child(draft.tree, 'id');
    const id = readIdRule(idTree, visible, context);
    const resource = textOf(child(draft.tree, 'resource'));
    if (resource === undefined) return [];
    if (idTree) checkOnePer(id, source, idTree, context);
    const idColumns = new Set(id.alternatives.flatMap(parts => [...columnsOf(parts)]));
    const target: Target = { name: draft.name, group: draft.group, resource, source, visible, idColumns };
    const now = { used: context.now.used };
    return [
      { draft, target, source, deleted, visible, id, idAt: idTree?.at ?? draft.at, context: { ...context, now } },
    ];
  });
}

/** Splits the rows by one condition and its complement, so that no row is both a resource and a deleted record. */
function partRows(
  rows: Source,
  written: Tree | undefined,
  visible: Visible,
  context: Context,
): { readonly served: Source; readonly deleted: Source | undefined } {
  if (!written) return { served: rows, deleted: undefined };
  const gone = context.readCondition(written, visible, context);
  const narrowed = (by: Condition): Condition => ({ kind: 'all', of: [rows.where, by] });
  return {
    served: { ...rows, where: narrowed({ kind: 'none', of: gone }) },
    deleted: { ...rows, where: narrowed(gone) },
  };
}

function readColumns(tree: Tree | undefined, visible: Visible, context: Context): readonly ColumnExpression[] {
  return scalarsOf(tree).flatMap(({ text, at }) => resolveColumn(text, at, visible, context)?.column ?? []);
}

/** Reports an id of other columns than `one-per`, because rows that share these columns are one resource. */
function checkOnePer(id: IdRule, source: Source, idTree: Tree, context: Context): void {
  if (source.onePer.length === 0) return;
  const shared = source.onePer.map(column => `${column.alias}.${column.column}`);
  for (const parts of id.alternatives) {
    const used = columnsOf(parts);
    if (used.size === shared.length && shared.every(column => used.has(column))) continue;
    context.report.error('wrong-rows', idTree.at, 'with `one-per` the id is made of its columns and no others', {
      expected: `${shared.join(', ')}, or \`where: { missing: … }\` of a row with a lower key in place of \`one-per\``,
      found: [...used].join(', '),
    });
  }
}
