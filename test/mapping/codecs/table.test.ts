import { describe, expect, it } from 'vitest';
import type { CodecContext, MadeCodec } from '../../../src/mapping/codecs/entry.ts';
import { afterSteps, CODECS, codeMapFacet, defaultCodec, TEXT_STEPS } from '../../../src/mapping/codecs/table.ts';
import { columnType } from './law.ts';

const context = (fhirType: string, ...declared: readonly string[]): CodecContext => ({
  zone: 'America/New_York',
  fhirType,
  columnTypes: declared.map(name => ({ ...columnType(name), declared: name })),
});

function made(name: string, options: unknown, facet: string | undefined, of: CodecContext): string {
  const entry = CODECS[name];
  if (!entry) throw new Error(name);
  return outcome(entry.make(options, facet, of));
}

function outcome(result: MadeCodec): string {
  return 'codec' in result ? result.codec.label : `problem: ${result.problem}`;
}

/** Options of the codecs that require some. */
const OPTIONS: Readonly<Record<string, unknown>> = {
  'date-and-time': { date: 'date', time: 'hhmm' },
  days: { since: '1899-12-30' },
  zoned: { 1: 'America/Denver' },
};

describe('the table of codecs', () => {
  it.each<[string, unknown, string | undefined, CodecContext, string]>([
    ['text', undefined, undefined, context('string', 'VARCHAR(9)'), 'text'],
    ['code', undefined, undefined, context('code', 'CHAR(1)'), 'code'],
    ['number', undefined, undefined, context('decimal', 'VARCHAR(9)'), 'number'],
    ['number', { scale: '0' }, undefined, context('decimal', 'VARCHAR(9)'), 'number'],
    ['boolean', { true: ['Y'], false: 'N' }, undefined, context('boolean', 'CHAR(1)'), 'boolean'],
    ['ymd8', undefined, undefined, context('date', 'CHAR(8)'), 'ymd8'],
    ['days', { since: '1899-12-30' }, undefined, context('date', 'INT'), 'days since 1899-12-30'],
    [
      'days',
      undefined,
      undefined,
      context('date', 'INT'),
      'problem: days: `{days: {since: 1899-12-30}}` says which day the number 0 is',
    ],
    [
      'days',
      { since: '1899-12-30', at: '00:00' },
      undefined,
      context('instant', 'INT'),
      'days since 1899-12-30 (at 00:00:00)',
    ],
    ['days', { since: '1899-12-30' }, undefined, context('instant', 'FLOAT'), 'days since 1899-12-30'],
    ['days', { since: '1899-12-30' }, undefined, context('date', 'BIT'), 'problem: days does not read BIT'],
    ['datetime', { midnight: 'date' }, undefined, context('dateTime', 'DATETIME'), 'datetime (midnight: date)'],
    ['date', undefined, undefined, context('dateTime', 'DATETIME'), 'date'],
    [
      'date-and-time',
      { date: 'ymd8', time: 'hhmm' },
      undefined,
      context('dateTime', 'CHAR(8)', 'CHAR(4)'),
      'date-and-time',
    ],
    ['ymd-parts', undefined, undefined, context('date', 'INT', 'INT', 'INT'), 'ymd-parts'],
    ['comparator-number', undefined, 'value', context('decimal', 'VARCHAR(9)'), 'comparator-number.value'],
    ['range-text', undefined, 'high', context('decimal', 'VARCHAR(9)'), 'range-text.high'],
    ['epoch', undefined, undefined, context('dateTime', 'INT'), 'epoch'],
    ['epoch', { unit: 'milliseconds' }, undefined, context('instant', 'BIGINT'), 'epoch (milliseconds)'],
    ['epoch', undefined, undefined, context('dateTime', 'FLOAT'), 'epoch'],
    ['julian', undefined, undefined, context('dateTime', 'DECIMAL(12,5)'), 'julian'],
    ['uuid', undefined, undefined, context('string', 'VARBINARY(16)'), 'uuid'],
    ['base64', undefined, undefined, context('base64Binary', 'VARBINARY(MAX)'), 'base64'],
    ['html', undefined, undefined, context('markdown', 'NVARCHAR(MAX)'), 'html'],
    ['xhtml', undefined, undefined, context('xhtml', 'NVARCHAR(MAX)'), 'xhtml'],
    ['xhtml', undefined, undefined, context('xhtml', 'NVARCHAR(MAX)', 'NVARCHAR(80)'), 'xhtml'],
    ['xhtml', undefined, undefined, context('xhtml', 'NVARCHAR(MAX)', 'INT'), 'problem: xhtml does not read INT'],
    ['text', undefined, undefined, context('string', 'DATETIME'), 'problem: text does not read DATETIME'],
    ['text', undefined, 'code', context('string', 'VARCHAR(9)'), 'problem: no such facet'],
    [
      'text',
      {},
      undefined,
      context('string', 'VARCHAR(9)'),
      'problem: Invalid input: expected undefined, received object',
    ],
    ['ymd8', undefined, undefined, context('boolean', 'CHAR(8)'), 'problem: gives no boolean'],
    ['ymd8', undefined, undefined, context('date', 'CHAR(8)', 'CHAR(4)'), 'problem: takes 1 columns'],
    ['datetime', undefined, undefined, context('dateTime', 'CHAR(8)'), 'problem: datetime does not read CHAR(8)'],
    ['comparator-number', undefined, undefined, context('decimal', 'VARCHAR(9)'), 'problem: facet missing'],
    ['number', undefined, undefined, context('integer', 'DATE'), 'problem: number does not read DATE'],
    ['number', undefined, undefined, context('boolean', 'TINYINT'), 'problem: number gives no boolean'],
    ['number', undefined, undefined, context('string', 'FLOAT'), 'problem: number gives no string'],
    [
      'number',
      { scale: '3' },
      undefined,
      context('decimal', 'DECIMAL(9,2)'),
      'problem: the column has 2 digits after the point',
    ],
    [
      'number',
      { scale: '0' },
      undefined,
      context('decimal', 'INT'),
      'problem: `scale` is for a decimal or text column and a decimal element',
    ],
    [
      'date-and-time',
      { date: 'ymd8', time: 'time' },
      undefined,
      context('dateTime', 'CHAR(8)', 'CHAR(4)'),
      'problem: date-and-time with time: time does not read CHAR(4)',
    ],
  ])('%s with %j and facet %j', (name, options, facet, of, wanted) => {
    expect(made(name, options, facet, of)).toBe(wanted);
  });

  it('says of every codec, column type and element whether they fit, or why not', () => {
    const types = ['VARCHAR(9)', 'INT', 'BIT', 'DECIMAL(9,2)', 'FLOAT', 'DATE', 'DATETIME', 'TIME', 'VARBINARY(8)'];
    const elements = ['string', 'code', 'boolean', 'decimal', 'date', 'dateTime', 'instant', 'base64Binary', 'xhtml'];
    const columns: Readonly<Record<string, number>> = { 'date-and-time': 2, 'ymd-parts': 3, zoned: 2 };
    const labels = Object.keys(CODECS).join('|');
    for (const [name, { facets }] of Object.entries(CODECS)) {
      const options = OPTIONS[name];
      for (const type of types) {
        for (const element of elements) {
          const told = made(
            name,
            options,
            facets[0],
            context(element, ...Array<string>(columns[name] ?? 1).fill(type)),
          );
          const why = `.*(does not read ${type.replace(/\W/g, '.')}|gives |has a time of day)`;
          expect(told, `${name} of ${type} as ${element}`).toMatch(new RegExp(`^(${labels}|problem: ${why})`));
        }
      }
    }
  });

  it.each([
    ['VARCHAR(9)', 'string', 'text'],
    ['VARCHAR(9)', 'code', 'code'],
    ['VARCHAR(9)', 'uri', 'code'],
    ['VARCHAR(9)', 'markdown', 'text'],
    ['VARCHAR(9)', 'boolean', undefined],
    ['VARCHAR(9)', 'dateTime', undefined],
    ['VARCHAR(9)', 'decimal', undefined],
    ['INT', 'string', 'text'],
    ['INT', 'code', 'text'],
    ['INT', 'decimal', 'number'],
    ['INT', 'positiveInt', 'number'],
    ['BIT', 'boolean', 'boolean'],
    ['DECIMAL(9,2)', 'decimal', 'number'],
    ['DECIMAL(9,2)', 'integer', 'number'],
    ['FLOAT', 'positiveInt', 'number'],
    ['DATETIME', 'dateTime', 'datetime'],
    ['DATETIME', 'instant', 'datetime'],
    ['DATETIME', 'date', 'date'],
    ['DATE', 'date', 'date'],
    ['DATE', 'dateTime', 'date'],
    ['DATE', 'instant', undefined],
    ['UNIQUEIDENTIFIER', 'string', 'uuid'],
    ['VARBINARY(MAX)', 'base64Binary', 'base64'],
    ['TIME', 'string', undefined],
  ])('%s as %s is by default %j', (declared, fhirType, label) => {
    expect(defaultCodec(columnType(declared), fhirType, { zone: 'UTC' })?.label).toBe(label);
  });

  it('puts text steps before a codec of text', () => {
    const piece = TEXT_STEPS['piece']?.make({ by: '^', at: '2' });
    if (!piece || !('step' in piece)) throw new Error('no step');
    const text = CODECS['text'];
    const result = afterSteps(
      [piece.step],
      context('string', 'VARCHAR(9)'),
      of => text?.make(undefined, undefined, of) ?? { problem: '' },
    );
    expect(outcome(result)).toBe('piece ^ 2, text');
    expect('codec' in result && result.codec.inverse).toBe('computed');
    expect(outcome(afterSteps([piece.step], context('string', 'INT'), () => result))).toBe(
      'problem: text steps take one text column',
    );
  });

  it.each([
    ['piece', { by: 'ab', at: '1' }],
    ['piece', { by: '^', at: '0' }],
    ['piece', { by: '^' }],
    ['words', 'middle'],
    ['upper', {}],
    ['written', 'MM/DD'],
    ['written', { form: 'MM/DD/YY', from: '1700' }],
    ['written', { form: 'MM/DD/YY' }],
  ])('refuses the step %s with %j', (name, options) => {
    expect(TEXT_STEPS[name]?.make(options)).toHaveProperty('problem');
  });

  it('says how the century of years of two digits is given', () => {
    expect(TEXT_STEPS['written']?.make('MM/DD/YY')).toMatchObject({
      problem: expect.stringContaining('`{ form: MM/DD/YY, from: 1930 }`'),
    });
    expect(TEXT_STEPS['written']?.make({ form: 'MM/DD/YY', from: '1930' })).toHaveProperty('step');
  });

  it('makes code map facets only for columns that can hold keys', () => {
    const map = {
      name: 'm',
      rows: new Map([['Y', { code: 'true' }]]),
      blank: undefined,
      else: { kind: 'absent' },
      fold: false,
    } as const;
    expect(outcome(codeMapFacet(map, 'display', context('string', 'CHAR(1)')))).toBe('code map m.display');
    expect(outcome(codeMapFacet(map, 'code', context('boolean', 'CHAR(1)')))).toBe('code map m.code');
    expect(outcome(codeMapFacet(map, 'display', context('boolean', 'CHAR(1)')))).toContain('problem');
    expect(outcome(codeMapFacet(map, 'code', context('code', 'DATETIME')))).toBe(
      'problem: code map m does not read DATETIME',
    );
  });

  it.each(['code', 'id', 'string', 'uri', 'url', 'canonical'])('accepts codes of a map for type %s', fhirType => {
    const map = {
      name: 'forms',
      rows: new Map([['PHQ9', { code: 'http://example.org/Questionnaire/phq9' }]]),
      blank: undefined,
      else: { kind: 'absent' },
      fold: false,
    } as const;
    expect(outcome(codeMapFacet(map, 'code', context(fhirType, 'VARCHAR(12)')))).toBe('code map forms.code');
  });
});
