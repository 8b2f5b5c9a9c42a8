/**
 * Finds the columns that logical ids are made of (V7). In: an id rule. Out: its columns, and their positions in a row.
 */
import type { IdRule } from '../mapping/id-rule.ts';
import type { ColumnType } from '../sql/column-type.ts';
import type { ColumnExpression } from '../sql/expression.ts';

/** Where the value of an id column is. */
export interface IdSource {
  readonly position: number;
  /** The type of the target's column, where our column of another type stands for it. */
  readonly castTo?: ColumnType;
}

/** The columns that an id is made of, those of all alternatives. */
export function idColumnsOf(rule: IdRule): readonly ColumnExpression[] {
  return rule.alternatives.flatMap(parts => parts.flatMap(part => (part.kind === 'column' ? [part.column] : [])));
}
