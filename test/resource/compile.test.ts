import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseThing } from '../../src/law/thing.ts';
import type { Mapping } from '../../src/mapping/model.ts';
import { compileWriter, type WriteContext } from '../../src/resource/compile.ts';
import { type ChildRow, NO_CHILDREN } from '../../src/resource/rows.ts';
import { type RowShape, shapeOf } from '../../src/resource/shape.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import { interpret } from '../law/planned-rows.ts';
import { runsOf } from '../share.ts';
import { arbitraryMapping } from './arbitrary-mapping.ts';
import { arbitraryRow, poolsOf } from './arbitrary-rows.ts';
import * as make from './nodes.ts';
import { CHOICES, observation, PATIENTS, SITES, TYPED, ZOO } from './zoo.ts';

/** Text that would execute if it became code. */
const HOSTILE = `\`$\{process.exit(1)}\u2028"`;
const CONTEXT: WriteContext = { base: 'https://fhir.example/"q"', now: Date.UTC(2024, 5, 1), zone: 'America/New_York' };
const { value, object, list, constant, col, join } = make;

/** The resource of a row, given by column, as an object. */
function written(mapping: Mapping, row: Readonly<Record<string, SqlValue>>): unknown {
  const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(PATIENTS, SITES, mapping));
  const values = shape.columns.map(column => row[expressionKey(column).replace(/^t\./, '')] ?? null);
  const json = compileWriter(mapping, shape).write(values, NO_CHILDREN, CONTEXT);
  return json === '' ? undefined : JSON.parse(json);
}

describe('the writer against the interpreter', () => {
  for (const [name, mapping] of Object.entries({ ZOO, CHOICES, TYPED })) {
    it(`both agree for random rows of ${name}`, () => {
      const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(PATIENTS, SITES, mapping));
      const writer = compileWriter(mapping, shape);
      fc.assert(
        fc.property(arbitraryRow(shape, poolsOf(mapping)), ({ row, children }: ChildRow) => {
          const json = writer.write(row, children, CONTEXT);
          const wanted = interpret(mapping, shape, row, children, CONTEXT);
          expect(json === '' ? undefined : parseThing(json)).toEqual(wanted);
          if (wanted !== undefined) expect(JSON.stringify(parseThing(json))).toBe(JSON.stringify(wanted));
        }),
        { numRuns: runsOf(2000) },
      );
    });
  }
});

it('writer and interpreter agree for random mappings', () => {
  const cases = arbitraryMapping.chain(mapping => {
    const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(PATIENTS));
    const rows = fc.array(arbitraryRow(shape, poolsOf(mapping)), { minLength: 1, maxLength: 5 });
    return rows.map(found => ({ mapping, shape, rows: found }));
  });
  fc.assert(
    fc.property(cases, ({ mapping, shape, rows }) => {
      const writer = compileWriter(mapping, shape);
      for (const { row, children } of rows) {
        const json = writer.write(row, children, CONTEXT);
        const wanted = interpret(mapping, shape, row, children, CONTEXT);
        expect(JSON.stringify(parseThing(json))).toBe(JSON.stringify(wanted));
      }
    }),
    { numRuns: runsOf(400) },
  );
});

describe('existence', () => {
  it('a constant does not make an object exist', () => {
    const mapping = observation({ valueQuantity: object('Quantity', { value: value('NUM'), unit: constant('kg') }) });
    expect(written(mapping, { ID: '1' })).toEqual({ resourceType: 'Observation', id: '1' });
    expect(written(mapping, { ID: '1', NUM: '5' })).toMatchObject({ valueQuantity: { value: '5', unit: 'kg' } });
  });

  it('an object of constants alone exists, and does not make another exist', () => {
    const coding = object('Coding', { system: constant('s'), code: constant('c') });
    const mapping = observation({
      code: object('CodeableConcept', { coding: list(coding) }),
      component: list(object('Observation.component', { code: coding, valueString: value('STR') })),
    });
    expect(written(mapping, { ID: '1' })).toEqual({
      resourceType: 'Observation',
      id: '1',
      code: { coding: [{ system: 's', code: 'c' }] },
    });
  });

  it('an object without its carrier does not exist, whatever else it has', () => {
    const mapping = observation({
      identifier: list(object('Identifier', { type: value('KIND'), value: value('MRN') }, { needs: ['value'] })),
    });
    expect(written(mapping, { ID: '1', KIND: 'MR' })).not.toHaveProperty('identifier');
  });

  it('a list without present items is absent', () => {
    const mapping = observation({ note: list(value('A'), value('B')) });
    expect(written(mapping, { ID: '1', A: '  ' })).not.toHaveProperty('note');
    expect(written(mapping, { ID: '1', B: 'b' })).toHaveProperty('note', ['b']);
  });

  it('meta with constants alone is emitted', () => {
    const meta = object('Meta', { profile: list(constant('http://p')) });
    expect(written(observation({ meta, status: value('S') }), { ID: '1', S: 'x' })).toEqual({
      resourceType: 'Observation',
      id: '1',
      meta: { profile: ['http://p'] },
      status: 'x',
    });
  });

  it('a row whose id cannot be written makes no resource', () => {
    expect(written(observation({ status: value('S') }), { ID: 'a b', S: 'x' })).toBeUndefined();
  });
});

describe('references', () => {
  const column = (shape: RowShape, kind: string): number => shape.columns.findIndex(c => c.kind === kind);

  it('joined on the id column are proved by a flag and written from the own column', () => {
    const mapping = observation({ subject: make.ref('patients', [join('pt.NO', 'PAT')]) });
    const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(PATIENTS));
    const writer = compileWriter(mapping, shape);
    const row: SqlValue[] = shape.columns.map(c =>
      expressionKey(c) === 't.PAT' ? 'p1 ' : expressionKey(c) === 't.ID' ? '1' : null,
    );
    row[column(shape, 'flag')] = 1;
    expect(JSON.parse(writer.write(row, [], CONTEXT))).toHaveProperty('subject', { reference: 'Patient/p1' });
    row[column(shape, 'flag')] = 0;
    expect(JSON.parse(writer.write(row, [], CONTEXT))).not.toHaveProperty('subject');
  });

  it('joined on another column take the id from the target', () => {
    const mapping = observation({ focus: list(make.ref('sites', [join('st.NAME', 'SITE')])) });
    const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(SITES));
    expect(shape.columns.filter(c => c.kind === 'scalar')).toHaveLength(2);
    const [ref] = shape.refs;
    expect(ref?.positions.map(p => expressionKey(shape.columns[p] ?? col('none')))).toEqual(['t.SITE']);
  });

  it('that need not exist are written from own columns, cast to the type of the id', () => {
    const sites = make.mapping({
      ...SITES,
      id: { alternatives: [[{ kind: 'column', column: col('st.NO', make.INT), codec: make.PLAIN }]] },
    });
    const mapping = observation({
      focus: list(make.ref('sites', [join('st.NO', 'SITE', [make.INT, make.TEXT])], { exists: false })),
    });
    const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(sites));
    expect(shape.columns.map(expressionKey)).toEqual(['t.ID', 't.SITE']);
    const json = compileWriter(mapping, shape).write(['1', '007 '], [], CONTEXT);
    expect(JSON.parse(json)).toHaveProperty('focus', [{ reference: 'Location/7' }]);
  });
});

describe('text', () => {
  it('decimals keep their digits', () => {
    const mapping = observation({
      valueQuantity: object('Quantity', { value: value('NUM', { codec: make.DECIMAL, type: 'decimal' }) }),
    });
    const shape = shapeOf(mapping, { kind: 'all' }, make.resolver());
    expect(compileWriter(mapping, shape).write(['1', '12.50'], [], CONTEXT)).toContain(
      '"valueQuantity":{"value":12.50}',
    );
    expect(compileWriter(mapping, shape).write(['1', '007.0'], [], CONTEXT)).toContain('{"value":7.0}');
  });

  it('values inside a narrative are escaped', () => {
    const div = make.text('template', ['<div>', value('NAME'), '</div>'], '', 'xhtml');
    const mapping = observation({ text: object('Narrative', { status: constant('generated'), div }) });
    expect(written(mapping, { ID: '1', NAME: '<script>&' })).toHaveProperty(
      'text.div',
      '<div>&lt;script&gt;&amp;</div>',
    );
  });

  it('no request data and no row value becomes code', () => {
    const mapping = observation({
      status: value('S', { absent: ['");process.exit(1);("'] }),
      note: constant(HOSTILE),
    });
    expect(written(mapping, { ID: '1', S: '`$' })).toMatchObject({
      status: '`$',
      note: HOSTILE,
    });
  });
});
