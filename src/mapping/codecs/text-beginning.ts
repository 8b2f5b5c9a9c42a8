/**
 * As much of a text as sorts. In: an expression of columns that is no longer than they are. Out: it, or its beginning where
 * a column may hold more: links of pages hold what rows sort by, and a request has a limit.
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
