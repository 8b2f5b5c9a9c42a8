import { describe, expect, it } from 'vitest';
import { canonicalNumber, castTo } from '../../src/resource/raw.ts';
import { type ChildRow, childrenOf, NO_CHILDREN } from '../../src/resource/rows.ts';
import { shapeOf } from '../../src/resource/shape.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import * as make from './nodes.ts';
import { observation } from './zoo.ts';

/** The names of the children for each parent key. */
function grouped(
  types: readonly [ColumnType, ColumnType],
  parents: readonly SqlValue[],
  children: readonly (readonly [SqlValue, string])[],
): unknown {
  const each = make.each('n', [make.join('n.PARENT', 'NO', types)], make.value('n.NOTE'));
  const shape = shapeOf(observation({ note: make.list(each) }), { kind: 'all' }, make.resolver());
  const rows = children.map((row): ChildRow => ({ row, children: NO_CHILDREN }));
  return childrenOf(
    parents.map(key => ['id', key]),
    shape,
    [rows],
  ).map(([own]) => own?.map(({ row }) => row[1]));
}

describe('child rows', () => {
  it('are assigned to their parents in the order of arrival', () => {
    const children = [
      ['b', '1'],
      ['a', '2'],
      ['b', '3'],
      ['c', '4'],
    ] as const;
    expect(grouped([make.TEXT, make.TEXT], ['a', 'b', 'x'], children)).toEqual([['2'], ['1', '3'], []]);
  });

  it('join text exactly, ignoring trailing blanks', () => {
    const children = [
      ['a ', '1'],
      ['A', '2'],
      [' a', '3'],
    ] as const;
    expect(grouped([make.TEXT, make.TEXT], ['a', 'a  '], children)).toEqual([['1'], ['1']]);
  });

  it('join text with numbers by value, and nothing on NULL', () => {
    const children = [
      [7, '1'],
      [null, '2'],
    ] as const;
    expect(grouped([make.INT, make.TEXT], ['007', null, 'x'], children)).toEqual([['1'], [], []]);
    expect(
      grouped(
        [make.TEXT, make.INT],
        [7],
        [
          ['07', '1'],
          ['7x', '2'],
        ],
      ),
    ).toEqual([['1']]);
  });

  it('join binary keys by their bytes', () => {
    const binary: ColumnType = { kind: 'binary', length: 2 };
    const children = [
      [Uint8Array.of(1, 2), '1'],
      [Uint8Array.of(1, 3), '2'],
    ] as const;
    expect(grouped([binary, binary], [Uint8Array.of(1, 2)], children)).toEqual([['1']]);
  });

  it('join on several columns by each of them', () => {
    const on = [make.join('n.A', 'A'), make.join('n.B', 'B')];
    const each = make.each('n', on, make.value('n.NOTE'));
    const shape = shapeOf(observation({ note: make.list(each) }), { kind: 'all' }, make.resolver());
    const rows: readonly ChildRow[] = [{ row: ['ab', 'c', 'x'], children: NO_CHILDREN }];
    const parents = [
      ['id', 'a', 'bc'],
      ['id', 'ab', 'c'],
    ];
    expect(childrenOf(parents, shape, [rows]).map(([own]) => own?.length)).toEqual([0, 1]);
  });

  it('are empty lists for a mapping without collections', () => {
    const shape = shapeOf(observation({ status: make.value('S') }), { kind: 'all' }, make.resolver());
    expect(childrenOf([['1', 'x']], shape, [])).toEqual([NO_CHILDREN]);
  });
});

describe('raw values', () => {
  it('have one canonical form per number', () => {
    const forms = ['7', '007', '7.0', '+7', ' 7.', 7];
    expect(new Set(forms.map(canonicalNumber))).toEqual(new Set(['7']));
    expect(['-0', '0.00', '.0', 0].map(canonicalNumber)).toEqual(['0', '0', '0', '0']);
    expect(['', '.', '1e2', '0x1', '1,5', null].map(canonicalNumber)).toEqual([null, null, null, null, null, null]);
    expect(canonicalNumber('-12.50')).toBe('-12.5');
  });

  it('become integers only without a fraction, beyond safe integers as text', () => {
    const cast = castTo(make.INT);
    expect(['007', '7.0', '7.5', 'x', null].map(cast)).toEqual([7, 7, null, null, null]);
    expect(cast('9223372036854775807')).toBe('9223372036854775807');
    expect(castTo(make.TEXT)(7)).toBe('7');
  });
});
