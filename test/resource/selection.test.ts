import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Mapping } from '../../src/mapping/model.ts';
import { compileWriter } from '../../src/resource/compile.ts';
import { NO_CHILDREN } from '../../src/resource/rows.ts';
import { type Selection, selectionKey } from '../../src/resource/selection.ts';
import { shapeOf } from '../../src/resource/shape.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import { runsOf } from '../share.ts';
import { arbitraryRow, poolsOf } from './arbitrary-rows.ts';
import * as make from './nodes.ts';
import { CHOICES, observation } from './zoo.ts';

const CONTEXT = { base: 'https://fhir.example', now: 0, zone: 'UTC' };
const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
};
const { constant, list, object, value } = make;

const MAPPING = observation(
  {
    meta: object('Meta', { profile: list(constant('http://p')), tag: list(constant({ code: 'own' }, 'Coding')) }),
    text: object('Narrative', { status: constant('generated'), div: value('DIV') }),
    status: value('STATUS'),
    code: object('CodeableConcept', { text: value('CODE') }),
    method: object('CodeableConcept', { text: value('METHOD') }),
    note: list(object('Annotation', { text: value('NOTE') })),
    component: list(
      object('Observation.component', {
        code: constant({ text: 'c' }),
        valueString: value('PART'),
        interpretation: list(constant({ text: 'i' })),
      }),
    ),
  },
  { changed: value('UPD', { type: 'instant' }) },
);

function columnsOf(selection: Selection, mapping: Mapping = MAPPING): readonly string[] {
  return shapeOf(mapping, selection, make.resolver())
    .columns.map(expressionKey)
    .map(key => key.replace('t.', ''));
}

function written(selection: Selection): Record<string, unknown> {
  const shape = shapeOf(MAPPING, selection, make.resolver());
  const row: readonly SqlValue[] = shape.columns.map(column => expressionKey(column).replace('t.', '').toLowerCase());
  return JSON.parse(compileWriter(MAPPING, shape).write(row, NO_CHILDREN, CONTEXT));
}

describe('_elements beside _summary', () => {
  it('are complete with _summary, other elements are as in the summary', () => {
    const summary = written({ kind: 'summary', mode: 'true' });
    const both: Selection = { kind: 'summary', mode: 'true', names: ['note', 'component'] };
    expect(Object.keys(written(both))).toEqual(
      Object.keys({ ...written({ kind: 'all' }), ...summary }).filter(
        name => name in summary || name === 'note' || name === 'component',
      ),
    );
    expect(written(both)['component']).toEqual(written({ kind: 'all' })['component']);
    expect(selectionKey(both)).not.toBe(selectionKey({ kind: 'summary', mode: 'true' }));
  });
});

describe('_elements', () => {
  it('keeps the named elements, mandatory ones, id and meta, and fetches nothing else', () => {
    const selection: Selection = { kind: 'elements', names: ['note'] };
    expect(columnsOf(selection)).toEqual(['ID', 'UPD', 'STATUS', 'CODE', 'NOTE']);
    expect(Object.keys(written(selection))).toEqual(['resourceType', 'id', 'meta', 'status', 'code', 'note']);
  });

  it('adds the SUBSETTED tag to other tags, and keeps lastUpdated and profile', () => {
    expect(written({ kind: 'elements', names: [] })['meta']).toEqual({
      lastUpdated: 'upd',
      profile: ['http://p'],
      tag: [{ code: 'own' }, SUBSETTED],
    });
    expect(written({ kind: 'all' })['meta']).toEqual({
      lastUpdated: 'upd',
      profile: ['http://p'],
      tag: [{ code: 'own' }],
    });
  });

  it('accepts a choice by its base name, and decides it as in the full resource', () => {
    const all = shapeOf(CHOICES, { kind: 'all' }, make.resolver());
    const names = ['valueQuantity', 'valueString', 'dataAbsentReason', 'bodySite', 'interpretation', 'value'];
    const wanted = fc.subarray(names);
    fc.assert(
      fc.property(arbitraryRow(all, poolsOf(CHOICES)), wanted, ({ row, children }, chosen) => {
        const pruned = shapeOf(CHOICES, { kind: 'elements', names: chosen }, make.resolver());
        const part = pruned.columns.map(column => row[all.positions.get(expressionKey(column)) ?? -1] ?? null);
        const whole = compileWriter(CHOICES, all).write(row, children, CONTEXT);
        const some = compileWriter(CHOICES, pruned).write(part, children, CONTEXT);
        expect(some === '').toBe(whole === '');
        if (whole === '') return;
        const { meta: _, ...rest } = JSON.parse(some);
        const kept = (name: string): boolean =>
          ['resourceType', 'id'].includes(name) ||
          chosen.includes(name) ||
          (chosen.includes('value') && name.startsWith('value'));
        expect(rest).toEqual(Object.fromEntries(Object.entries(JSON.parse(whole)).filter(([name]) => kept(name))));
      }),
      { numRuns: runsOf(200) },
    );
  });
});

describe('_summary', () => {
  it('true keeps summary elements, inside backbone elements too', () => {
    const resource = written({ kind: 'summary', mode: 'true' });
    expect(Object.keys(resource)).toEqual(['resourceType', 'id', 'meta', 'status', 'code', 'component']);
    expect(resource['component']).toEqual([{ code: { text: 'c' }, valueString: 'part' }]);
  });

  it('true keeps an element without which an object would not exist', () => {
    const mapping = observation({
      component: list(
        object('Observation.component', { code: constant({ text: 'c' }), interpretation: list(value('FLAG')) }),
      ),
    });
    expect(columnsOf({ kind: 'summary', mode: 'true' }, mapping)).toContain('FLAG');
  });

  it('text keeps the narrative and mandatory elements', () => {
    expect(Object.keys(written({ kind: 'summary', mode: 'text' }))).toEqual([
      'resourceType',
      'id',
      'meta',
      'text',
      'status',
      'code',
    ]);
  });

  it('data keeps everything except the narrative', () => {
    const names = Object.keys(written({ kind: 'summary', mode: 'data' }));
    expect(names).not.toContain('text');
    expect(names).toContain('method');
  });
});

describe('the key of a selection', () => {
  it('is the same for the same elements in any order', () => {
    const a: Selection = { kind: 'elements', names: ['b', 'a', 'b'] };
    expect(selectionKey(a)).toBe(selectionKey({ kind: 'elements', names: ['a', 'b'] }));
    expect(selectionKey(a)).not.toBe(selectionKey({ kind: 'all' }));
  });
});
