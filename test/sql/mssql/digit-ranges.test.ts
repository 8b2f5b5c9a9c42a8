/**
 * Ranges of texts that another test limits to digits are compared in the column's collation, so that its index serves:
 * all collations sort digits alike. Other ranges are compared by code points, and no index serves.
 */
import { expect, test } from 'vitest';
import { and, compare, glob, or, value } from '../../../src/sql/construct.ts';
import type { ColumnExpression, Predicate } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { renderPredicate } from '../../../src/sql/render.ts';

const column = (name: string): ColumnExpression => ({
  kind: 'column',
  alias: identifier('t'),
  column: identifier(name),
  type: { kind: 'text', unicode: false, fixed: false, length: 20 },
});
const TS = column('TS');
const since = compare(TS, '>=', value('20240301', TS.type));
const packed: Predicate = { kind: 'packed-date', of: TS, not: false };
const time = glob(TS, '20[0-9][0-9][01][0-9][0-3][0-9]2[0-3]');
const letters = glob(TS, '[0-9]*');
const other = glob(column('CD'), '[0-9]');

test.each<[string, Predicate, boolean]>([
  ['a packed date', packed, true],
  ['digits', time, true],
  ['a packed date or digits', or(packed, time), true],
  ['two tests of digits in one alternative', or(packed, and(other, time)), true],
  ['digits in one of two alternatives', or(packed, letters), false],
  ['digits of another column', other, false],
  ['anything behind a digit', letters, false],
])('beside a test for %s', (_title, guard, seeks) => {
  const { text } = renderPredicate(and(guard, since), MSSQL);
  expect(/t\.TS >= /.test(text)).toBe(seeks);
  expect(/t\.TS COLLATE Latin1_General_BIN2 >= /.test(text)).toBe(!seeks);
});
