import { expect, it } from 'vitest';
import { eachTable } from '../../src/cache/watermarks.ts';
import { UNICODE } from '../../src/sql/column-type.ts';
import { among, constant, equals, exists, flag, TRUE } from '../../src/sql/construct.ts';
import type { Expression, Relation } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { renameRelation } from '../../src/sql/rename.ts';
import { walk } from '../../src/sql/walk.ts';
import { column } from './sample.ts';

function table(name: string, alias: string, where = TRUE): Relation {
  return { table: { name: identifier(name) }, alias: identifier(alias), joins: [], where };
}

/** The least value of B, ordered by the existence of a row in C. */
const elsewhere: Expression = {
  kind: 'scalar',
  select: column('b', 'VAL', 'B'),
  from: table('B', 'b', equals(column('b', 'A_ID', 'B'), column('a', 'ID'))),
  order: [{ by: flag(exists(table('C', 'c'))), descending: false }],
  type: UNICODE,
};
const LISTED = among(elsewhere, [constant('x', UNICODE), constant('y', UNICODE)]);

it('the walk leaves a relation after its content and its selection', () => {
  const seen: string[] = [];
  walk(
    { relations: [table('A', 'a', LISTED)] },
    {
      column: ({ alias, column: name }) => void seen.push(`${alias}.${name}`),
      enter: ({ alias }) => seen.push(`(${alias}`) > 0,
      leave: ({ alias }) => void seen.push(`${alias})`),
    },
  );
  expect(seen).toEqual(['(a', '(b', 'b.VAL', '(c', 'c)', 'b.A_ID', 'a.ID', 'b)', 'a)']);
});

it('a relation after a nested list gets the next free alias', () => {
  const { aliases } = renameRelation(table('A', 'a', LISTED));
  expect(aliases.get(identifier('a'))).toBe('a_3');
});

it('the tables of a plan include those that select one of several values', () => {
  const found: string[] = [];
  const plan = { from: table('A', 'a'), columns: [elsewhere], orderBy: [], limit: 1, shape: 'rows' } as const;
  eachTable(plan, name => found.push(name));
  expect(found.toSorted()).toEqual(['.a', '.b', '.c']);
});
