import { describe, expect, it } from 'vitest';
import type { Node } from '../../src/mapping/model.ts';
import { compileWriter } from '../../src/resource/compile.ts';
import { NO_CHILDREN } from '../../src/resource/rows.ts';
import { shapeOf, shapeOfGroup } from '../../src/resource/shape.ts';
import { call, FALSE } from '../../src/sql/construct.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import * as make from './nodes.ts';
import { observation, PATIENTS } from './zoo.ts';

const { each, join, list, object, value } = make;
const ALL = { kind: 'all' } as const;
const CONTEXT = { base: '', now: 0, zone: 'UTC' };

function keys(columns: readonly Parameters<typeof expressionKey>[0][]): readonly string[] {
  return columns.map(expressionKey);
}

describe('a row shape', () => {
  it('fetches key, id and changed columns whatever is selected, each expression once', () => {
    const mapping = observation(
      { status: value('S'), note: list(value('S'), value('N')) },
      {
        source: { ...make.scope('t'), key: [make.col('NO')], onePer: [] },
        changed: value('UPD', { type: 'instant' }),
      },
    );
    const shape = shapeOf(mapping, { kind: 'elements', names: [] }, make.resolver());
    expect(keys(shape.columns)).toEqual(['t.NO', 't.ID', 't.UPD', 't.S']);
    expect(shape.key).toEqual([0]);
  });

  it('puts the columns of an `each` into the child row, those of the parent into the parent row', () => {
    const item = object('Identifier', { value: value('i.VALUE'), system: value('SYS') });
    const shape = shapeOf(
      observation({ identifier: list(each('i', [join('i.PARENT', 'NO')], item)) }),
      ALL,
      make.resolver(),
    );
    const [child] = shape.children;
    expect(keys(shape.columns)).toEqual(['t.ID', 't.NO', 't.SYS']);
    expect(keys(child?.columns ?? [])).toEqual(['i.PARENT', 'i.VALUE']);
    expect(child?.parentPositions).toEqual([1]);
    expect(child?.ownPositions).toEqual([0]);
  });

  it('reads equal child rows once, although two elements use different aliases', () => {
    const nested = (alias: string): Node =>
      each(`${alias}n`, [join(`${alias}n.UP`, `${alias}.NO`)], value(`${alias}n.X`));
    const rows = (alias: string, column: string): Node =>
      make.first(
        ...[
          {
            ...each(
              alias,
              [join(`${alias}.PARENT`, 'ID')],
              object('Annotation', { text: value(`${alias}.${column}`), more: list(nested(alias)) }),
            ),
            from: { kind: 'rows', scope: make.scope(alias, 'NOTES'), on: [join(`${alias}.PARENT`, 'ID')], order: [] },
          } as Node,
        ],
      );
    const mapping = observation({ note: list(rows('a', 'TEXT')), extension: list(rows('b', 'KIND')) });
    const shape = shapeOf(mapping, ALL, make.resolver());
    expect(shape.children).toHaveLength(1);
    const [child] = shape.children;
    expect(keys(child?.columns ?? [])).toEqual(['a.PARENT', 'a.TEXT', 'a.NO', 'a.KIND']);
    // The tables of the nested rows differ by name, so they stay separate.
    expect(child?.children).toHaveLength(2);
    const rowsOf = [
      {
        row: ['1', 'text', '5', 'kind'],
        children: [[{ row: ['5', 'x'], children: [] }], [{ row: ['5', 'y'], children: [] }]],
      },
    ];
    expect(JSON.parse(compileWriter(mapping, shape).write(['1'], [rowsOf], CONTEXT))).toMatchObject({
      note: [{ text: 'text', more: ['x'] }],
      extension: [{ text: 'kind', more: ['y'] }],
    });
  });

  it('puts the flag of an exists condition into the row that the condition is about', () => {
    const about = (ours: string): Node =>
      make.constant('x', 'string', { kind: 'exists', scope: make.scope('ex'), on: [join('ex.ID', ours)] });
    const item = object('Identifier', { value: value('i.VALUE'), use: about('ID'), system: about('i.NO') });
    const shape = shapeOf(
      observation({ identifier: list(each('i', [join('i.PARENT', 'ID')], item)) }),
      ALL,
      make.resolver(),
    );
    const flags = (columns: readonly { readonly kind: string }[]): number =>
      columns.filter(c => c.kind === 'flag').length;
    expect([flags(shape.columns), flags(shape.children[0]?.columns ?? [])]).toEqual([1, 1]);
    expect(keys(shape.children[0]?.columns ?? [])).toContainEqual(expect.stringContaining('i.NO'));
  });

  it('separates child rows with another order or filter', () => {
    const plain = each('a', [join('a.PARENT', 'ID')], value('a.X'));
    const ordered = { ...plain, from: { ...plain.from, order: [{ by: make.col('a.X'), descending: true }] } } as Node;
    const shape = shapeOf(observation({ note: list(plain), extension: list(ordered) }), ALL, make.resolver());
    expect(shape.children).toHaveLength(2);
  });

  it('has the positions of reference keys, in child rows too', () => {
    const focus = each('f', [join('f.PARENT', 'ID')], make.ref('patients', [join('pt.NO', 'f.PAT')]));
    const mapping = observation({ subject: make.ref('patients', [join('pt.NO', 'PAT')]), focus: list(focus) });
    const shape = shapeOf(mapping, ALL, make.resolver(PATIENTS));
    expect(shape.refs.map(({ positions }) => positions.map(at => keys(shape.columns)[at]))).toEqual([['t.PAT']]);
    const child = shape.children[0];
    expect(child?.refs.map(({ positions }) => positions.map(at => keys(child.columns)[at]))).toEqual([['f.PAT']]);
  });

  it.each([
    ['our column', [join('pt.NO', 'PAT')]],
    ['a column of their row', [join('pt.OTHER', 'PAT')]],
  ])('leaves out references to a mapping that serves no row, whose id is made of %s', (_, on) => {
    const resolver = make.resolver(PATIENTS);
    const targetRelation: typeof resolver.targetRelation = (...asked) => {
      const { relation, aliases } = resolver.targetRelation(...asked);
      return { relation: { ...relation, where: FALSE }, aliases };
    };
    const mapping = observation({ status: make.constant('final'), subject: make.ref('patients', on) });
    const shape = shapeOf(mapping, ALL, { ...resolver, targetRelation });
    const row = shape.columns.map(() => '1');
    expect(JSON.parse(compileWriter(mapping, shape).write(row, NO_CHILDREN, CONTEXT))).not.toHaveProperty('subject');
  });

  it('leaves out what needs a row that cannot exist', () => {
    const resolver = { ...make.resolver(), predicateOf: () => FALSE };
    const none = make.constant('x', 'string', { kind: 'exists', scope: make.scope('ex'), on: [join('ex.ID', 'ID')] });
    const mapping = observation({ status: none });
    const shape = shapeOf(mapping, ALL, resolver);
    expect(JSON.parse(compileWriter(mapping, shape).write(['1'], NO_CHILDREN, CONTEXT))).not.toHaveProperty('status');
  });

  it('fetches requested columns besides the selection', () => {
    const subject = make.ref('patients', [join('pt.NO', 'PAT')], { exists: false });
    const also = { columns: [make.col('SORT')], nodes: [subject] };
    const shape = shapeOf(observation({ subject }), { kind: 'elements', names: [] }, make.resolver(PATIENTS), also);
    expect(keys(shape.columns)).toEqual(['t.ID', 't.SORT', 't.PAT']);
  });

  it('has all variants of a source, each with its own writer', () => {
    const pulse = observation({ code: make.constant('pulse'), note: list(value('PULSE')) }, { name: 'v.pulse' });
    const weight = observation({ code: make.constant('weight'), note: list(value('WEIGHT')) }, { name: 'v.weight' });
    const shape = shapeOfGroup([pulse, weight], ALL, make.resolver());
    expect(keys(shape.columns)).toEqual(['t.ID', 't.PULSE', 't.WEIGHT']);
    const texts = [pulse, weight].map(mapping =>
      compileWriter(mapping, shape).write(['1', '60', '70'], NO_CHILDREN, CONTEXT),
    );
    expect(texts.map(text => JSON.parse(text)['note'])).toEqual([['60'], ['70']]);
    expect(() => compileWriter(observation({}), shape)).toThrow('the row shape was not made for tests');
  });

  it('refuses expressions over several rows and references that are proved on pieces', () => {
    const mixed = value('i.VALUE', { from: [call('concat', [make.col('i.VALUE'), make.col('SYS')], make.TEXT)] });
    const rows = observation({ note: list(each('i', [join('i.PARENT', 'ID')], mixed)) });
    expect(() => shapeOf(rows, ALL, make.resolver())).toThrow('mixes columns of different rows');
    const focus = list(make.pieces('LIST', ['piece'], [], make.ref('patients', [join('pt.NO', 'p.piece')])));
    expect(() => shapeOf(observation({ focus }), ALL, make.resolver(PATIENTS))).toThrow('joined on pieces');
  });

  it('writes references from pieces that need not be proved', () => {
    const focus = list(
      make.pieces('LIST', ['piece'], [], make.ref('patients', [join('pt.NO', 'p.piece')], { exists: false })),
    );
    const mapping = observation({ focus });
    const shape = shapeOf(mapping, ALL, make.resolver(PATIENTS));
    expect(JSON.parse(compileWriter(mapping, shape).write(['1', 'p1; p2;'], NO_CHILDREN, CONTEXT))).toHaveProperty(
      'focus',
      [{ reference: 'Patient/p1' }, { reference: 'Patient/p2' }],
    );
  });
});
