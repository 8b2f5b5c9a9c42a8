import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Condition, Mapping, Node } from '../../src/mapping/model.ts';
import { compileWriter, type WriteContext } from '../../src/resource/compile.ts';
import { type ChildRow, NO_CHILDREN } from '../../src/resource/rows.ts';
import { type RowShape, shapeOf } from '../../src/resource/shape.ts';
import { expressionKey, type SqlValue } from '../../src/sql/expression.ts';
import { arbitraryRow, poolsOf } from './arbitrary-rows.ts';
import { interpret, parseThing } from './interpret.ts';
import * as make from './nodes.ts';

/** Text that would run, were it ever code. */
const HOSTILE = `\`$\{process.exit(1)}\u2028"`;
const CONTEXT: WriteContext = { base: 'https://fhir.example/"q"', now: Date.UTC(2024, 5, 1), zone: 'America/New_York' };
const { value, object, list, first, constant, col, join } = make;

const PATIENTS = make.mapping({
  name: 'patients',
  resource: 'Patient',
  root: object('Patient', {}),
  source: { ...make.scope('pt'), key: [col('pt.NO')], onePer: [] },
  id: { alternatives: [[{ kind: 'column', column: col('pt.NO'), codec: make.PLAIN }]] },
});

const SITES = make.mapping({
  name: 'sites',
  resource: 'Location',
  root: object('Location', {}),
  source: { ...make.scope('st'), key: [col('st.NO', make.INT)], onePer: [] },
  id: {
    alternatives: [
      [
        { kind: 'literal', text: 's-' },
        { kind: 'column', column: col('st.CODE'), codec: make.PLAIN },
      ],
      [{ kind: 'column', column: col('st.NO', make.INT), codec: make.PLAIN }],
    ],
  },
});

function observation(members: Readonly<Record<string, Node>>, options: Partial<Mapping> = {}): Mapping {
  return make.mapping({ root: object('Observation', members), ...options });
}

/** The resource of a row given by column, as an object. */
function written(mapping: Mapping, row: Readonly<Record<string, SqlValue>>): unknown {
  const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(PATIENTS, SITES, mapping));
  const values = shape.columns.map(column => row[expressionKey(column).replace(/^t\./, '')] ?? null);
  const json = compileWriter(mapping, shape).write(values, NO_CHILDREN, CONTEXT);
  return json === '' ? undefined : JSON.parse(json);
}

function is(name: string, ...values: readonly string[]): Condition {
  return { kind: 'is', column: col(name), values };
}

const SEX = make.codeMap({ M: 'male', F: 'female' });

/** Every kind of node in every place where it may stand. */
const ZOO = observation(
  {
    identifier: list(
      object(
        'Identifier',
        { system: constant('urn:x'), value: value('MRN', { absent: ['0000'] }) },
        { needs: ['value'] },
      ),
      make.each(
        'i',
        [join('i.PARENT', 'ID')],
        object('Identifier', {
          value: value('i.VALUE'),
          use: constant('old', 'code', { kind: 'is', column: col('i.KIND'), values: ['OLD', ''] }),
          period: object('Period', { start: value('i.FROM'), end: value('ENDED') }),
          extension: list(
            make.each(
              'n',
              [join('n.PARENT', 'i.NO')],
              object('Extension', { url: constant('u'), valueString: value('n.NOTE') }, { needs: ['valueString'] }),
            ),
          ),
        }),
      ),
    ),
    status: first(value('STATUS', { codec: SEX, type: 'code' }), constant('unknown', 'code')),
    category: list(
      constant([{ text: 'one' }, { text: 'two' }], 'CodeableConcept'),
      constant({ text: 'maybe' }, 'CodeableConcept', is('CAT', 'Y')),
    ),
    code: object('CodeableConcept', {
      coding: list(
        object(
          'Coding',
          {
            system: constant('http://loinc.org', 'uri'),
            code: value('CODE', { codec: make.codeMap({ A: '1-8', B: '2-6' }), type: 'code' }),
            display: value('CODE', { codec: make.codeMap({ A: 'Aaa' }, 'other') }),
          },
          { needs: ['code'] },
        ),
      ),
      text: make.text('join', [value('CODE'), 'and', value('DESCR')], ' / '),
    }),
    subject: make.ref('patients', [join('pt.NO', 'PAT')], {
      members: make.named({ display: make.text('template', ['Pt ', value('NAME'), '!']) }),
    }),
    focus: list(
      make.ref('sites', [join('st.NO', 'SITE', [make.INT, make.INT])], {
        if: { kind: 'present', column: col('SITE', make.INT) },
      }),
      make.ref('patients', [join('pt.NO', 'OTHER')], { exists: false }),
      make.each('f', [join('f.PARENT', 'ID')], make.ref('patients', [join('pt.NO', 'f.PAT')])),
    ),
    effectiveDateTime: value('DAY', { from: [col('DAY'), col('TIME')], codec: make.DATE_AND_TIME, type: 'dateTime' }),
    issued: make.ref('patients', [join('pt.NO', 'PAT')], { as: 'url', exists: false }),
    performer: list(
      first(
        make.each('p', [join('p.PARENT', 'ID')], object('Reference', { display: value('p.NAME') })),
        object('Reference', { display: value('NAME', { if: is('CAT', 'A', 'B') }) }),
        constant({ display: 'nobody' }, 'Reference'),
      ),
    ),
    note: list(
      make.pieces(
        'NOTES',
        ['kind', 'text'],
        [':'],
        object('Annotation', { text: make.text('join', [value('p.kind'), value('p.text')], '=') }),
      ),
      make.pieces('NOTES', ['piece'], [], value('p.piece')),
    ),
    component: list(
      object('Observation.component', {
        code: constant({ text: 'constant' }, 'CodeableConcept'),
        interpretation: list(
          constant({ text: 'high' }, 'CodeableConcept', {
            kind: 'exists',
            scope: make.scope('e'),
            on: [join('e.ID', 'ID')],
          }),
        ),
        valueBoolean: value('FLAG', { from: [col('FLAG', { kind: 'bit' })], codec: make.BOOLEAN, type: 'boolean' }),
        valueInteger: value('COUNT', {
          from: [col('COUNT', make.INT)],
          codec: make.INTEGER_CODEC,
          type: 'integer',
          absent: [7],
        }),
      }),
      object('Observation.component', {
        code: constant({ text: 'only constants' }, 'CodeableConcept'),
        dataAbsentReason: constant({ text: 'x' }, 'CodeableConcept', is('CAT', 'Y')),
      }),
    ),
  },
  {
    changed: value('UPD', { type: 'instant' }),
    id: {
      alternatives: [
        [
          { kind: 'literal', text: 'o-' },
          { kind: 'column', column: col('ID'), codec: make.PLAIN },
        ],
        [{ kind: 'column', column: col('ALT'), codec: make.PLAIN }],
      ],
    },
  },
);

const CHOICES = make.mapping({
  root: object(
    'Observation',
    {},
    {
      members: [
        {
          kind: 'element',
          name: 'meta',
          node: object('Meta', {
            profile: list(constant('http://p', 'canonical'), constant('http://q', 'canonical', is('CAT', 'Y'))),
          }),
        },
        make.choice(
          {
            valueQuantity: object(
              'Quantity',
              { value: value('NUM', { codec: make.DECIMAL, type: 'decimal' }), unit: value('UNIT', { codec: SEX }) },
              { needs: ['value'] },
            ),
            interpretation: constant('has number'),
          },
          { valueString: value('STR', { if: { kind: 'none', of: is('STR', '-', 'N/A') } }), bodySite: value('SITE') },
          { valueString: value('STR2', { if: { kind: 'matches', column: col('STR2'), pattern: '[A-Z"]*[^0-9]?' } }) },
          {
            dataAbsentReason: constant({ text: 'unknown' }, 'CodeableConcept', {
              kind: 'any',
              of: [is('CAT', 'Y'), { kind: 'same', column: col('STR'), other: col('STR2') }],
            }),
          },
          { dataAbsentReason: constant({ text: 'masked' }, 'CodeableConcept') },
        ),
        {
          kind: 'element',
          name: 'referenceRange',
          node: list(
            object(
              'Observation.referenceRange',
              {},
              {
                needs: ['low'],
                members: [
                  make.choice(
                    { low: value('LOW', { if: { kind: 'order', column: col('LOW'), op: '>=', value: 'B' } }) },
                    { low: value('UNIT'), text: constant('from unit') },
                  ),
                  {
                    kind: 'element',
                    name: 'appliesTo',
                    node: constant('x', 'string', {
                      kind: 'now',
                      column: col('UNTIL'),
                      op: 'before',
                      codec: make.TRIMMED,
                    }),
                  },
                ],
              },
            ),
          ),
        },
      ],
    },
  ),
});

describe('the writer against the interpreter', () => {
  for (const [name, mapping] of Object.entries({ ZOO, CHOICES })) {
    it(`says the same for random rows of ${name}`, () => {
      const shape = shapeOf(mapping, { kind: 'all' }, make.resolver(PATIENTS, SITES, mapping));
      const writer = compileWriter(mapping, shape);
      fc.assert(
        fc.property(arbitraryRow(shape, poolsOf(mapping)), ({ row, children }: ChildRow) => {
          const json = writer.write(row, children, CONTEXT);
          const wanted = interpret(mapping, shape, row, children, CONTEXT);
          expect(json === '' ? undefined : parseThing(json)).toEqual(wanted);
          if (wanted !== undefined) expect(JSON.stringify(parseThing(json))).toBe(JSON.stringify(wanted));
        }),
        { numRuns: 2000 },
      );
    });
  }
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

  it('joined on the id column are proved by a flag and printed from our column', () => {
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

  it('that need not exist are printed from our columns alone, cast to the type of the id', () => {
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
