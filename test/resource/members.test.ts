import { describe, expect, it } from 'vitest';
import type { Condition, Node } from '../../src/mapping/model.ts';
import { compileWriter, type WriteContext } from '../../src/resource/compile.ts';
import { NO_CHILDREN } from '../../src/resource/rows.ts';
import { shapeOf } from '../../src/resource/shape.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import { interpret } from '../law/planned-rows.ts';
import * as make from './nodes.ts';
import { observation } from './zoo.ts';

const CONTEXT: WriteContext = { base: 'https://fhir.example', now: 0, zone: 'UTC' };
const UNIT = make.codeMap({ A: 'mg', B: 'kg' });
const unit = (options = {}): Node => make.value('UNIT', { codec: UNIT, ...options });
const isA: Condition = { kind: 'is', column: make.col('UNIT'), values: ['A'] };

/** Rows in all orders of values, twice, so that cached values meet rows with other values. */
function rowsOf(values: Readonly<Record<string, readonly SqlValue[]>>): readonly Readonly<Record<string, SqlValue>>[] {
  let rows: readonly Readonly<Record<string, SqlValue>>[] = [{}];
  for (const [column, some] of Object.entries(values))
    rows = rows.flatMap(row => some.map(value => ({ ...row, [column]: value })));
  return [...rows, ...rows.toReversed()];
}

function expectSame(value: Node, values: Readonly<Record<string, readonly SqlValue[]>>): void {
  const mapping = observation({ value });
  const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(mapping));
  const writer = compileWriter(mapping, shape);
  for (const named of rowsOf({ ID: ['1'], ...values })) {
    const row = shape.columns.map(column => named[expressionKey(column).replace(/^t\./, '')] ?? null);
    const json = writer.write(row, NO_CHILDREN, CONTEXT);
    expect(json).toBe(JSON.stringify(interpret(mapping, shape, row, NO_CHILDREN, CONTEXT)));
  }
}

describe('members that one column makes', () => {
  const units = { UNIT: ['A', 'B', 'C', '', null] };

  it('are written together after others, with correct commas', () => {
    const members = { value: make.value('N'), unit: unit(), system: make.constant('u'), code: unit(), display: unit() };
    expectSame(make.object('Quantity', members, { needs: ['value'] }), { N: ['1', null], ...units });
  });

  it('do not make an object exist if they are conditional constants', () => {
    const fixed = make.object('Period', { start: make.constant('2024', 'string', isA) });
    const members = { alpha: make.constant('u'), beta: fixed, gamma: unit(), delta: make.value('N') };
    expectSame(make.object('Thing', members), { N: ['1', null], ...units });
  });

  it('make an object without `needs` exist', () => {
    const members = { system: make.constant('u'), code: unit(), display: unit(), version: make.value('N') };
    expectSame(make.object('Coding', members), { N: ['1', null], ...units });
  });

  it('are also plain text if a code is read from the same column', () => {
    const words = make.first(unit(), make.value('UNIT'));
    const members = { value: make.value('N'), unit: words, code: unit() };
    expectSame(make.object('Quantity', members, { needs: ['value'] }), { N: ['1', null], UNIT: ['A', 'x', ' ', null] });
  });
});

describe('a fragment of two columns with few values', () => {
  it('is made anew when one of them changes', () => {
    const low = make.object(
      'Quantity',
      { value: make.value('LOW', { codec: UNIT }), unit: unit() },
      { needs: ['value'] },
    );
    expectSame(make.list(make.object('Range', { low, text: make.value('LOW', { codec: UNIT }) })), {
      LOW: ['A', 'B', '', null],
      UNIT: ['A', 'B', 'C', null],
    });
  });
});

describe('a list of one conditional item', () => {
  it('exists if its item exists', () => {
    const item = {
      ...make.object('Coding', { code: unit() }),
      if: { kind: 'present', column: make.col('N') } as const,
    };
    expectSame(make.list(item), { N: ['1', '', null], UNIT: ['A', 'C', null] });
    expectSame(make.list(item, unit()), { N: ['1', '', null], UNIT: ['A', 'C', null] });
  });
});
