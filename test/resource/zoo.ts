/**
 * Makes mappings for property tests of the writer: every kind of node in every allowed position, every kind of
 * condition on every type of column.
 */
import type { Condition, Mapping, Node } from '../../src/mapping/model.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import * as make from './nodes.ts';

const { value, object, list, first, constant, col, join } = make;

export const PATIENTS = make.mapping({
  name: 'patients',
  resource: 'Patient',
  root: object('Patient', {}),
  source: { ...make.scope('pt'), key: [col('pt.NO')], onePer: [] },
  id: { alternatives: [[{ kind: 'column', column: col('pt.NO'), codec: make.PLAIN }]] },
});

export const SITES = make.mapping({
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

export function observation(members: Readonly<Record<string, Node>>, options: Partial<Mapping> = {}): Mapping {
  return make.mapping({ root: object('Observation', members), ...options });
}

export function is(name: string, ...values: readonly string[]): Condition {
  return { kind: 'is', column: col(name), values };
}

const SEX = make.codeMap({ M: 'male', F: 'female' });

/** Every kind of node in every allowed position. */
export const ZOO = observation(
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
          assigner: constant({ display: 'above' }, 'Reference', {
            kind: 'exists',
            scope: make.scope('x'),
            on: [join('x.ID', 'ID')],
          }),
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
    method: object('CodeableConcept', {
      coding: list(value('A1', { codec: SEX }), value('A2', { codec: SEX })),
      text: value('A3', { codec: make.codeMap({ A: 'x' }, 'y') }),
    }),
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
      make.pieces('NOTES', ['piece'], [], constant('a piece')),
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

export const CHOICES = make.mapping({
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

const TYPES: Readonly<Record<string, { readonly type: ColumnType; readonly values: readonly (string | number)[] }>> = {
  int: { type: make.INT, values: [3, -1, 7] },
  big: { type: { kind: 'integer', bits: 64 }, values: ['9223372036854775807', '5', -2] },
  bit: { type: { kind: 'bit' }, values: [1] },
  decimal: { type: { kind: 'decimal', precision: 9, scale: 3 }, values: ['12.50', '-3', '0.05', 7] },
  float: { type: { kind: 'float' }, values: [1.5, 0] },
  text: { type: make.TEXT, values: ['A ', '', 'é', '007'] },
  date: { type: { kind: 'date' }, values: ['2024-03-10'] },
  datetime: {
    type: { kind: 'datetime', name: 'datetime', fraction: 3 },
    values: ['2024-03-10 02:30:00', '2024-03-10'],
  },
  uuid: { type: { kind: 'uuid' }, values: ['6f9619ff-8b86-d011-b42d-00c04fc964ff'] },
};

/** Every kind of test on every type of column that supports it, each as a constant under a condition. */
export const TYPED = observation(
  Object.fromEntries(
    Object.entries(TYPES).flatMap(([name, { type, values }]): [string, Node][] => {
      const column = col(name, type);
      const conditions: Record<string, Condition> = {
        is: { kind: 'is', column, values },
        isNot: { kind: 'none', of: { kind: 'is', column, values: values.slice(0, 1) } },
        present: { kind: 'present', column },
        same: { kind: 'same', column, other: col(`${name}2`, type) },
        notSame: { kind: 'none', of: { kind: 'same', column, other: col(`${name}2`, type) } },
      };
      if (['integer', 'decimal', 'float', 'text', 'date', 'datetime'].includes(type.kind)) {
        for (const op of ['<', '<=', '>', '>='] as const) {
          conditions[op] = { kind: 'order', column, op, value: values[0] ?? 0 };
          conditions[`not ${op}`] = { kind: 'none', of: { kind: 'order', column, op, value: values[0] ?? 0 } };
        }
      }
      if (type.kind === 'text') {
        for (const pattern of ['*', '?', 'A*', '*[^A-Z]', '[-0-9]*', 'a;b:?;*', '*"*', '.*']) {
          conditions[pattern] = { kind: 'matches', column, pattern };
        }
        conditions['int'] = { kind: 'same', column: col('int', make.INT), other: column };
        conditions['number'] = { kind: 'same', column, other: col('int', make.INT) };
      }
      return Object.entries(conditions).map(([test, condition]) => [
        `${name} ${test}`,
        constant(true, 'boolean', condition),
      ]);
    }),
  ),
);
