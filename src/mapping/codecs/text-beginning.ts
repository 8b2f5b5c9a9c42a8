/**
 * Limits what rows sort by. In: an expression of columns. Out: the expression, or its beginning if a column may be
 * longer: links of pages contain sort values, and a request has a limit.
 */
import type { ColumnType } from '../../sql/column-type.ts';
import { UNICODE } from '../../sql/column-type.ts';
import { call } from '../../sql/construct.ts';
import type { Expression } from '../../sql/expression.ts';
import { walk } from '../../sql/walk.ts';

/** Of three sort keys that are as long the link still fits into a request. */
const CHARACTERS = 256;

export function beginningOf(text: Expression): Expression {
  const types: ColumnType[] = [];
  walk({ expressions: [text] }, { column: ({ type }) => void types.push(type) });
  return types.some(isLong) ? call('substring', [text, 1, CHARACTERS], UNICODE) : text;
}

function isLong(type: ColumnType): boolean {
  return type.kind === 'text' && (type.length === 'max' || type.length > CHARACTERS);
}
