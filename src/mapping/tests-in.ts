/**
 * Lists the tests that a condition of a mapping is made of. In: a condition. Out: its parts that are no `all`, `any` or
 * `none` of others, in order; of such a test the columns that it compares.
 */
import type { ColumnExpression } from '../sql/expression.ts';
import type { Condition } from './model.ts';

export type Test = Exclude<Condition, { readonly kind: 'always' | 'all' | 'any' | 'none' }>;

export function testsIn(condition: Condition | undefined): readonly Test[] {
  if (condition === undefined) return [];
  switch (condition.kind) {
    case 'always':
      return [];
    case 'all':
    case 'any':
      return condition.of.flatMap(testsIn);
    case 'none':
      return testsIn(condition.of);
    default:
      return [condition];
  }
}

/** One column, or the two that are compared with each other. */
export function columnsOf(test: Exclude<Test, { readonly kind: 'exists' }>): readonly ColumnExpression[] {
  return 'other' in test ? [test.column, test.other] : [test.column];
}
