/**
 * Reads `on`, `pick` and `order`. In: the maps and lists, and what is visible on the side of the joined table and on
 * the outer side. Out: pairs of columns, and orders. Reports a column of the wrong side, which would join every row or
 * order by a constant.
 */

import type { ColumnExpression, Order } from '../../../sql/expression.ts';
import { printTable } from '../../../sql/identifier.ts';
import type { JoinColumn } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { entriesOf, type ScalarTree, scalarsOf, type Tree } from '../read/tree.ts';
import { meansNone } from './absent-values.ts';
import type { NamedRows, Visible } from './columns.ts';
import { comparable, resolveColumn } from './columns.ts';

/** Reads `on: {THEIRS: ours}`: left a column of the joined table, right one of the enclosing scope. */
export function readOn(
  tree: Tree | undefined,
  theirs: Visible,
  ours: Visible,
  context: Context,
  takesPieces = false,
): readonly JoinColumn[] {
  const { report } = context;
  const own = rowsOf(theirs);
  const joined = entriesOf(tree).flatMap(({ key, value, at }): readonly JoinColumn[] => {
    if (value.kind !== 'scalar') return [];
    const { text } = value;
    const left = resolveColumn(key, at, theirs, context);
    const right = resolveColumn(text, value.at, ours, context, {
      expected: 'a column: literals belong in `where`, not in `on`',
    });
    if (!left || !right) return [];
    if (own && isForeign(left.column, theirs, ours)) {
      report.error('wrong-rows', at, 'the left side of `on` must be a column of the joined table', {
        expected: `a column of ${printTable(own.table)}`,
        found: key,
        ...(right.column.alias === own.alias ? { suggestion: `${right.column.column}: ${key}` } : {}),
      });
      return [];
    }
    if (isLookup(theirs, ours) && right.column.alias === own?.alias) {
      report.error('wrong-rows', value.at, 'the right side of `on` must be a column of the outer rows', {
        found: `${text}, which is of ${printTable(own.table)} itself`,
      });
      return [];
    }
    if (right.isPiece && !takesPieces) {
      report.error('wrong-rows', value.at, 'a piece of a column cannot be joined here', {
        expected: 'a `lookup` in the `each` of the pieces, or an `each` of rows within it',
        found: text,
      });
    }
    const reason = mismatch(left.column.type.kind, right.column.type.kind);
    if (reason !== undefined) report.error('wrong-rows', value.at, reason, { found: `${key}: ${text}` });
    const [theirColumn, ourColumn] = comparable(left.column, right.column, context);
    const none = meansNone(right, context);
    return [{ theirs: theirColumn, ours: ourColumn, ...(none.length > 0 && { none }) }];
  });
  if (tree && entriesOf(tree).length === 0)
    report.error('wrong-rows', tree.at, '`on` names no column', { expected: '{THEIRS: ours}' });
  return joined;
}

/**
 * True for a lookup, which shares its names with the enclosing rows. The rows of an `each` and of `exists` have names
 * of their own. Rows that a mapping refers to among its own are the same from both sides.
 */
function isLookup(theirs: Visible, ours: Visible): boolean {
  return theirs !== ours && theirs.named === ours.named;
}

function isForeign(column: ColumnExpression, theirs: Visible, ours: Visible): boolean {
  if (column.alias === theirs.own.alias) return false;
  return isLookup(theirs, ours) || !isNamedIn(theirs, column);
}

function isNamedIn(visible: Visible, { alias }: ColumnExpression): boolean {
  return [...visible.named.values()].some(named => named.alias === alias);
}

function rowsOf({ own }: Visible): NamedRows | undefined {
  return own.kind === 'rows' ? own : undefined;
}

/** Describes a join of kinds of columns that cannot be cast; undefined if it is possible. */
function mismatch(theirs: string, ours: string): string | undefined {
  const family = (kind: string): string =>
    ['integer', 'decimal', 'float', 'bit'].includes(kind)
      ? 'number'
      : ['date', 'datetime'].includes(kind)
        ? 'date'
        : kind;
  const [a, b] = [family(theirs), family(ours)];
  const castable = a === b || (b === 'text' && !UNCAST.has(a)) || (a === 'text' && !UNCAST.has(b));
  return castable ? undefined : `a ${theirs} column cannot be joined with a ${ours} column`;
}

/** Kinds of columns that are never cast to or from text. */
const UNCAST: ReadonlySet<string> = new Set(['binary', 'instant']);

/**
 * Reads `pick: [COL, -COL2]`: the order that decides which row of the joined table is used. A minus means descending.
 */
export function readPick(tree: Tree | undefined, theirs: Visible, context: Context): readonly Order[] {
  return readOrder(tree, theirs, column => column.alias === theirs.own.alias, context);
}

/** Reads `order` of the rows of an `each`, which may use columns of their lookups. */
export function readRowOrder(tree: Tree | undefined, rows: Visible, context: Context): readonly Order[] {
  return readOrder(tree, rows, column => isNamedIn(rows, column), context);
}

function readOrder(
  tree: Tree | undefined,
  visible: Visible,
  sorts: (column: ColumnExpression) => boolean,
  context: Context,
): readonly Order[] {
  const own = rowsOf(visible);
  return scalarsOf(tree).flatMap(written => {
    const { text, at } = written;
    const descending = text.startsWith('-');
    const name = descending ? text.slice(1) : text;
    const resolved = resolveColumn(name, at, visible, context, wordsInstead(written));
    if (!resolved) return [];
    if (!sorts(resolved.column)) {
      context.report.error('wrong-rows', at, 'an order by a column that is equal in all of these rows', {
        ...(own ? { expected: `a column of ${printTable(own.table)}` } : {}),
        found: name,
      });
    }
    return [{ by: resolved.column, descending }];
  });
}

/** Suggests `-COL` in place of SQL's `COL desc`. */
function wordsInstead({ text }: ScalarTree): { readonly expected?: string } {
  const [, column, direction] = /^(\S+)\s+(asc|desc)$/i.exec(text) ?? [];
  if (column === undefined || direction === undefined) return {};
  return {
    expected:
      direction.toLowerCase() === 'desc'
        ? `\`-${column}\` for the highest first`
        : `\`${column}\` for the lowest first`,
  };
}
