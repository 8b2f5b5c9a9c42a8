import { expect, it } from 'vitest';
import { equals, exists, filled, flag, TRUE } from '../../src/sql/construct.ts';
import type { Join, Relation } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { MSSQL } from '../../src/sql/mssql/dialect.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { columnsUsed } from '../../src/sql/walk.ts';
import { column } from './sample.ts';

const of = (alias: string, name: string) => column(alias, name, 'B');
const B = identifier('b');

function picked(alias: string, by = of(alias, 'SEQ')): Join {
  return {
    kind: 'left',
    table: { name: identifier('B') },
    alias: identifier(alias),
    on: equals(of(alias, 'A_ID'), column('a', 'ID')),
    pick: [{ by, descending: false }],
  };
}

function from(joins: readonly Join[], where = TRUE): Relation {
  return { table: { name: identifier('A') }, alias: identifier('a'), joins, where };
}

it('a picked row selects only columns that the query uses', () => {
  expect(columnsUsed(B, from([picked('b')]), [])).toEqual([]);
  expect(columnsUsed(B, from([picked('b')]), [of('b', 'VAL'), column('a', 'ID')])).toEqual(['VAL']);
  expect(columnsUsed(B, from([picked('b')], filled(of('b', 'CD'))), [of('b', 'VAL')])).toEqual(['CD', 'VAL']);
  expect(columnsUsed(B, from([picked('b'), picked('b2', of('b', 'CD'))]), [])).toEqual(['CD']);
});

it('a nested relation may refer to it, or reuse its alias', () => {
  const inner = (alias: string, joins: readonly Join[] = []): Relation => ({
    table: { name: identifier('B') },
    alias: identifier(alias),
    joins,
    where: equals(of('b', 'VAL'), of(alias, 'CD')),
  });
  const used = (relation: Relation) => columnsUsed(B, from([picked('b')], exists(relation)), []);
  expect(used(inner('c'))).toEqual(['VAL']);
  expect(used(inner('b'))).toEqual([]);
  expect(used(inner('c', [picked('b')]))).toEqual([]);
  expect(columnsUsed(B, from([picked('b')]), [flag(exists(inner('c')))])).toEqual(['VAL']);
});

it('a column in two spellings is selected once', () => {
  expect(
    columnsUsed(B, from([picked('b')]), [of('b', 'VAL'), { ...of('b', 'VAL'), column: identifier('val') }]),
  ).toEqual(['VAL']);
});

it('`pick` works for a login that cannot read all columns', () => {
  const plan = (columns: SqlPlan['columns']): SqlPlan => {
    return { from: from([picked('b')]), columns, orderBy: [], limit: 10, shape: 'rows' };
  };
  expect(render(plan([of('b', 'VAL')]), MSSQL).text).toContain('OUTER APPLY (SELECT TOP (1) b.VAL FROM B AS b WHERE');
  expect(render(plan([column('a', 'ID')]), MSSQL).text).toContain('OUTER APPLY (SELECT TOP (1) 1 AS one FROM B AS b');
});
